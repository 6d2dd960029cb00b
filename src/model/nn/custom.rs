//! An operator of a person's own library, as the custom C++ operator tutorial writes it.

use crate::model::{Ctx, ModelError, Module, Value};

/// `my_ops.Relu.apply(x)`: a ReLU whose kernel runs on the GPSIMD engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct CustomRelu;

impl CustomRelu {
    /// The op's name in the framework.
    pub const NAME: &str = "my_ops::relu";
    /// The kernel's name in the library.
    pub const TARGET: &str = "relu";

    /// Called as a function, in the scope of the caller.
    ///
    /// # Errors
    /// When memory runs out in an eager run.
    pub fn apply(cx: &mut Ctx, x: &Value) -> Result<Value, ModelError> {
        cx.custom(Self::NAME, Self::TARGET, x)
    }
}

impl Module for CustomRelu {
    fn class(&self) -> &str {
        "Relu"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, ModelError> {
        let x = cx.one_input(inputs)?;
        Self::apply(cx, x)
    }
}
