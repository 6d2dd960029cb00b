//! The module trait: a layer or a whole model.

use super::{Ctx, Parameter, Value};
use ns_base::Refusal;

/// A layer or a model. It holds shapes and children, never values.
pub trait Module {
    /// The class name as shown in profiles: `Linear`.
    fn class(&self) -> &str;

    /// Computes or records the result for the inputs. One implementation serves both. Fails when shapes do not fit.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal>;

    /// Named children in the order they were declared.
    fn children(&self) -> Vec<Entry<'_>> {
        Vec::new()
    }

    /// The module's own weights, without those of its children.
    fn parameters(&self) -> Vec<&Parameter> {
        Vec::new()
    }
}

impl<M: Module + ?Sized> Module for Box<M> {
    fn class(&self) -> &str {
        (**self).class()
    }
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        (**self).forward(cx, inputs)
    }
    fn children(&self) -> Vec<Entry<'_>> {
        (**self).children()
    }
    fn parameters(&self) -> Vec<&Parameter> {
        (**self).parameters()
    }
}

/// A child with its attribute name, borrowed.
pub type Entry<'a> = (&'a str, &'a dyn Module);

/// A child module under its attribute name, which profiles and weight paths show: `self.layer1 = Linear(4, 4)`.
#[derive(Clone, Debug)]
pub struct Child<M> {
    name: String,
    module: M,
}

impl<M: Module> Child<M> {
    /// A child called `name`.
    pub fn new(name: impl Into<String>, module: M) -> Self {
        Self { name: name.into(), module }
    }

    /// Calls the child with one input. Fails when shapes do not fit.
    pub fn call(&self, cx: &mut Ctx, x: &Value) -> Result<Value, Refusal> {
        self.call_with(cx, std::slice::from_ref(x))
    }

    /// Calls the child with any number of inputs. Fails when shapes do not fit.
    pub fn call_with(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        cx.call(&self.name, &self.module, inputs)
    }

    /// The name and the module, for [`Module::children`].
    pub fn entry(&self) -> Entry<'_> {
        (&self.name, &self.module)
    }
}

/// All weights of a module tree by path (`layer1.weight`), in declaration order.
pub fn named_parameters(root: &dyn Module) -> Vec<(String, &Parameter)> {
    let mut found = Vec::new();
    // Depth first with an explicit stack, so that nesting cannot overflow the 1 MiB stack of wasm.
    let mut stack: Vec<(String, &dyn Module)> = vec![(String::new(), root)];
    while let Some((prefix, module)) = stack.pop() {
        found.extend(module.parameters().into_iter().map(|p| (join(&prefix, p.name), p)));
        for (name, child) in module.children().into_iter().rev() {
            stack.push((join(&prefix, name), child));
        }
    }
    found
}

/// `a.b`, or `b` at the root.
pub(super) fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}
