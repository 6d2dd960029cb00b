//! The operators that can be measured on their own.

use super::shapes::parse_shapes;
use crate::zoo::Settings;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorInfo {
    /// The function's name in PyTorch.
    pub name: &'static str,
    /// Default shapes; their number is the number of operands.
    pub shapes: &'static str,
}

const fn entry(name: &'static str, shapes: &'static str) -> OperatorInfo {
    OperatorInfo { name, shapes }
}

/// All operators. The default shapes fill the array and the vector lanes: 1024 rows and columns, the images of the first
/// stage of a ResNet, the heads of a BERT with 384 tokens.
pub static OPERATORS: [OperatorInfo; 24] = [
    entry("matmul", "1024x1024_1024x1024"),
    entry("linear", "1024x1024_1024x1024"),
    entry("conv2d", "1x64x56x56_64x64x3x3"),
    entry("attention", "1x12x384x64_1x12x384x64_1x12x384x64"),
    entry("max_pool2d", "1x64x56x56"),
    entry("softmax", "1024x1024"),
    entry("log_softmax", "1024x1024"),
    entry("layer_norm", "1024x1024"),
    entry("rms_norm", "1024x1024"),
    entry("gelu", "1024x1024"),
    entry("relu", "1024x1024"),
    entry("silu", "1024x1024"),
    entry("sigmoid", "1024x1024"),
    entry("tanh", "1024x1024"),
    entry("exp", "1024x1024"),
    entry("sqrt", "1024x1024"),
    entry("add", "1024x1024_1024x1024"),
    entry("sub", "1024x1024_1024x1024"),
    entry("mul", "1024x1024_1024x1024"),
    entry("div", "1024x1024_1024x1024"),
    entry("maximum", "1024x1024_1024x1024"),
    entry("minimum", "1024x1024_1024x1024"),
    entry("mean", "1024x1024"),
    entry("transpose", "1024x1024"),
];

/// An operator by its name, in any case.
pub fn operator(name: &str) -> Option<&'static OperatorInfo> {
    OPERATORS.iter().find(|o| o.name.eq_ignore_ascii_case(name.trim()))
}

/// The shapes of a model's settings: those given, or the operator's own.
pub(super) fn shapes_of(settings: &Settings) -> Vec<Vec<u64>> {
    let given = parse_shapes(settings.text("shapes")).unwrap_or_default();
    if !given.is_empty() {
        return given;
    }
    operator(settings.text("name")).and_then(|o| parse_shapes(o.shapes).ok()).unwrap_or_default()
}
