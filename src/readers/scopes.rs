//! Module paths from the names that frameworks give to operations.

use ns_base::FxHashSet;
use ns_program::{Origin, Program};

/// Transformations of JAX whose argument is part of the path: `jvp(MLP)`.
const WRAPPERS: [&str; 5] = ["jvp", "transpose", "vmap", "remat", "checkpoint"];

/// Parts of JAX's names that are not modules.
const NO_MODULES: [&str; 8] =
    ["while", "body", "cond", "scan", "closed_call", "checkpoint", "rematted_computation", "custom_jvp_call"];

/// The origin of an instruction, from its metadata.
///
/// torch_xla: type `aten__addmm`, name `NN[model]/Linear[layer1]/aten__addmm`. JAX: name `jit(apply)/MLP/layer1/dot_general`.
pub(super) fn origin(op_type: &str, op_name: &str) -> Origin {
    let (path, last) = op_name.rsplit_once('/').unwrap_or(("", op_name));
    if op_name.contains('[') && !op_name.contains("['") {
        let scope = path.split('/').filter(|piece| piece.ends_with(']')).collect::<Vec<_>>().join("/");
        let op = if op_type.is_empty() { last } else { op_type };
        return Origin { op: op.replacen("__", "::", 1), scope };
    }
    if !op_type.is_empty() {
        return Origin { op: op_type.replacen("__", "::", 1), scope: String::new() };
    }
    let pieces: Vec<&str> = path.split('/').filter_map(module_of).collect();
    Origin { op: last.split(['[', '(']).next().unwrap_or("").to_owned(), scope: pieces.join("/") }
}

/// The module in a part of a JAX path.
fn module_of(piece: &str) -> Option<&str> {
    let mut piece = piece;
    while let Some((function, inner)) = piece.split_once('(') {
        let inner = inner.strip_suffix(')').unwrap_or(inner);
        if !WRAPPERS.contains(&function) {
            return None;
        }
        piece = inner;
    }
    (!piece.is_empty() && !NO_MODULES.contains(&piece)).then_some(piece)
}

/// All module paths of a program, including the modules around them, in order of first appearance.
pub(super) fn modules(program: &Program) -> Vec<String> {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let mut out = Vec::new();
    for computation in program.computations.iter().rev() {
        for instruction in computation.instructions.iter() {
            let scope = instruction.origin.scope.as_str();
            if scope.is_empty() || seen.contains(scope) {
                continue;
            }
            let ends = scope.match_indices('/').map(|(end, _)| end).chain([scope.len()]);
            for part in ends.map(|end| &scope[..end]) {
                if seen.insert(part) {
                    out.push(part.to_owned());
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_torch_xla_and_jax() {
        let of = |op_type, op_name| {
            let origin = origin(op_type, op_name);
            (origin.op, origin.scope)
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            of("aten__addmm", "NN[model]/Linear[layer1]/aten__addmm"),
            pair("aten::addmm", "NN[model]/Linear[layer1]")
        );
        assert_eq!(of("aten__mul", "aten__mul.6/aten__mul"), pair("aten::mul", ""));
        assert_eq!(of("", "jit(apply)/MLP/layer1/dot_general"), pair("dot_general", "MLP/layer1"));
        assert_eq!(of("", "jit(f)/transpose(jvp(MLP))/layer1/jit(relu)/max"), pair("max", "MLP/layer1"));
        assert_eq!(of("", "variables['params']['layer1']['bias']").1, "");
    }
}
