//! One sentence about a sweep: which configuration is best, and at what.

use super::report::Report;

/// Names the finished configurations with the lowest median latency and the highest throughput; the first of equals.
/// `None` when none has finished.
#[must_use]
pub fn verdict(reports: &[Report]) -> Option<String> {
    let finished = || reports.iter().filter(|r| r.is_finished());
    let fastest = first_by(finished(), |r| r.latency_ms_p50, |a, b| a < b)?;
    let widest = first_by(finished(), |r| r.throughput_avg, |a, b| a > b)?;
    let failed = reports.len() - finished().count();
    let mut text = if std::ptr::eq(fastest, widest) {
        format!("{} has both the lowest latency and the highest throughput ({})", fastest.label(), measures(fastest))
    } else {
        format!(
            "Lowest latency: {} ({}); highest throughput: {} ({})",
            fastest.label(),
            measures(fastest),
            widest.label(),
            measures(widest)
        )
    };
    if failed > 0 {
        text.push_str(&format!("; {failed} of {} configurations failed", reports.len()));
    }
    text.push('.');
    Some(text)
}

fn measures(report: &Report) -> String {
    let number = |x: Option<f64>| x.map_or_else(|| "N/A".to_owned(), |x| x.to_string());
    format!("p50 {} ms, {}/s", number(report.latency_ms_p50), number(report.throughput_avg))
}

fn first_by<'a>(
    reports: impl Iterator<Item = &'a Report>,
    key: impl Fn(&Report) -> Option<f64>,
    better: impl Fn(f64, f64) -> bool,
) -> Option<&'a Report> {
    let mut best: Option<(&Report, f64)> = None;
    for report in reports {
        if let Some(value) = key(report)
            && best.is_none_or(|(_, b)| better(value, b))
        {
            best = Some((report, value));
        }
    }
    best.map(|(report, _)| report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n_models: u32, workers_per_model: u32, throughput: f64, p50: f64) -> Report {
        Report {
            status: "finished".into(),
            batch_size: 1,
            pipeline_size: 1,
            n_models,
            workers_per_model,
            throughput_avg: Some(throughput),
            latency_ms_p50: Some(p50),
            ..Report::default()
        }
    }

    #[test]
    fn the_best_rows_are_named() {
        let mut rows = vec![row(1, 1, 307.25, 3.251), row(16, 1, 2746.0, 5.641), row(16, 2, 2809.0, 10.246)];
        assert_eq!(
            verdict(&rows).unwrap(),
            "Lowest latency: 1 model x 1 worker (p50 3.251 ms, 307.25/s); highest throughput: 16 models x 2 workers (p50 10.246 ms, 2809/s)."
        );
        rows.insert(0, Report { status: "error".into(), ..row(64, 1, 9e9, 0.0) });
        assert!(verdict(&rows).unwrap().ends_with("; 1 of 4 configurations failed."));
        assert_eq!(verdict(&rows[..1]), None);
        assert!(verdict(&rows[1..2]).unwrap().starts_with("1 model x 1 worker has both"));
    }
}
