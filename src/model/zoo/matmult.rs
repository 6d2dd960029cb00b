//! The model of the microbenchmark guide.

use crate::nn::{Linear, RmsNorm};
use crate::{Child, Ctx, Distribution, Entry, InputSpec, Module, Value};
use ns_base::Refusal;
use ns_tensor::Shape;

use super::{ModelInfo, ParamInfo, ParamKind};

pub(super) static INFO: ModelInfo = ModelInfo {
    id: "matmult",
    description: "The microbenchmark guide's loop: one Linear(n, n) applied loop_count times, then the mean",
    default_batch_size: 1,
    batch_help: "batch size b gives an input of [b, n, n]",
    parameters: &[
        ParamInfo {
            name: "n",
            help: "rows and columns of each matrix",
            kind: ParamKind::Int { default: 1024, min: 1, max: 16_384 },
        },
        ParamInfo {
            name: "loop_count",
            help: "matrix products in one call",
            kind: ParamKind::Int { default: 1000, min: 1, max: 10_000 },
        },
        ParamInfo {
            name: "add_bias",
            help: "add a bias after each product (the guide recommends it: it avoids NaNs)",
            kind: ParamKind::Bool { default: true },
        },
        ParamInfo {
            name: "chained",
            help: "feed each product to the next; false is the guide's counter-example, whose loop the compiler removes",
            kind: ParamKind::Bool { default: true },
        },
        ParamInfo {
            name: "normalize",
            help: "divide each row of the result by its root mean square, as a normalisation does: 0 / 0 where it vanished",
            kind: ParamKind::Bool { default: false },
        },
    ],
    build: |s| {
        let model = Matmult::new(s.int("n"), s.flag("add_bias"), s.int("loop_count"));
        let model = if s.flag("chained") { model } else { model.unchained() };
        Box::new(if s.flag("normalize") { model.normalized(s.int("n")) } else { model })
    },
    inputs: |s, batch| {
        let shape = Shape::f32([batch, s.int("n"), s.int("n")]);
        vec![InputSpec { shape, distribution: Distribution::Normal }]
    },
};

/// `Matmult`: the same linear layer over and over.
#[derive(Clone, Debug)]
pub struct Matmult {
    matmult: Child<Linear>,
    loop_count: u64,
    chained: bool,
    norm: Option<Child<RmsNorm>>,
}

impl Matmult {
    /// The guide's model: each product feeds the next, so that none can be removed.
    pub fn new(n: u64, add_bias: bool, loop_count: u64) -> Self {
        Self {
            matmult: Child::new("matmult", Linear::with_bias(n, n, add_bias)),
            loop_count,
            chained: true,
            norm: None,
        }
    }

    /// The guide's counter-example: every product reads the same input, and only the last product is used.
    pub fn unchained(mut self) -> Self {
        self.chained = false;
        self
    }

    /// With a normalisation of the last product that adds nothing to the divisor. The guide recommends a bias because it
    /// avoids NaNs: without a bias, each product of the chain makes the values smaller, and the normalisation computes 0 /
    /// 0.
    pub fn normalized(mut self, n: u64) -> Self {
        self.norm = Some(Child::new("norm", RmsNorm::new(n, 0.0)));
        self
    }
}

impl Module for Matmult {
    fn class(&self) -> &str {
        "Matmult"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let mut out = self.matmult.call(cx, x)?;
        for _ in 1..self.loop_count {
            out = self.matmult.call(cx, if self.chained { &out } else { x })?;
        }
        if let Some(norm) = &self.norm {
            out = norm.call(cx, &out)?;
        }
        cx.mean(&out)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let mut children = vec![self.matmult.entry()];
        children.extend(self.norm.as_ref().map(Child::entry));
        children
    }
}
