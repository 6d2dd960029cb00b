//! The same products measured on this processor: real times, which do not repeat with a seed.

use super::document::CaseResult;
use ns_base::Clock;
use ns_base::convert::{f64_to_u64, u64_to_f64, u64_to_u32, usize_to_f64};
use ns_bench::cpu::{CpuRun, CpuStage};
use ns_bench::matmult::MatmultCase;
use ns_bench::{BenchConfig, DeviceType, RunOptions, expand};
use ns_view::document::{Block, Figure, Plot};
use ns_view::plot::Bars;
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// Seconds for which each size is measured.
const WINDOW_S: f64 = 0.3;
/// Least operations of one call, so that the clock can resolve it, and most operations, so that a step ends soon.
const OPERATIONS: (f64, f64) = (2e7, 5e9);
/// Most sizes that are measured.
pub(super) const MOST_SIZES: usize = 8;

/// A measurement on this processor.
pub(super) struct Processor {
    /// A short description of what was measured: `N 256, batch 1`.
    pub name: String,
    /// The same as a specification of the zoo: `matmult:n=256,loop_count=2`.
    pub model: String,
    /// Timed calls.
    pub calls: usize,
    /// Mean time of one call, seconds.
    pub mean_s: f64,
    /// Operations of one call.
    pub operations: f64,
    /// Why it was not measured.
    pub error: Option<String>,
}

/// A size to measure.
pub(super) struct Measuring {
    run: CpuRun,
    name: String,
    model: String,
    operations: f64,
}

/// The sizes of some cases, each once; the products of a call are few, because the rate hardly depends on their number.
pub(super) fn sizes(done: &[CaseResult]) -> Vec<(MatmultCase, f64)> {
    let mut all: Vec<(MatmultCase, f64)> = Vec::new();
    for d in done {
        let Some(detail) = &d.detail else { continue };
        let mut case = d.report.case.clone();
        let per_product = case.operations().map(|all| all / f64::from(case.loop_count));
        let mut operations = detail.operations;
        if let Some(one) = per_product {
            case.loop_count = u64_to_u32(f64_to_u64((OPERATIONS.0 / one).ceil().clamp(1.0, 1e4)));
            operations = one * f64::from(case.loop_count);
        }
        // Chained and with a bias, as recommended: pitfalls apply only to the device.
        (case.run.chained, case.run.add_bias) = (true, true);
        if !all.iter().any(|(c, _)| c.specification() == case.specification() && c.batch_size == case.batch_size) {
            all.push((case, operations));
        }
    }
    all.truncate(MOST_SIZES);
    all
}

/// A size in a few words.
fn name(case: &MatmultCase) -> String {
    match &case.model {
        Some(model) => format!("{model}, batch {}", case.batch_size),
        None => format!("N {}, batch {}", case.matrix_dim, case.batch_size),
    }
}

impl Measuring {
    /// Begins measuring a size. Fails when the size takes too long, or cannot be run.
    pub fn new(case: &MatmultCase, operations: f64) -> Result<Box<Self>, String> {
        if operations > OPERATIONS.1 {
            return Err(format!("a call of {:.1} GFLOP is too long to be measured here", operations / 1e9));
        }
        let config = BenchConfig {
            model: case.specification(),
            n_models: Some(vec![1]),
            workers_per_model: Some(vec![1]),
            batch_sizes: vec![case.batch_size],
            duration_s: WINDOW_S,
            options: RunOptions { device_type: DeviceType::Cpu, ..RunOptions::default() },
            ..BenchConfig::default()
        };
        let sweep = expand(&config).map_err(|e| e.to_string())?;
        let configuration = sweep.configurations.into_iter().next().ok_or("there is nothing to measure")?;
        let (name, model) = (name(case), case.specification());
        Ok(Box::new(Self { run: CpuRun::new(configuration), name, model, operations }))
    }

    /// Does the next step; returns the result after the last one.
    pub fn step(mut self: Box<Self>, clock: &dyn Clock) -> Result<Processor, Box<Self>> {
        self.run.step(clock);
        if self.run.stage() != CpuStage::Done {
            return Err(self);
        }
        let this = *self;
        let timers = this.run.into_timers();
        let calls = timers.inferences.len();
        let total: u64 = timers.inferences.iter().map(|(_, latency)| latency).sum();
        Ok(Processor {
            name: this.name,
            model: this.model,
            calls,
            mean_s: u64_to_f64(total) / 1e9 / usize_to_f64(calls.max(1)),
            operations: this.operations,
            error: timers.error,
        })
    }
}

impl Processor {
    /// A size that was not measured.
    pub fn refused(case: &MatmultCase, error: String) -> Self {
        let (name, model) = (name(case), case.specification());
        Self { name, model, calls: 0, mean_s: 0.0, operations: 0.0, error: Some(error) }
    }

    fn gflops(&self) -> Option<f64> {
        (self.error.is_none() && self.mean_s > 0.0).then(|| self.operations / self.mean_s / 1e9)
    }
}

/// The measurements on this processor, compared with the simulated device.
pub(super) fn beside(done: &[CaseResult], processor: &[Processor]) -> Vec<Block> {
    if processor.is_empty() {
        return Vec::new();
    }
    let best = done.iter().filter_map(|d| d.report.tops_computed).fold(0.0, f64::max);
    let bars =
        processor.iter().filter_map(|p| Some((format!("Measured: {}", p.name), "measured".to_owned(), p.gflops()?)));
    let simulated = ("Simulated: the fastest case".to_owned(), "simulated".to_owned(), best * 1e3);
    let row = |p: &Processor| {
        vec![
            Cell::Text(p.name.clone()),
            Cell::Text(p.model.clone()),
            Cell::Count(p.calls as u64),
            p.gflops().map_or(Cell::Missing, |_| Cell::Number(p.mean_s * 1e3)),
            p.gflops().map_or(Cell::Missing, Cell::Number),
            Cell::Text(p.error.clone().unwrap_or_else(|| "measured".to_owned())),
        ]
    };
    let columns = [
        ("name", "Size", ColumnKind::Text),
        ("model", "What ran", ColumnKind::Text),
        ("calls", "Calls", ColumnKind::Count),
        ("call_ms", "Call (ms)", ColumnKind::Number),
        ("gflops", "GFLOPS", ColumnKind::Number),
        ("status", "Status", ColumnKind::Text),
    ];
    vec![
        Block::Heading("This processor, measured".to_owned()),
        Block::Text(
            "Real time of this product\u{2019}s plain kernels on this processor, in single precision and on one thread: no measure of what \
             a tuned library reaches."
                .to_owned(),
        ),
        Block::Plot(Figure {
            title: "Measured processor beside the simulated core".to_owned(),
            note: String::new(),
            plot: Plot::Bars(Bars::new(bars.chain([simulated])), "GFLOPS".to_owned()),
        }),
        Block::Table {
            title: "This processor".to_owned(),
            file: "matmult-processor".to_owned(),
            table: Table {
                columns: columns.map(|(id, title, kind)| Column::new(id, title, kind)).into(),
                rows: processor.iter().map(row).collect(),
            },
        },
    ]
}
