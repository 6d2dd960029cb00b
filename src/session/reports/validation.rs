//! Published and measured figures beside what the model predicts: `neuronscope validate`.

use std::collections::BTreeMap;

use serde::Serialize;

use ns_base::units::{format_change, format_number, format_share};
use ns_base::{Refusal, refuse};
use ns_fidelity::{
    Calibrator, Coverage, DecodeCalibrator, DecodeFit, Decoders, GenerationTimes, KernelSummary, MeasuredRow,
    PlacementBasis, PublishedRow, RowComparison, ServedAnswer, ServedCalibrator, ServedErrors, ServedRow, Summary,
    Validation, compare, coverage, errors_of, is_generation, is_kernels, is_measured, ratios_by_one_factor,
    read_kernels, read_measured, read_rows, read_served, rms_of_ratios, summarise_kernels, validate,
    validate_generation, validate_served,
};
pub use ns_fidelity::{KernelComparison, KernelRow, compare_kernel};
use ns_view::terminal::table;

/// A table of figures.
#[derive(Clone, Debug)]
pub enum FigureTable {
    /// Instructions, transfers and rates.
    Measured(Vec<MeasuredRow>),
    /// Figures of models.
    Published(Vec<PublishedRow>),
    /// Served models.
    Served(Vec<ServedRow>),
    /// NKI kernels, which the shell runs.
    Kernels(Vec<KernelRow>),
}

/// The rows of a table beside their predictions.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum FigureAnswer {
    Measured { measurements: Vec<RowComparison> },
    Published { rows: Vec<Validation>, summary: Summary, coverage: Vec<Coverage> },
    Served { rows: Vec<ServedAnswer>, groups: Vec<ServedErrors> },
    Kernels { kernels: Vec<KernelComparison>, summary: Vec<KernelSummary> },
}

impl FigureTable {
    /// The table in a file. Fails when it is none of the known ones, or a row of it cannot be read.
    pub fn read(file: &str, text: &[u8]) -> Result<Self, Refusal> {
        let unlike = |what: &str, e: Refusal| refuse!("{file}: is not a table of {what}: {e}");
        if is_measured(text) {
            return read_measured(text).map(Self::Measured).map_err(|e| unlike("measurements", e));
        }
        if is_kernels(text) {
            return read_kernels(text).map(Self::Kernels);
        }
        match read_served(text) {
            Some(rows) => rows.map(Self::Served).map_err(|e| unlike("served models", e)),
            None => read_rows(text).map(Self::Published).map_err(|e| unlike("published figures", e)),
        }
    }

    /// What the fit to the rows finds, and the errors of the fits without some of them. Fails when nothing is fitted to such rows.
    pub fn calibrated(&self) -> Result<String, Refusal> {
        match self {
            Self::Measured(_) => Err(refuse!("holds measurements of instructions; --calibrate fits to rows of models")),
            Self::Kernels(_) => Err(refuse!("holds NKI kernels, to which nothing is fitted")),
            Self::Served(rows) => Ok(calibrate_served(rows)),
            Self::Published(rows) => Ok(calibrate(rows)),
        }
    }

    /// The rows beside their predictions; `run` finds those of kernels, and fails when one cannot run.
    pub fn predicted<E>(
        &self,
        run: impl FnOnce(&[KernelRow]) -> Result<Vec<KernelComparison>, E>,
    ) -> Result<FigureAnswer, E> {
        Ok(match self {
            Self::Measured(rows) => FigureAnswer::Measured { measurements: rows.iter().map(compare).collect() },
            Self::Served(rows) => {
                let (rows, groups) = validate_served(rows);
                FigureAnswer::Served { rows, groups }
            }
            Self::Published(rows) => {
                let mut decoders = Decoders::default();
                let mut answer =
                    |row| if is_generation(row) { validate_generation(row, &mut decoders) } else { validate(row) };
                let rows: Vec<Validation> = rows.iter().map(&mut answer).collect();
                let summary = Summary::of(rows.iter());
                FigureAnswer::Published { rows, summary, coverage: coverage() }
            }
            Self::Kernels(rows) => {
                let kernels = run(rows)?;
                FigureAnswer::Kernels { summary: summarise_kernels(&kernels), kernels }
            }
        })
    }
}

