//! Modules that nodes came from, as exporters record them.

use super::messages::{OnnxFunction, OnnxNode};

/// Notes of PyTorch's exporter: paths and classes from the outermost module to the operation.
const SCOPES: &str = "pkg.torch.onnx.name_scopes";
const CLASSES: &str = "pkg.torch.onnx.class_hierarchy";

/// The module path of a node inside `outer`, the path of the function that holds it: `NN[model]/Linear[layer1]`, or
/// `model/encoder/layer.0` if the file does not give classes.
pub(super) fn of_node(node: &OnnxNode, outer: &str) -> String {
    let own = recorded_path(node).unwrap_or_else(|| of_name(&node.name).to_owned());
    join(outer, &own)
}

/// A path inside another.
fn join(outer: &str, own: &str) -> String {
    clipped(match (outer, own) {
        ("", own) => own.to_owned(),
        (outer, "") => outer.to_owned(),
        (outer, own) => format!("{outer}/{own}"),
    })
}

/// A module path of limited length: files may have names of a megabyte, and each instruction stores its path.
fn clipped(mut path: String) -> String {
    const MOST: usize = 500;
    if path.len() > MOST {
        let end = (0..=MOST).rev().find(|&at| path.is_char_boundary(at)).unwrap_or(0);
        path.truncate(end);
    }
    path
}

/// The path that an exporter recorded. The last entry of both lists is the operation itself.
fn recorded_path(node: &OnnxNode) -> Option<String> {
    let scopes = texts(node.notes.get(SCOPES)?);
    let classes = node.notes.get(CLASSES).map(|list| texts(list)).unwrap_or_default();
    let modules = scopes.len().saturating_sub(1);
    let part = |(n, path): (usize, &String)| {
        let path = if path.is_empty() { "model" } else { path };
        match classes.get(n).map(|class| class.rsplit('.').next().unwrap_or(class)) {
            Some(class) if classes.len() == scopes.len() && !class.is_empty() => format!("{class}[{path}]"),
            _ => path.to_owned(),
        }
    };
    Some(scopes.iter().take(modules).enumerate().map(part).collect::<Vec<_>>().join("/"))
}

/// A name without its last part: `/model/encoder/layer.0/MatMul` is in `model/encoder/layer.0`.
fn of_name(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(path, _)| path.trim_start_matches('/'))
}

/// The path for nodes of a function that is called from `outer`: a module's function adds the module, any other adds nothing.
pub(super) fn of_call(function: &OnnxFunction, outer: &str) -> String {
    if !function.domain.starts_with("pkg.") || function.domain.starts_with("pkg.onnxscript") {
        return outer.to_owned();
    }
    join(outer, &module(&function.name))
}

/// The module in a function's name: `torch_nn_modules_linear_Linear_layer1_1` is `Linear[layer1]`.
fn module(name: &str) -> String {
    let parts: Vec<&str> = name.split('_').collect();
    let Some(class) = parts.iter().position(|p| p.starts_with(|c: char| c.is_ascii_uppercase())) else {
        return name.to_owned();
    };
    let mut rest = &parts[class + 1..];
    if let [before @ .., last] = rest
        && !last.is_empty()
        && last.bytes().all(|b| b.is_ascii_digit())
    {
        rest = before;
    }
    let path = if rest.is_empty() { "model".to_owned() } else { rest.join("_") };
    format!("{}[{path}]", parts[class])
}

/// Strings in a list as Python prints it: `['', 'layer1']`.
fn texts(list: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = list;
    while let Some(start) = rest.find(['\'', '"']) {
        let quote = &rest[start..=start];
        let inside = &rest[start + 1..];
        let Some(end) = inside.find(quote) else { break };
        found.push(inside[..end].to_owned());
        rest = &inside[end + 1..];
    }
    found
}

/// Names after a mark in the notes of a node: `%b_layers_0_cos` is PyTorch's name of the buffer `layers.0.cos`, and `%p_` marks
/// parameters.
pub(super) fn mentioned<'n>(node: &'n OnnxNode, mark: &'static str) -> impl Iterator<Item = &'n str> {
    let text = node.notes.get("pkg.torch.onnx.fx_node").map_or("", String::as_str);
    let name = |rest: &'n str| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or(rest);
    text.split(mark).skip(1).map(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_both_exporters() {
        let mut node = OnnxNode { name: "/model/layer.0/query/MatMul".to_owned(), ..OnnxNode::default() };
        assert_eq!(of_node(&node, ""), "model/layer.0/query");
        node.notes.insert(SCOPES.to_owned(), "['', 'layer1', 'linear']".to_owned());
        node.notes.insert(CLASSES.to_owned(), "['models.NN', 'torch.nn.Linear', 'aten.linear.default']".to_owned());
        assert_eq!(of_node(&node, ""), "NN[model]/Linear[layer1]");
        assert_eq!(of_node(&OnnxNode { name: "n1".to_owned(), ..OnnxNode::default() }, "A[b]"), "A[b]");
    }

    #[test]
    fn functions_of_modules() {
        let called = |domain: &str, name: &str| {
            of_call(
                &OnnxFunction { domain: domain.to_owned(), name: name.to_owned(), ..OnnxFunction::default() },
                "NN[model]",
            )
        };
        assert_eq!(called("pkg.torch.2.4.1", "torch_nn_modules_linear_Linear_layer1_1"), "NN[model]/Linear[layer1]");
        assert_eq!(called("pkg.onnxscript.torch_lib", "aten_relu"), "NN[model]");
    }

    #[test]
    fn parameters_and_buffers_are_mentioned() {
        let mut node = OnnxNode::default();
        node.notes
            .insert("pkg.torch.onnx.fx_node".to_owned(), "%add(args = (%x, %b_layers_0_cos), k = %p_w)".to_owned());
        assert_eq!(mentioned(&node, "%b_").collect::<Vec<_>>(), ["layers_0_cos"]);
        assert_eq!(mentioned(&node, "%p_").collect::<Vec<_>>(), ["w"]);
    }
}
