//! The module of a single operator: its first shape is the input, the others are weights.

use super::names::{operator, shapes_of};
use super::shapes::parse_shapes;
use crate::infer::dims;
use crate::zoo::Settings;
use crate::{ConvArgs, Ctx, Init, Module, Parameter, Value};
use ns_base::convert::{u64_to_f32, usize_to_u32};
use ns_base::{Refusal, refuse};
use ns_tensor::kernels::{BinaryOp, UnaryOp};

/// Names of operands after the first, as weights.
const WEIGHTS: [&str; 3] = ["weight", "value", "other"];
/// Added to the variance by normalisations, PyTorch's default.
const EPS: f32 = 1e-5;
/// Side of the window of `max_pool2d`, as in a ResNet.
const POOL_WINDOW: u64 = 3;

/// An operator, applied once or to its own result.
#[derive(Clone, Debug)]
pub(super) struct Operator {
    name: String,
    weights: Vec<Parameter>,
    expected: usize,
    found: usize,
    loop_count: u64,
    stride: u64,
    padding: u64,
}

impl Operator {
    /// The operator of a specification.
    pub fn new(settings: &Settings) -> Self {
        let (name, shapes) = (settings.text("name").to_owned(), shapes_of(settings));
        let expected = operator(&name).and_then(|o| parse_shapes(o.shapes).ok()).map_or(1, |s| s.len());
        let features = shapes.first().and_then(|dims| dims.last()).copied().unwrap_or(1);
        let scale = || Parameter::new("weight", [features], Init::Range { low: 0.5, high: 1.5 });
        let weights = match name.as_str() {
            "layer_norm" => {
                vec![scale(), Parameter::new("bias", [features], Init::Range { low: -0.25, high: 0.25 })]
            }
            "rms_norm" => vec![scale()],
            _ => shapes.iter().skip(1).zip(WEIGHTS).map(|(dims, as_name)| weight(&name, as_name, dims)).collect(),
        };
        let (loop_count, stride, padding) =
            (settings.int("loop_count"), settings.int("stride"), settings.int("padding"));
        Self { name, weights, expected, found: shapes.len(), loop_count, stride, padding }
    }

    fn apply(&self, cx: &mut Ctx, x: &Value, weights: &[Value]) -> Result<Value, Refusal> {
        let last = usize_to_u32(x.dims().len()).saturating_sub(1);
        match (self.name.as_str(), weights) {
            ("matmul", [w]) => cx.matmul(x, w),
            ("linear", [w]) => cx.linear(x, w, None),
            ("conv2d", [w]) => {
                let args = ConvArgs { stride: self.stride, padding: self.padding, ..ConvArgs::default() };
                cx.conv2d(x, w, None, args)
            }
            ("attention", [k, v]) => {
                let width = x.dims().last().copied().unwrap_or(1).max(1);
                cx.attention([x, k, v], Some((BinaryOp::Div, u64_to_f32(width).sqrt())), None)
            }
            ("max_pool2d", _) => cx.max_pool2d(x, POOL_WINDOW, self.stride, 1),
            ("softmax", _) => cx.softmax(x, last),
            ("log_softmax", _) => cx.log_softmax(x, last),
            ("layer_norm", [w, b]) => cx.layer_norm(x, w, b, EPS),
            ("rms_norm", [w]) => cx.rms_norm(x, w, EPS),
            ("gelu", _) => cx.gelu(x),
            ("relu", _) => cx.relu(x),
            ("silu", _) => cx.silu(x),
            ("sigmoid", _) => cx.sigmoid(x),
            ("tanh", _) => cx.tanh(x),
            ("exp", _) => cx.unary(UnaryOp::Exp, x),
            ("sqrt", _) => cx.unary(UnaryOp::Sqrt, x),
            ("mean", _) => cx.mean(x),
            ("transpose", _) => cx.transpose(x, last.saturating_sub(1), last),
            (name, [w]) => cx.binary(binary(name), x, w),
            // The number of operands was checked.
            _ => Err(self.count(cx)),
        }
    }

    fn count(&self, cx: &Ctx) -> Refusal {
        refuse!(
            "{}: the operator {} takes {} input(s), {} were given",
            cx.scope(),
            self.name,
            self.expected,
            self.found
        )
    }
}