impl FigureAnswer {
    /// The rows as text, with their errors.
    pub fn text(&self) -> String {
        match self {
            Self::Measured { measurements } => describe_measured(measurements),
            Self::Published { rows, summary, coverage } => describe(rows, summary, coverage),
            Self::Served { rows, groups } => describe_served(rows, groups),
            Self::Kernels { kernels, summary } => describe_kernels(kernels, summary),
        }
    }
}

fn describe_measured(measurements: &[RowComparison]) -> String {
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| format!("{x:.4}"));
    let cells: Vec<Vec<String>> = measurements
        .iter()
        .filter(|r| r.skipped.is_none())
        .map(|r| {
            let error = r.error.map_or_else(String::new, |error| format_change(error * 100.0));
            let quantity = format!("{}, {}", r.metric, r.unit);
            vec![r.what.clone(), r.instance.clone(), quantity, number(r.measured), number(r.model), error]
        })
        .collect();
    let mut out = table(&["What", "Instance", "Quantity", ">Measured", ">Model", ">Error"], &cells);
    let skipped = measurements.len() - cells.len();
    if skipped > 0 {
        out.push_str(&format!("{skipped} rows were skipped; --json says why\n"));
    }
    out
}

fn describe_served(rows: &[ServedAnswer], groups: &[ServedErrors]) -> String {
    let ms = |x: Option<f64>| x.map_or_else(String::new, |x| format!("{x:.2}"));
    let cells: Vec<Vec<String>> = rows
        .iter()
        .filter(|row| row.skipped.is_none())
        .map(|row| {
            let ratio = row.predicted_ms.map_or_else(String::new, |ms| format!("{:.3}", ms / row.value_ms));
            let interval = format!("{} to {}", ms(row.low_ms), ms(row.high_ms));
            vec![row.set.clone(), row.model.clone(), ms(Some(row.value_ms)), ms(row.predicted_ms), interval, ratio]
        })
        .collect();
    let mut out = table(&["Set", "Model", ">ms", ">Predicted", ">In 9 of 10 cases", ">Ratio"], &cells);
    out.push('\n');
    out.push_str(&group_lines(groups));
    for row in rows.iter().filter(|row| row.skipped.is_some()) {
        out.push_str(&format!("skipped: {}: {}\n", row.model, row.skipped.as_deref().unwrap_or_default()));
    }
    out
}

fn group_lines(groups: &[ServedErrors]) -> String {
    groups
        .iter()
        .map(|g| {
            let inside = format!("; {} of {} in their intervals\n", g.inside, g.summary.n);
            line(g.group, &g.summary).trim_end().to_owned() + &inside
        })
        .collect()
}

/// The fit to the rows of served models, and the errors of each model by the fit without it.
fn calibrate_served(rows: &[ServedRow]) -> String {
    let mut calibrator = ServedCalibrator::new(rows);
    let fit = calibrator.fit(|_| true);
    let mut out = format!("{fit:#?}\n{}", group_lines(&errors_of(&calibrator.ratios(fit, |_| true))));
    let left_out = calibrator.leave_one_model_out();
    let all: Vec<_> = left_out.iter().flat_map(|left| left.ratios.iter().copied()).collect();
    out.push_str(&format!("\neach model by the fit without it\n{}\n", group_lines(&errors_of(&all))));
    for left in left_out {
        let ratios: Vec<f64> = left.ratios.iter().map(|(_, ratio)| *ratio).collect();
        let c = left.calibration;
        out.push_str(&line(&format!("without {}", left.model), &Summary::of_ratios(&ratios)));
        out.push_str(&format!(
            "  head {} ns, row {} ps, all-reduce of Trn2 {} ns, vLLM {} us; ratios {ratios:.4?}\n",
            c.kv_head_ns, c.row_ps, c.trn2_all_reduce_ns, c.vllm_host_us
        ));
    }
    out
}

