//! The model of the custom C++ operator tutorials, with any kernel as its operator.

use crate::nn::{CustomRelu, Linear};
use crate::{Child, Ctx, Distribution, Entry, Init, InputSpec, Module, Value};
use ns_base::Refusal;
use ns_kernel::TABLE_KERNEL;
use ns_tensor::Shape;

use super::{ModelInfo, ParamInfo, ParamKind};

/// Pixels of an MNIST image.
const INPUT_SIZE: u64 = 28 * 28;
/// Digits.
const OUTPUT_SIZE: u64 = 10;

const fn layer(name: &'static str, help: &'static str, default: u64) -> ParamInfo {
    ParamInfo { name, help, kind: ParamKind::Int { default, min: 1, max: 65_536 } }
}

pub(super) static INFO: ModelInfo = ModelInfo {
    id: "mlp",
    description: "The custom operator tutorial's MNIST network: 784-4096-2048-10 with a custom ReLU on GPSIMD",
    default_batch_size: 32,
    batch_help: "batch size b gives an input of [b, 784]",
    parameters: &[
        layer("hidden1", "width of the first hidden layer (120 in the training tutorial)", 4096),
        layer("hidden2", "width of the second hidden layer (84 in the training tutorial)", 2048),
        ParamInfo {
            name: "kernel",
            help: "kernel of the custom ReLU: relu has one time for an element, the others are run; on the command line \
                   also a C++ file",
            kind: ParamKind::Kernel { default: TABLE_KERNEL },
        },
        ParamInfo {
            name: "multicore",
            help: "run a kernel of your own on all GPSIMD processors; a built-in kernel sets this itself",
            kind: ParamKind::Bool { default: false },
        },
    ],
    build: |s| {
        let relu = CustomRelu::with_kernel(s.text("kernel"), s.flag("multicore"));
        Box::new(Mlp::new(INPUT_SIZE, [s.int("hidden1"), s.int("hidden2")], OUTPUT_SIZE).relu(relu))
    },
    inputs: |_, batch| vec![InputSpec { shape: Shape::f32([batch, INPUT_SIZE]), distribution: Distribution::Uniform }],
};

/// `MLP`: three linear layers, a custom ReLU after each of the first two, log-softmax at the end. Weights are
/// Xavier-normal, as in the tutorial.
#[derive(Clone, Debug)]
pub struct Mlp {
    fc1: Child<Linear>,
    fc2: Child<Linear>,
    fc3: Child<Linear>,
    relu: CustomRelu,
}

impl Mlp {
    /// A network of these widths.
    pub fn new(input_size: u64, layers: [u64; 2], output_size: u64) -> Self {
        let linear = |name: &str, i, o| Child::new(name, Linear::new(i, o).weight_init(Init::xavier_normal(i, o)));
        Self {
            fc1: linear("fc1", input_size, layers[0]),
            fc2: linear("fc2", layers[0], layers[1]),
            fc3: linear("fc3", layers[1], output_size),
            relu: CustomRelu::default(),
        }
    }

    /// The same model with another kernel for its ReLUs.
    pub fn relu(self, relu: CustomRelu) -> Self {
        Self { relu, ..self }
    }
}

impl Module for Mlp {
    fn class(&self) -> &str {
        "MLP"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let f1 = self.fc1.call(cx, x)?;
        let r1 = self.relu.apply(cx, &f1)?;
        let f2 = self.fc2.call(cx, &r1)?;
        let r2 = self.relu.apply(cx, &f2)?;
        let f3 = self.fc3.call(cx, &r2)?;
        cx.log_softmax(&f3, 1)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.fc1.entry(), self.fc2.entry(), self.fc3.entry()]
    }
}
