//! The kinds of a graph's inputs, and the modules in which a node was called.

use rustc_hash::FxHashMap;

use super::super::argument::{Argument, Text};
use super::super::schema::{Node, Spec};
use ns_program::Role;

/// An input that is a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputKind<'s> {
    /// Its value in the graph.
    pub value: &'s str,
    /// Where its value comes from.
    pub role: Role,
    /// Its dotted path; for a caller's input, the name of its value.
    pub path: &'s str,
}

/// The kind of an input in the signature; `None` if it is not a tensor.
pub fn input_kind<'s>(spec: &'s FxHashMap<Text<'_>, Spec<'_>>) -> Option<InputKind<'s>> {
    let (kind, spec) = spec.iter().next()?;
    let Some(Argument::Tensor(value)) = &spec.arg else { return None };
    let value = value.get();
    let named = |path: &'s Option<Text<'_>>| path.as_ref().map_or(value, Text::get);
    let (role, path) = match kind.get() {
        "user_input" => (Role::Input, value),
        "parameter" => (Role::Weight, named(&spec.parameter_name)),
        "buffer" => (Role::Buffer, named(&spec.buffer_name)),
        "tensor_constant" => (Role::Buffer, named(&spec.tensor_constant_name)),
        _ => return None,
    };
    Some(InputKind { value, role, path })
}

/// The modules in which a node was called: `NN[model]/Linear[layer1]`; empty if the file does not say.
pub fn scope_of(node: &Node<'_>) -> String {
    let Some(stack) = &node.metadata.nn_module_stack else { return String::new() };
    let mut scope = String::new();
    for entry in stack.get().split(';').filter(|e| !e.is_empty()) {
        let mut parts = entry.splitn(3, ',').skip(1);
        let (path, class) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        if !scope.is_empty() {
            scope.push('/');
        }
        scope.push_str(class.rsplit('.').next().unwrap_or(class));
        scope.push('[');
        scope.push_str(if path.is_empty() { "model" } else { path });
        scope.push(']');
    }
    scope
}