/// The fit to all rows, and for each family of models the errors of a fit without that family's rows.
fn calibrate(published: &[PublishedRow]) -> String {
    let mut decode = DecodeCalibrator::new(published);
    if !decode.is_empty() {
        return calibrate_generation(&mut decode);
    }
    let mut calibrator = Calibrator::new(published);
    let fit = calibrator.fit(|_| true);
    let mut out = format!("{:#?}\n{}", fit.calibration, line("all", &fit.summary));
    let left_out = calibrator.leave_one_family_out();
    let all: Vec<f64> = left_out.iter().flat_map(|l| l.ratios.iter().copied()).collect();
    out.push_str(&line("each family by the fit without it", &Summary::of_ratios(&all)));
    let floor = Summary::of_ratios(&ratios_by_one_factor(published));
    out.push_str(&line("floor: PyTorch 2 as published, PyTorch 1 by one factor of the other models", &floor));
    for left_out in left_out {
        let c = left_out.fit.calibration;
        out.push_str(&line(&format!("without {}", left_out.family), &left_out.errors));
        out.push_str(&format!(
            "  host call {} ns, copies {} B/us, PyTorch 1 {}; ratios {:.4?}\n",
            c.host_call_ns, c.host_copy_bytes_per_us, c.torch_1_permille, left_out.ratios
        ));
    }
    out
}

/// The same for rows of text generation.
fn calibrate_generation(calibrator: &mut DecodeCalibrator) -> String {
    let fit = calibrator.fit(|_| true);
    let mut out = format!("{:#?}\n{}", fit.calibration, generation_lines(&fit));
    let left_out = calibrator.leave_one_model_out();
    let all: Vec<f64> = left_out.iter().flat_map(|l| l.tpot.iter().copied()).collect();
    out.push_str(&format!(
        "each model by the fit without it: TPOT rms {}\n",
        format_share(rms_of_ratios(&all) * 100.0)
    ));
    for left in left_out {
        out.push_str(&line(&format!("TPOT without {}", left.model), &Summary::of_ratios(&left.tpot)));
        out.push_str(&format!("  {:?}; ratios {:.4?}\n", left.calibration, left.tpot));
    }
    out
}

fn generation_lines(fit: &DecodeFit) -> String {
    let mut out: String = fit.summaries().iter().map(|(name, summary)| line(name, summary)).collect();
    out.push_str(&format!("TPOT rms {}\n", format_share(rms_of_ratios(&fit.tpot) * 100.0)));
    out
}

/// Rows of text generation with their times, and the errors of these.
fn describe_generation(rows: &[Validation]) -> String {
    let times: Vec<(&Validation, GenerationTimes)> = rows.iter().filter_map(|r| Some((r, r.generation?))).collect();
    if times.is_empty() {
        return String::new();
    }
    let pair = |published: Option<f64>, here: f64, ratio: Option<f64>| {
        let of = |x: Option<f64>, digits: usize| x.map_or_else(String::new, |x| format!("{x:.digits$}"));
        [of(published, 2), format!("{here:.2}"), of(ratio, 3)]
    };
    let cells: Vec<Vec<String>> = times
        .iter()
        .map(|(row, t)| {
            let tpot = pair(t.published_tpot_ms, t.predicted_tpot_ms, t.tpot_ratio);
            let ttft = pair(t.published_ttft_ms, t.predicted_ttft_ms, t.ttft_ratio);
            let batch = row.batch_size.map_or_else(String::new, |b| b.to_string());
            [row.model.clone(), row.instance.clone(), batch].into_iter().chain(tpot).chain(ttft).collect()
        })
        .collect();
    let headings =
        ["Model", "Instance", ">Batch", ">TPOT ms", ">Predicted", ">Ratio", ">TTFT ms", ">Predicted", ">Ratio"];
    let mut out = format!("\n{}\n", table(&headings, &cells));
    let of = |ratio: &dyn Fn(&GenerationTimes) -> Option<f64>| {
        let ratios: Vec<f64> = times.iter().filter_map(|(_, t)| ratio(t)).collect();
        Summary::of_ratios(&ratios)
    };
    out.push_str(&line("TPOT", &of(&|t| t.tpot_ratio)));
    out.push_str(&line("TTFT", &of(&|t| t.ttft_ratio)));
    out
}

