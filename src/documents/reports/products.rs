//! Square matrix products of many sizes on a device and on a baseline: `neuronscope matmul-bench`.

use serde::Serialize;

use ns_base::{Clock, Refusal, refuse};
use ns_bench::comma_list;
use ns_experiment::micro::{BenchPlan, MatmulCase, MatmulDType, MatmulResult, SpeedupClass, matmul_cases};
use ns_experiment::plan::Accelerator;
use ns_experiment::run::{RunError, matmul_ms};
use ns_forms::options::{Opt, OptionText, Options, flag, opt};
use ns_forms::studies::{FieldKind, field};

/// Which products are timed, where.
#[derive(Clone, Debug)]
pub struct ProductComparison {
    baseline: Accelerator,
    device: Accelerator,
    dtypes: Vec<MatmulDType>,
    /// Rows and columns of the first product, and of the last.
    sizes: [u32; 2],
    step: u32,
    budgets: BenchPlan,
}

impl Default for ProductComparison {
    fn default() -> Self {
        Self {
            baseline: Accelerator::Trn1,
            device: Accelerator::Trn2,
            dtypes: MatmulDType::ALL.to_vec(),
            sizes: [256, 8_192],
            step: 128,
            budgets: BenchPlan::default(),
        }
    }
}

impl Options for ProductComparison {
    const OPTIONS: &'static [&'static [Opt<Self>]] = &[PRODUCT_OPTIONS];
}

/// Most rows and columns of a product.
const MOST: u32 = 16_384;

#[rustfmt::skip]
const PRODUCT_OPTIONS: &[Opt<ProductComparison>] = &[
    opt(field("baseline", "Baseline", "The device that is the baseline: cpu (measured), trn1, inf2, trn2 (simulated)", "", FieldKind::Line),
        flag("BASELINE", ""),
        |p| p.baseline.name().to_owned(), |p, given| given.known().map(|device| p.baseline = device)),
    opt(field("device", "Device", "The device that is tested", "", FieldKind::Line),
        flag("DEVICE", ""),
        |p| p.device.name().to_owned(), |p, given| given.known().map(|device| p.device = device)),
    opt(field("dtypes", "Types", "Types: float32, float16, bfloat16", "", FieldKind::Line),
        flag("DTYPES", "").list(),
        |p| comma_list(&p.dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>()), |p, given| given.each_text(dtype).map(|all| p.dtypes = all)),
    opt(field("from", "From", "Rows and columns of the first product", "", FieldKind::Line),
        flag("FROM", ""),
        |p| p.sizes[0].to_string(), |p, given| size(given, MOST).map(|n| p.sizes[0] = n)),
    opt(field("to", "To", "Rows and columns of the last product", "", FieldKind::Line),
        flag("TO", ""),
        |p| p.sizes[1].to_string(), |p, given| size(given, MOST).map(|n| p.sizes[1] = n)),
    opt(field("step", "Step", "Step in size from one product to the next", "", FieldKind::Line),
        flag("STEP", ""),
        |p| p.step.to_string(), |p, given| size(given, u32::MAX).map(|n| p.step = n)),
    opt(field("warmup", "Warm-up", "Milliseconds to warm up a measured device", "", FieldKind::Decimal),
        flag("WARMUP", ""),
        |p| p.budgets.warmup_ms.to_string(), |p, given| milliseconds(given).map(|ms| p.budgets.warmup_ms = ms)),
    opt(field("rep", "Measured time", "Milliseconds to measure", "", FieldKind::Decimal),
        flag("REP", ""),
        |p| p.budgets.measure_ms.to_string(), |p, given| milliseconds(given).map(|ms| p.budgets.measure_ms = ms)),
];

fn dtype(given: OptionText<'_>) -> Result<MatmulDType, String> {
    MatmulDType::from_name(given.text)
        .ok_or_else(|| given.wrong("a type of these products; choose from float32, float16, bfloat16"))
}

fn size(given: &OptionText<'_>, most: u32) -> Result<u32, String> {
    let wanted = format!("a whole number from 1 to {most}");
    given.some_where(&wanted, |n| (1..=most).contains(n))?.ok_or_else(|| given.wrong(&wanted))
}

fn milliseconds(given: &OptionText<'_>) -> Result<f64, String> {
    let wanted = "a number of milliseconds";
    given.some_where(wanted, |ms| (0.0..=f64::MAX).contains(ms))?.ok_or_else(|| given.wrong(wanted))
}

/// A product with its times.
pub struct ProductTimes {
    case: MatmulCase,
    result: Result<MatmulResult, RunError>,
}

/// A line of `--json`.
#[derive(Serialize)]
struct ProductJson {
    name: String,
    base_ms: Option<f64>,
    test_ms: Option<f64>,
    speedup: Option<f64>,
    error: Option<String>,
}

impl ProductComparison {
    /// Times the products, one each time the iterator is asked. Fails when there are none.
    pub fn run<'a>(&'a self, clock: &'a dyn Clock) -> Result<impl Iterator<Item = ProductTimes> + 'a, Refusal> {
        let [from, to] = self.sizes;
        let cases = matmul_cases(&self.dtypes, from, to, self.step);
        if cases.is_empty() {
            return Err(refuse!("there is no product from {from} to {to}; --to must not be below --from"));
        }
        Ok(cases.into_iter().map(move |case| {
            let ms = |accelerator| matmul_ms(case, accelerator, self.budgets, clock);
            let result = ms(self.baseline).and_then(|base_ms| Ok(MatmulResult { base_ms, test_ms: ms(self.device)? }));
            ProductTimes { case, result }
        }))
    }
}

impl ProductTimes {
    /// Whether the device is faster; `None` for a product that could not be timed.
    pub fn class(&self) -> Option<SpeedupClass> {
        self.result.as_ref().ok().map(|result| result.verdict())
    }

    /// The line that the suite prints: both times and the speed-up. A product without times has its error instead.
    pub fn line(&self) -> String {
        match &self.result {
            Ok(result) => result.line(self.case),
            Err(error) => format!("{}: {error}", self.case.name()),
        }
    }

    /// The same as JSON. Fails when a number has no JSON form.
    pub fn json(&self) -> Result<String, Refusal> {
        let ok = self.result.as_ref().ok();
        let json = ProductJson {
            name: self.case.name(),
            base_ms: ok.map(|r| r.base_ms),
            test_ms: ok.map(|r| r.test_ms),
            speedup: ok.map(|r| r.speedup()),
            error: self.result.as_ref().err().map(ToString::to_string),
        };
        serde_json::to_string(&json).map_err(|e| refuse!("{e}"))
    }
}
