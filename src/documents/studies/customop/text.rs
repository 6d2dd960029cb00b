//! The text of runs of custom operators.

use ns_base::units::{format_ns, format_times};
use ns_fidelity::{custom_op_beside, published_steps_per_s};
use ns_kernel::{KernelDtype, Severity};
use ns_neuron::gpsimd::{CustomOpReport, CustomOpSpec, DiagnosticLine, customop_json};
use ns_view::document::Document;
use ns_view::terminal::{document, table};

/// The JSON of kernels with their runs and AWS's rates. Fails when a value has no JSON form.
pub fn customop_reports_json(runs: &[(&CustomOpSpec, &CustomOpReport)]) -> Result<String, serde_json::Error> {
    customop_json(runs, published_steps_per_s)
}

/// The text of kernels with their runs: of one its figures in words and the document of the study, of several a table.
pub fn customop_text(specs: &[CustomOpSpec], reports: &[CustomOpReport], of: &Document) -> String {
    match (specs, reports) {
        ([spec], [report]) => describe(spec, report, of),
        _ => side_by_side(specs, reports),
    }
}

/// What the tutorial's `inference.py` prints; nothing for a kernel that does not finish.
pub fn customop_tutorial_text(report: &CustomOpReport) -> String {
    report.iterations_per_s.map_or_else(String::new, |rate| {
        format!("Inf throughput (iter/sec): {rate}\n----------End Inference ---------------\n")
    })
}

/// Kernels as steps: the gain of each over the previous one, and where its time goes. One with a fault has no times here.
fn side_by_side(specs: &[CustomOpSpec], reports: &[CustomOpReport]) -> String {
    let mut rows = Vec::new();
    let mut before: Option<f64> = None;
    for (spec, report) in specs.iter().zip(reports) {
        let number = |x: Option<f64>, digits: usize| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.digits$}"));
        let rate = report.comparable_rate();
        let gain = rate.zip(before).map(|(now, before)| now / before);
        rows.push(vec![
            spec.name.clone(),
            report.cores.to_string(),
            report.dtype.to_string(),
            number(rate, 3),
            number(published_steps_per_s(spec), 3),
            gain.map_or_else(String::new, |g| format_times(g, 2)),
            number(report.comparable_ns_per_element(), 2),
            report.bound_by.unwrap_or("-").to_owned(),
            report.largest_part().to_owned(),
            report.problem(),
        ]);
        before = rate.or(before);
    }
    let headings = [
        "Kernel",
        ">Processors",
        "Elements",
        ">Iterations/s",
        ">AWS",
        ">Gain",
        ">ns per element",
        "Bound by",
        "Operator spends most on",
        "Problem",
    ];
    table(&headings, &rows)
}

/// The figures in words, the errors as compilers print them, and the document of the study.
fn describe(spec: &CustomOpSpec, report: &CustomOpReport, of: &Document) -> String {
    let line = |d: &DiagnosticLine| {
        let severity = if d.severity == Severity::Error { "error" } else { "warning" };
        format!("{}:{}:{}: {severity}: {} [{}]\n", spec.name, d.line, d.column, d.message, d.code)
    };
    let errors: String = report.diagnostics.iter().map(line).collect();
    headline(spec, report) + &errors + "\n" + &document(of)
}

fn headline(spec: &CustomOpSpec, report: &CustomOpReport) -> String {
    let processors =
        if report.cores == 1 { "one processor".to_owned() } else { format!("{} processors", report.cores) };
    let widths: Vec<String> = spec.layers.iter().map(u64::to_string).collect();
    let workload = format!("{:?}", spec.workload).to_lowercase();
    let mut out =
        if spec.dtype == KernelDtype::Float32 { String::new() } else { format!("tensors of {}\n", spec.dtype) };
    out += &format!("{} on {processors}, {workload} of {}, batch {}\n", spec.name, widths.join("-"), spec.batch);
    if let (Some(rate), Some(step), Some(bound)) = (report.iterations_per_s, report.step_ns, report.bound_by) {
        out.push_str(&format!("{rate:.3} iterations/s: a step takes {}, bound by the {bound}", format_ns(step)));
        out.push_str(&report.step_in_words().map_or_else(String::new, |parts| format!(": {parts}")));
        out.push('\n');
        out.extend(custom_op_beside(spec, rate).map(|published| format!("{published}\n")));
    }
    if let Some(error) = report.max_abs_error {
        out.push_str(&format!("largest difference from the reference: {error}\n"));
    }
    out
}
