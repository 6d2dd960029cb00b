//! `torch.nn.Sequential`.

use crate::{Child, Ctx, Entry, Module, Value};
use ns_base::Refusal;

/// Modules called one after the other, named `0`, `1`, ...
#[derive(Default)]
pub struct Sequential {
    children: Vec<Child<Box<dyn Module>>>,
}

impl Sequential {
    /// An empty sequence: the identity.
    pub fn new() -> Self {
        Self::default()
    }

    /// The sequence with one more module at the end.
    pub fn then(mut self, module: impl Module + 'static) -> Self {
        let name = self.children.len().to_string();
        self.children.push(Child::new(name, Box::new(module)));
        self
    }
}

impl Module for Sequential {
    fn class(&self) -> &str {
        "Sequential"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let mut x = cx.one_input(inputs)?.clone();
        for child in &self.children {
            x = child.call(cx, &x)?;
        }
        Ok(x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        self.children.iter().map(Child::entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{Linear, LogSoftmax, ReLU};
    use crate::{named_parameters, trace};
    use ns_tensor::Shape;

    #[test]
    fn children_are_numbered_in_scopes_and_weight_paths() {
        let inner = Sequential::new().then(Linear::new(8, 3)).then(LogSoftmax::new(1));
        let model = Sequential::new().then(Linear::new(4, 8)).then(ReLU).then(inner);
        let paths: Vec<String> = named_parameters(&model).into_iter().map(|(p, _)| p).collect();
        assert_eq!(paths, ["0.weight", "0.bias", "2.0.weight", "2.0.bias"]);
        let graph = trace(&model, &[Shape::f32([2, 4])]).unwrap();
        let last = &graph.nodes[graph.output];
        assert_eq!(last.path(), "Sequential[model]/Sequential[2]/LogSoftmax[1]/aten__log_softmax");
        assert_eq!(last.shape, Shape::f32([2, 3]));
    }
}
