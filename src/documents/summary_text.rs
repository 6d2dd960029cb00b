//! The text of an execution: what `neuronscope profile --summary` prints.

use crate::overview::{bounds_table, limits_table, lost_time_table};
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_ns, format_share};
use ns_insight::{Bounds, Effect, Finding, Insights, LIMITS_TITLE, Limiter, ResourceTime, Summary};
use ns_view::terminal::{self, table};

/// The note of times that hold guesses, the limiting unit, metrics, bounds, findings.
pub fn summary_text(insights: &Insights, note: Option<&str>) -> String {
    let mut out = note.map_or_else(String::new, |note| format!("{note}\n"));
    out.push_str(&limiter(&insights.limiter));
    out.push_str(&limits(insights));
    out.push_str(&metrics(&insights.summary));
    out.push_str(&bounds(&insights.bounds));
    out.push_str(&findings(&insights.findings));
    out
}

fn limiter(limiter: &Limiter) -> String {
    let time = |ns: u64| format_ns(u64_to_f64(ns));
    let share = |ns: u64| format_share(limiter.share(ns));
    let row = |r: &ResourceTime| {
        vec![
            r.resource.name().to_owned(),
            time(r.busy_ns),
            share(r.busy_ns),
            time(r.exposed_ns),
            time(r.hidden_ns()),
            r.mostly.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = limiter.resources.iter().map(row).collect();
    let sentence = limiter.sentence().unwrap_or_else(|| "Nothing ran.".to_owned());
    let header = ["Unit", ">Busy", ">Of window", ">Exposed", ">Hidden", "Mostly for"];
    format!("{sentence}\n{}no unit works: {}\n\n", table(&header, &rows), time(limiter.idle_ns))
}

/// What each limit costs, the bound first.
fn limits(insights: &Insights) -> String {
    limits_table(insights)
        .map(|table| {
            format!(
                "{LIMITS_TITLE}
{}
",
                terminal::rows(&table)
            )
        })
        .unwrap_or_default()
}

fn metrics(summary: &Summary) -> String {
    let rows: Vec<Vec<String>> = summary.metrics().iter().map(|m| vec![m.name.clone(), m.text()]).collect();
    format!("Metrics\n{}", table(&["Name", ">Value"], &rows))
}

fn bounds(bounds: &Bounds) -> String {
    let (total, table, lost) = (format_ns(bounds.total_time_s * 1e9), bounds_table(bounds), lost_time_table(bounds));
    let [table, lost] = [table, lost].map(|table| terminal::rows(&table));
    format!("\nPerformance bounds (total_time {total})\n{table}\nLost time\n{lost}{}\n", bounds.caveat)
}

fn findings(findings: &[Finding]) -> String {
    let mut out = "\nFindings\n".to_owned();
    if findings.is_empty() {
        out.push_str("none: no rule applies to this execution\n");
    }
    for (i, finding) in findings.iter().enumerate() {
        let effect = match finding.effect {
            Effect::Cost => "",
            Effect::Symptom => "[symptom] ",
            Effect::Saving => "[saves time] ",
            Effect::Note => "[note] ",
        };
        out.push_str(&format!("{}. {effect}{}\n   {}\n", i + 1, finding.title, finding.detail));
        if let Some(ns) = finding.saves_ns {
            out.push_str(&format!("   saves up to {}\n", format_ns(u64_to_f64(ns))));
        }
        for e in &finding.evidence {
            out.push_str(&format!("   - {}: {}\n", e.name, e.text()));
        }
        for s in finding.slices.iter().take(3) {
            out.push_str(&format!("   > {} ns to {} ns, {}: {}\n", s.start_ns, s.end_ns, s.row, s.path));
        }
    }
    out
}