fn describe(rows: &[Validation], summary: &Summary, coverage: &[Coverage]) -> String {
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| format!("{x:.1}"));
    let cells: Vec<Vec<String>> = rows
        .iter()
        .filter(|r| r.skipped.is_none())
        .map(|r| {
            let batch = r.batch_size.map_or_else(String::new, |b| b.to_string());
            let ratio = r.ratio.map_or_else(String::new, |x| format!("{x:.3}"));
            let interval = r.throughput_low.zip(r.throughput_high);
            let interval = interval.map_or_else(String::new, |(low, high)| format!("{low:.1} to {high:.1}"));
            let (published, predicted) = (number(r.published), number(r.predicted));
            vec![r.model.clone(), r.instance.clone(), batch, placement_text(r), published, predicted, interval, ratio]
        })
        .collect();
    let columns =
        ["Model", "Instance", ">Batch", ">Cores x workers", ">Published", ">Predicted", ">In 8 of 10 cases", ">Ratio"];
    let mut out = table(&columns, &cells);
    let mut by_model: BTreeMap<&str, Vec<&Validation>> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.judges()) {
        by_model.entry(&row.model).or_default().push(row);
    }
    out.push('\n');
    for (model, rows) in by_model {
        out.push_str(&line(model, &Summary::of(rows.into_iter())));
    }
    out.push_str(&line("all", summary));
    if let Some(share) = summary.inside_share {
        out.push_str(&format!("{} of the published figures lie in their interval\n", format_share(share * 100.0)));
        let groups: Vec<String> = coverage.iter().map(|c| format!("{} {} of {}", c.group, c.inside, c.rows)).collect();
        out.push_str(&format!("intervals made without a family hold its shipped rows: {}\n", groups.join(", ")));
    }
    for row in rows {
        if let Some(constant) = &row.solved {
            out.push_str(&format!("not counted: {constant} was solved from the row of {}\n", row.model));
        }
    }
    if rows.iter().any(|r| r.placed_by == Some(PlacementBasis::LittlesLaw)) {
        out.push_str("* from the requests in flight: Little's law over the row's throughput and latency\n");
    }
    out.push_str(&describe_generation(rows));
    let skipped = rows.iter().filter(|r| r.skipped.is_some()).count();
    if skipped > 0 {
        out.push_str(&format!("{skipped} rows were skipped; --json says why\n"));
    }
    out
}

/// `2 x 1`, with a star where it comes from Little's law.
fn placement_text(row: &Validation) -> String {
    let Some((models, workers)) = row.n_models.zip(row.workers_per_model) else { return String::new() };
    let star = if row.placed_by == Some(PlacementBasis::LittlesLaw) { "*" } else { "" };
    format!("{models} x {workers}{star}")
}

fn line(name: &str, s: &Summary) -> String {
    let percent = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format_share(x * 100.0));
    let bias = s.geomean_ratio.map_or_else(|| "-".to_owned(), |x| format!("{x:.3}"));
    format!(
        "{name}: {} rows, median error {}, p90 {}, bias {bias}\n",
        s.n,
        percent(s.median_abs_error),
        percent(s.p90_abs_error)
    )
}

fn describe_kernels(kernels: &[KernelComparison], summary: &[KernelSummary]) -> String {
    let number = |x: Option<f64>| x.map_or_else(String::new, format_number);
    let row = |c: &KernelComparison| {
        let built = if c.builds_as_measured { "" } else { "builds otherwise" };
        let spilt = if c.spills_as_measured == Some(false) { "spills otherwise" } else { "" };
        let error = c.error.map_or_else(String::new, |e| format_change(e * 100.0));
        vec![c.row.variant.clone(), number(c.row.measured_us), number(c.total_us), error, format!("{built}{spilt}")]
    };
    let percent = |x: f64| format!("{:.1} %", 100.0 * x);
    let of = |s: &KernelSummary| {
        let wrong = format!("{}, {}", s.wrong_builds, s.wrong_spills);
        let tau = |x: f64| format!("{x:.2}");
        vec![
            s.group.clone(),
            s.kernels.to_string(),
            percent(s.median),
            percent(s.p90),
            format_change(100.0 * s.bias),
            tau(s.tau),
            tau(s.tau_above_5),
            percent(s.regret),
            wrong,
        ]
    };
    let headings = ["Kernel", ">Measured us", ">Model us", ">Error", "Note"];
    let mut out = table(&headings, &kernels.iter().map(row).collect::<Vec<_>>());
    let headings =
        ["Operator", ">Kernels", ">Median", ">p90", ">Bias", ">Tau", ">Above 5 %", ">Regret", ">Wrong builds, spills"];
    out.push('\n');
    out.push_str(&table(&headings, &summary.iter().map(of).collect::<Vec<_>>()));
    out
}