/// An operand that stays on the device.
fn weight(name: &str, as_name: &'static str, dims: &[u64]) -> Parameter {
    let init = match name {
        "matmul" | "linear" | "conv2d" => Init::linear_default(dims.last().copied().unwrap_or(1)),
        // Avoids division by a number near zero.
        "div" => Init::Range { low: 0.5, high: 1.5 },
        _ => Init::Normal { std: 1.0 },
    };
    Parameter::new(as_name, dims, init)
}

fn binary(name: &str) -> BinaryOp {
    match name {
        "sub" => BinaryOp::Sub,
        "mul" => BinaryOp::Mul,
        "div" => BinaryOp::Div,
        "maximum" => BinaryOp::Maximum,
        "minimum" => BinaryOp::Minimum,
        _ => BinaryOp::Add,
    }
}

impl Module for Operator {
    fn class(&self) -> &str {
        "Operator"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        if self.found != self.expected {
            return Err(self.count(cx));
        }
        let weights = self.weights.iter().map(|w| cx.weight(w)).collect::<Result<Vec<_>, _>>()?;
        let mut out = self.apply(cx, x, &weights)?;
        if self.loop_count > 1 && out.shape() != x.shape() {
            return Err(refuse!(
                "{op} in {scope}: result {} does not match input {}: a loop feeds the result to the operator again; use loop_count=1",
                dims(out.shape()),
                dims(x.shape()),
                op = self.name,
                scope = cx.scope()
            ));
        }
        for _ in 1..self.loop_count {
            out = self.apply(cx, &out, &weights)?;
        }
        Ok(out)
    }

    fn parameters(&self) -> Vec<&Parameter> {
        self.weights.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::OPERATORS;
    use crate::zoo::ModelSpec;

    fn output(text: &str, batch: u64) -> Result<Vec<u64>, String> {
        let spec: ModelSpec = text.parse().map_err(|e: ns_base::Refusal| e.to_string())?;
        let graph = spec.trace(batch).map_err(|e| e.to_string())?;
        Ok(graph.nodes[graph.output].shape.dims.clone())
    }

    #[test]
    fn every_operator_has_shapes_that_fit_it() {
        for o in &OPERATORS {
            let text = format!("op:name={}", o.name);
            assert!(output(&text, 1).is_ok(), "{text}: {:?}", output(&text, 1));
        }
    }

    #[test]
    fn the_batch_multiplies_the_input_alone() {
        assert_eq!(output("op:name=matmul,shapes=8x16_16x4", 3), Ok(vec![24, 4]));
        assert_eq!(output("op:name=conv2d,shapes=1x3x8x8_5x3x3x3,padding=1,stride=2", 2), Ok(vec![2, 5, 4, 4]));
        assert_eq!(output("op:name=softmax,shapes=8x16", 1), Ok(vec![8, 16]));
    }

    #[test]
    fn errors_of_operators_suggest_a_fix() {
        let said = |text: &str| output(text, 1).unwrap_err();
        assert!(said("op:name=matmul,shapes=8x16_8x16").contains("does not match"));
        assert!(said("op:name=matmul,shapes=8x16").contains("the operator matmul takes 2 input(s), 1 were given"));
        assert!(said("op:name=matmul,shapes=8x16_16x4,loop_count=2").contains("use loop_count=1"));
        assert!(said("op:name=convolve").contains("use matmul, linear, conv2d"), "{}", said("op:name=convolve"));
        assert!(said("op:shapes=8x").contains("is not a shape"), "{}", said("op:shapes=8x"));
    }

    #[test]
    fn a_loop_applies_it_to_its_own_result() {
        let count = |text: &str| text.parse::<ModelSpec>().unwrap().trace(1).unwrap().flops();
        let one = count("op:name=matmul,shapes=8x8_8x8");
        assert_eq!((one, count("op:name=matmul,shapes=8x8_8x8,loop_count=5")), (1024, 5 * 1024));
    }

    #[test]
    fn its_text_is_the_shortest() {
        let text = |text: &str| text.parse::<ModelSpec>().unwrap().to_string();
        assert_eq!(text("op:name=MATMUL, shapes=8X16_16x4 ,loop_count=1"), "op:shapes=8x16_16x4");
        assert_eq!(text("op:name=gelu,shapes="), "op:name=gelu");
    }
}
