//! The text of cases: the lines of the tutorial, or a table of a sweep with its findings.

use ns_base::Refusal;
use ns_bench::matmult::{MatmultReport, log_lines, matmult_json, matmult_rows};
use ns_fidelity::{product_beside, published_tops};
use ns_view::terminal::table;

/// The JSON of cases, with AWS's rates. Fails when a value has no JSON form.
pub fn matmult_reports_json(reports: &[MatmultReport]) -> Result<String, Refusal> {
    matmult_json(reports, published_tops)
}

/// The text of cases; that of one that stands alone and has failed is empty, because its error is the message of the command.
pub fn matmult_text(reports: &[MatmultReport], is_sweep: bool, verbose: bool) -> String {
    if is_sweep {
        return sweep(reports, verbose);
    }
    reports.iter().filter(|r| r.error.is_none()).map(|r| log(r, verbose)).collect()
}

fn log(report: &MatmultReport, verbose: bool) -> String {
    log_lines(report, verbose).into_iter().chain(beside(report)).map(|line| line + "\n").collect()
}

/// What AWS's guide says of the case, if it has it.
fn beside(report: &MatmultReport) -> Option<String> {
    let here = report.tops_computed?;
    Some(format!("{here:.2} TFLOPS: {}", product_beside(&report.case, here)?))
}

/// The table, then the findings, each printed once with its cases.
fn sweep(reports: &[MatmultReport], verbose: bool) -> String {
    let (headings, rows) = matmult_rows(reports);
    let mut out: String = if verbose { reports.iter().map(|r| log(r, true) + "\n").collect() } else { String::new() };
    out.push_str(&table(&headings, &rows));
    for report in reports {
        let label = report.case.label();
        for finding in &report.findings {
            out.push_str(&format!("found: {label}: {}\n", finding.sentence));
        }
        out.extend(beside(report).map(|line| format!("{label}: {line}\n")));
        out.extend(report.estimate.map(|mark| format!("{label}: {}\n", mark.note())));
        if let Some(error) = &report.error {
            out.push_str(&format!("failed: {label}: {error}\n"));
        }
    }
    out
}
