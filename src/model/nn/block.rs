//! Modules made of other modules.

use std::borrow::Cow;
use std::rc::Rc;

use crate::{Child, Ctx, Entry, Module, Value};
use ns_base::Refusal;

/// A module made of others: a class, children and a forward function. The patterns of the function name the children, in the
/// order of the array, and the inputs, whose number they fix. A module with weights of its own implements [`Module`] itself.
///
/// ```
/// // class Pooler(nn.Module):
/// //     def __init__(self, hidden):
/// //         self.dense = nn.Linear(hidden, hidden)
/// //         self.activation = nn.Tanh()
/// //
/// //     def forward(self, x):
/// //         return self.activation(self.dense(x[:, 0]))
/// fn pooler(hidden: u64) -> Block {
///     let children = [child("dense", Linear::new(hidden, hidden)), child("activation", Tanh)];
///     block("Pooler", children, |cx, [dense, activation], [x]| {
///         let first = cx.select(x, 1, 0)?;
///         let x = dense.call(cx, &first)?;
///         activation.call(cx, &x)
///     })
/// }
/// ```
pub struct Block {
    class: Cow<'static, str>,
    children: Rc<[Layer]>,
    forward: Box<Forward>,
}

/// A child of a [`Block`].
pub type Layer = Child<Box<dyn Module>>;

type Forward = dyn Fn(&mut Ctx, &[Value]) -> Result<Value, Refusal>;

/// A child called `name`: `self.name = module`.
pub fn child(name: impl Into<String>, module: impl Module + 'static) -> Layer {
    Child::new(name, Box::new(module))
}

/// A module with exactly the inputs that `forward` names.
pub fn block<const N: usize, const I: usize>(
    class: impl Into<Cow<'static, str>>,
    children: [Layer; N],
    forward: impl Fn(&mut Ctx, &[Layer; N], &[Value; I]) -> Result<Value, Refusal> + 'static,
) -> Block {
    block_with(class, children, move |cx, children, inputs, others| match others.len() {
        0 => forward(cx, children, inputs),
        more => Err(cx.wrong_inputs(I, I + more)),
    })
}

/// A module with any number of inputs after those that `forward` names.
pub fn block_with<const N: usize, const I: usize>(
    class: impl Into<Cow<'static, str>>,
    children: [Layer; N],
    forward: impl Fn(&mut Ctx, &[Layer; N], &[Value; I], &[Value]) -> Result<Value, Refusal> + 'static,
) -> Block {
    let children = Rc::new(children);
    let named = Rc::clone(&children);
    let forward = move |cx: &mut Ctx, inputs: &[Value]| match inputs.split_first_chunk() {
        Some((inputs, others)) => forward(cx, &named, inputs, others),
        None => Err(cx.wrong_inputs(I, inputs.len())),
    };
    Block { class: class.into(), children, forward: Box::new(forward) }
}

/// A module that calls its children one after the other. Each gets the result of the one before and the further inputs, such as
/// a mask.
pub fn stack(class: impl Into<Cow<'static, str>>, children: impl IntoIterator<Item = Layer>) -> Block {
    let children: Rc<[Layer]> = children.into_iter().collect();
    let row = Rc::clone(&children);
    let forward = move |cx: &mut Ctx, inputs: &[Value]| {
        let [x, others @ ..] = inputs else { return Err(cx.wrong_inputs(1, 0)) };
        let mut x = x.clone();
        for layer in row.iter() {
            x = layer.call_with(cx, &[&[x], others].concat())?;
        }
        Ok(x)
    };
    Block { class: class.into(), children, forward: Box::new(forward) }
}

impl Module for Block {
    fn class(&self) -> &str {
        &self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        (self.forward)(cx, inputs)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        self.children.iter().map(Child::entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{Linear, Tanh};
    use crate::{named_parameters, trace};
    use ns_tensor::Shape;

    fn model() -> Block {
        let sum = |name| {
            let sum = block("Sum", [child("dense", Linear::new(4, 4))], |cx, [dense], [x, shift]| {
                let x = dense.call(cx, x)?;
                cx.add(&x, shift)
            });
            child(name, sum)
        };
        let children = [child("rows", stack("Rows", [sum("layer.0"), sum("layer.1")])), child("activation", Tanh)];
        block_with("Model", children, |cx, [rows, activation], [x], others| {
            let x = rows.call_with(cx, &[std::slice::from_ref(x), others].concat())?;
            activation.call(cx, &x)
        })
    }

    #[test]
    fn children_have_their_names_and_a_stack_gives_further_inputs_to_each() {
        let paths: Vec<String> = named_parameters(&model()).into_iter().map(|(p, _)| p).collect();
        let expected = ["layer.0.dense.weight", "layer.0.dense.bias", "layer.1.dense.weight", "layer.1.dense.bias"];
        assert_eq!(paths, expected.map(|path| format!("rows.{path}")));
        let graph = trace(&model(), &[Shape::f32([2, 4]), Shape::f32([2, 4])]).unwrap();
        let sums =
            graph.nodes.iter().map(crate::Node::path).filter(|path| path.contains("add") && !path.contains("mm"));
        let expected = [0, 1].map(|n| format!("Model[model]/Rows[rows]/Sum[{n}]/aten__add"));
        assert_eq!(sums.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_patterns_fix_the_number_of_inputs() {
        let shape = Shape::f32([2, 4]);
        let error = |count| trace(&model(), &vec![shape.clone(); count]).unwrap_err().to_string();
        assert_eq!(error(0), "Model[model] takes 1 input(s), 0 were given");
        assert_eq!(error(1), "Model[model]/Rows[rows]/Sum[0] takes 2 input(s), 1 were given");
        assert_eq!(error(3), "Model[model]/Rows[rows]/Sum[0] takes 2 input(s), 3 were given");
    }
}
