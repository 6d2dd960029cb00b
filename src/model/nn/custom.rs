//! An operator of the user's own library, written as in the custom C++ operator tutorial.

use crate::{Ctx, Module, Value};
use ns_base::Refusal;
use ns_kernel::{NamedKernel, TABLE_KERNEL};

/// `my_ops.Relu.apply(x)`: a ReLU whose kernel runs on the GPSIMD engine.
#[derive(Clone, Debug)]
pub struct CustomRelu {
    /// The kernel in the library: the HLO custom call's target.
    target: String,
}

impl Default for CustomRelu {
    /// The element-wise kernel with its time from the cost table.
    fn default() -> Self {
        Self { target: TABLE_KERNEL.to_owned() }
    }
}

impl CustomRelu {
    /// The op's name in the framework.
    pub const NAME: &str = "my_ops::relu";

    /// With the kernel that a text names ([`NamedKernel`]), on all processors or as the kernel itself specifies.
    pub fn with_kernel(kernel: &str, multicore: bool) -> Self {
        let target = match kernel.parse::<NamedKernel>() {
            Ok(named) if multicore => named.on_all_processors().to_string(),
            _ => kernel.to_owned(),
        };
        Self { target }
    }

    /// Called like a function, in the scope of the caller. Fails when memory runs out in an eager run, or the kernel does not
    /// finish there.
    pub fn apply(&self, cx: &mut Ctx, x: &Value) -> Result<Value, Refusal> {
        cx.custom(Self::NAME, &self.target, x)
    }
}

impl Module for CustomRelu {
    fn class(&self) -> &str {
        "Relu"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        self.apply(cx, x)
    }
}
