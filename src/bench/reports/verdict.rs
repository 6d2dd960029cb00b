//! One sentence about a sweep: which configuration is best for latency, for throughput and for cost, and why.

use super::beside::Measure;
use super::report::Report;
use ns_base::stats::round_to;
use ns_base::units::format_number;
use ns_device::EstimateMark;

/// A configuration that is best at something.
#[derive(Clone, Copy)]
pub(super) struct Best<'a> {
    purpose: &'static str,
    pub(super) measure: Measure,
    pub(super) report: &'a Report,
    /// The best configuration of another compiled model, if the error of the simulation is larger than the difference. Those of
    /// the same compiled model share its error.
    rival: Option<&'a Report>,
}

/// A purpose: its name, its measure in a row, and how that depends on the throughput.
type Purpose = (&'static str, fn(&Report) -> Option<f64>, Measure);

const HIGHEST_THROUGHPUT: &str = "highest throughput";

const PURPOSES: [Purpose; 3] = [
    ("lowest latency", |r| r.latency_ms_p99, Measure::Time),
    (HIGHEST_THROUGHPUT, |r| r.throughput_avg, Measure::Rate),
    ("lowest cost", |r| r.cost_per_1m_inf, Measure::Time),
];

/// The finished configurations with the lowest p99 latency, the highest throughput and the lowest cost.
pub(super) fn bests(reports: &[Report]) -> Vec<Best<'_>> {
    let finished = || reports.iter().filter(|r| r.is_finished());
    let of = |(purpose, value_of, measure): Purpose| {
        let (report, value) = best(finished(), value_of, measure == Measure::Rate)?;
        let others = finished().filter(|r| r.model_filename != report.model_filename);
        let second = best(others, value_of, measure == Measure::Rate);
        let rival = second.filter(|(_, second)| {
            report.interval_of(value, measure).is_some_and(|(low, high)| (low..=high).contains(second))
        });
        Some(Best { purpose, measure, report, rival: rival.map(|(rival, _)| rival) })
    };
    PURPOSES.into_iter().filter_map(of).collect()
}

/// Names the finished configurations with the lowest p99 latency, the highest throughput and the lowest cost, with
/// the figures that show it, and those that might be as good. `None` when none has finished.
pub fn verdict(reports: &[Report]) -> Option<String> {
    let finished = || reports.iter().filter(|r| r.is_finished());
    let bests = bests(reports);
    let differing = Differing::of(reports.iter());
    let mut text = described(&bests, differing)?;
    if let Some(throughput) = bests.iter().find(|b| b.purpose == HIGHEST_THROUGHPUT).map(|b| b.report) {
        // The rows of another model, batch size or instance are not slower or faster, but other work.
        let alike = finished().filter(|r| is_same_work(r, throughput));
        let latency = best(alike, |r| r.latency_ms_p99, false);
        let trade = latency.and_then(|(latency, _)| trade(latency, throughput, differing));
        text.push_str(&trade.unwrap_or_default());
    }
    text.push_str(&rivals(&bests, differing));
    let failed = reports.len() - finished().count();
    if failed > 0 {
        text.push_str(&format!("; {failed} of {} configurations failed", reports.len()));
    }
    text.push('.');
    Some(text)
}

/// Whether two rows do the same work on the same machine.
fn is_same_work(a: &Report, b: &Report) -> bool {
    let key = |r: &Report| (r.model_name.clone(), r.batch_size, r.instance_type.clone(), r.device_type.clone());
    key(a) == key(b)
}

/// What a label must name because rows differ in it.
#[derive(Clone, Copy)]
pub(super) struct Differing {
    models: bool,
    instances: bool,
}

impl Differing {
    pub(super) fn of<'a>(reports: impl Iterator<Item = &'a Report> + Clone) -> Self {
        let differs = |of: fn(&Report) -> &str| {
            let first = reports.clone().next().map(of);
            reports.clone().any(|r| Some(of(r)) != first)
        };
        Self { models: differs(|r| &r.model_name), instances: differs(|r| &r.instance_type) }
    }

    pub(super) fn label(self, report: &Report) -> String {
        let model = if self.models { format!("{}, ", report.model_name) } else { String::new() };
        let instance = if self.instances { format!(" on {}", report.instance_type) } else { String::new() };
        format!("{model}{}{instance}", report.label())
    }
}

/// The configurations that might be the best, because the error of the simulation is larger than the difference.
fn rivals(bests: &[Best], differing: Differing) -> String {
    let mut groups: Vec<(&Report, Vec<&str>)> = Vec::new();
    for best in bests {
        let Some(rival) = best.rival else { continue };
        match groups.iter_mut().find(|(report, _)| std::ptr::eq(*report, rival)) {
            Some((_, purposes)) => purposes.push(best.purpose),
            None => groups.push((rival, vec![best.purpose])),
        }
    }
    let one = |(report, purposes): (&Report, Vec<&str>)| {
        format!(
            "; within the error of the simulation, {} may have the {}",
            differing.label(report),
            list_purposes(&purposes)
        )
    };
    groups.into_iter().map(one).collect()
}

/// Each configuration once, with every measure in which it is the best.
fn described(bests: &[Best], differing: Differing) -> Option<String> {
    let mut groups: Vec<(&Report, Vec<&str>)> = Vec::new();
    for best in bests {
        match groups.iter_mut().find(|(report, _)| std::ptr::eq(*report, best.report)) {
            Some((_, purposes)) => purposes.push(best.purpose),
            None => groups.push((best.report, vec![best.purpose])),
        }
    }
    let sentences: Vec<String> = groups
        .iter()
        .map(|(report, purposes)| {
            // A configuration that is best at a measure has that measure.
            format!("{}: {} ({})", list_purposes(purposes), differing.label(report), measures(report).join(", "))
        })
        .collect();
    let text = sentences.join("; ");
    let first = text.chars().next()?;
    Some(first.to_uppercase().chain(text.chars().skip(1)).collect())
}

fn list_purposes(purposes: &[&str]) -> String {
    match purposes {
        [one] => (*one).to_owned(),
        [one, other] => format!("{one} and {other}"),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
        [] => String::new(),
    }
}

/// The measures that the row has.
fn measures(report: &Report) -> Vec<String> {
    let time = |value: f64| report.marked_time(&format_number(value));
    let p99 = report.latency_ms_p99.map(|ms| format!("p99 {} ms", time(ms)));
    let throughput = report.throughput_avg.map(|rate| format!("{}/s", report.marked_rate(&format_number(rate))));
    let cost = report.cost_per_1m_inf.map(|cost| format!("{} US$ per million", time(cost)));
    let reason = report.estimate.map(EstimateMark::note);
    p99.into_iter().chain(throughput).chain(cost).chain(reason).collect()
}

/// The latency cost of the highest throughput, against the row of the same work with the lowest latency, whose figures it names.
fn trade(latency: &Report, throughput: &Report, differing: Differing) -> Option<String> {
    let ratio = |a: Option<f64>, b: Option<f64>| Some(a? / b?).filter(|r| r.is_finite() && *r > 0.0);
    let faster = ratio(throughput.throughput_avg, latency.throughput_avg)?;
    let slower = ratio(throughput.latency_ms_p99, latency.latency_ms_p99)?;
    let [ms, rate] = [latency.latency_ms_p99?, latency.throughput_avg?].map(format_number);
    (!std::ptr::eq(latency, throughput)).then(|| {
        format!(
            "; that is {faster:.2} times the throughput and {slower:.2} times the p99 latency of {} (p99 {} ms, {}/s)",
            differing.label(latency),
            latency.marked_time(&ms),
            latency.marked_rate(&rate)
        )
    })
}

/// A difference of rates that decides nothing: less than the third digit of a figure shows.
const TIE: f64 = 1e-3;
/// A difference of times that decides nothing: as large as the jitter of a stage is by default.
const TIE_OF_TIMES: f64 = 1e-2;

/// The report with the largest or the smallest value of a measure, and that value. Of those that differ too little from it, the one whose hour
/// costs least, then the one with the fewest cores and workers; then the value decides, then the order.
pub fn best<'a>(
    reports: impl Iterator<Item = &'a Report>,
    measure: fn(&Report) -> Option<f64>,
    is_largest: bool,
) -> Option<(&'a Report, f64)> {
    // The sign makes the smallest the best.
    let signed = |value: f64| if is_largest { -value } else { value };
    let known: Vec<(&Report, f64)> =
        reports.filter_map(|r| Some((r, signed(measure(r).filter(|value| value.is_finite())?)))).collect();
    let least = known.iter().map(|(_, value)| *value).reduce(f64::min)?;
    let ties = known
        .into_iter()
        .filter(|(_, value)| *value <= least + least.abs() * if is_largest { TIE } else { TIE_OF_TIMES });
    let rank = |(r, value): &(&Report, f64)| (usd_per_hour(r), (r.n_devices, r.workers_per_model), *value);
    let order = |a: &(f64, (u64, u32), f64), b: &(f64, (u64, u32), f64)| {
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.total_cmp(&b.2)).is_gt()
    };
    let (report, value) = ties.reduce(|a, b| if order(&rank(&a), &rank(&b)) { b } else { a })?;
    Some((report, signed(value)))
}

/// The price of the instance that a row says with its cost, in hundredths of a cent, so that rows of one instance have one price; infinite without one.
fn usd_per_hour(report: &Report) -> f64 {
    let usd = report.cost_per_1m_inf.zip(report.throughput_avg).map(|(usd, rate)| usd * rate * 3_600.0 / 1e6);
    usd.map_or(f64::INFINITY, |usd| round_to(usd, 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n_models: u32, workers_per_model: u32, throughput: f64, p99: f64) -> Report {
        Report {
            status: "finished".into(),
            batch_size: 1,
            pipeline_size: 1,
            n_models,
            workers_per_model,
            throughput_avg: Some(throughput),
            n_devices: n_models.into(),
            latency_ms_p99: Some(p99),
            ..Report::default()
        }
    }

    #[test]
    fn the_best_rows_are_named_with_what_makes_them_so() {
        let mut rows = vec![row(1, 1, 307.25, 3.251), row(16, 1, 2746.0, 5.641), row(16, 2, 2809.0, 10.246)];
        assert_eq!(
            verdict(&rows).unwrap(),
            "Lowest latency: 1 model x 1 worker (p99 3.25 ms, 307/s); highest throughput: 16 models x 2 workers (p99 10.2 ms, 2,810/s); that is 9.14 times the throughput and 3.15 times the p99 latency of 1 model x 1 worker (p99 3.25 ms, 307/s)."
        );
        rows.insert(0, Report { status: "error".into(), ..row(64, 1, 9e9, 0.0) });
        assert!(verdict(&rows).unwrap().ends_with("; 1 of 4 configurations failed."));
        assert_eq!(verdict(&rows[..1]), None);
    }

    #[test]
    fn only_rows_of_the_same_work_are_weighed_against_each_other() {
        let of = |model: &str, batch_size, report| Report { model_name: model.into(), batch_size, ..report };
        let rows = [
            of("small", 1, row(1, 1, 900.0, 1.0)),
            of("large", 1, row(1, 1, 100.0, 9.0)),
            of("large", 8, row(1, 1, 800.0, 10.0)),
            of("large", 8, row(2, 2, 1600.0, 20.0)),
        ];
        assert_eq!(
            verdict(&rows).unwrap(),
            "Lowest latency: small, 1 model x 1 worker (p99 1.00 ms, 900/s); highest throughput: large, 2 models x 2 workers, batch 8 (p99 20.0 ms, 1,600/s); that is 2.00 times the throughput and 2.00 times the p99 latency of large, 1 model x 1 worker, batch 8 (p99 10.0 ms, 800/s)."
        );
        let text = verdict(&rows[..3]).unwrap();
        assert!(!text.contains("times"), "the two are of different models: {text}");
        let on = |instance: &str, report| Report { instance_type: instance.into(), ..report };
        let rows = [on("inf2.xlarge", row(1, 1, 9.0, 1.0)), on("trn1.2xlarge", row(1, 2, 10.0, 2.0))];
        let text = verdict(&rows).unwrap();
        assert!(text.contains("1 model x 2 workers on trn1.2xlarge (") && !text.contains("times"), "{text}");
    }

    #[test]
    fn a_second_within_the_error_of_the_simulation_is_named() {
        use super::super::beside::Interval;
        let of_batch = |batch_size: u32, throughput: f64, p50: f64| Report {
            batch_size,
            model_filename: format!("models/b{batch_size}.pt"),
            interval: Some(Interval {
                throughput_low: throughput * 0.9,
                throughput_high: throughput * 1.05,
                ..Interval::default()
            }),
            ..row(2, 2, throughput, p50)
        };
        let rows = [of_batch(1, 3_000.0, 1.0), of_batch(8, 4_000.0, 2.0), of_batch(4, 3_800.0, 1.5)];
        let text = verdict(&rows).unwrap();
        assert!(
            text.ends_with(
                "; within the error of the simulation, 2 models x 2 workers, batch 4 may have the highest throughput."
            ),
            "{text}"
        );
        // Rows of one compiled model share its error, and a difference larger than the error decides.
        let shared = Report { n_models: 1, throughput_avg: Some(3_900.0), ..rows[1].clone() };
        for reports in [vec![rows[1].clone(), shared], vec![rows[1].clone(), of_batch(4, 3_500.0, 3.0)]] {
            let text = verdict(&reports).unwrap();
            assert!(!text.contains("error of the simulation"), "{text}");
        }
    }

    #[test]
    fn figures_of_operators_without_a_known_cost_are_bounds() {
        let estimate = Some(EstimateMark { unknown: 1, estimated: 0 });
        let rows = [Report { estimate, cost_per_1m_inf: Some(0.117), ..row(1, 1, 307.25, 3.251) }];
        assert_eq!(
            verdict(&rows).unwrap(),
            "Lowest latency, highest throughput and lowest cost: 1 model x 1 worker (p99 at least 3.25 ms, at most 307/s, at least 0.117 US$ per million, 1 operator without a known cost)."
        );
    }

    #[test]
    fn a_measure_that_is_not_there_is_not_said() {
        let latency_only = Report { throughput_avg: None, ..row(1, 1, 0.0, 1.0) };
        assert_eq!(verdict(&[latency_only]).unwrap(), "Lowest latency: 1 model x 1 worker (p99 1.00 ms).");
        let throughput_only = Report { latency_ms_p99: None, ..row(1, 1, 12.5, 0.0) };
        assert_eq!(verdict(&[throughput_only]).unwrap(), "Highest throughput: 1 model x 1 worker (12.5/s).");
    }

    /// Equal figures cost the fewest dollars an hour, on the fewest cores.
    #[test]
    fn ties_go_to_the_cheaper_row() {
        let of = |instance: &str, usd_per_hour: f64, report: Report| Report {
            instance_type: instance.into(),
            cost_per_1m_inf: report.throughput_avg.map(|rate| usd_per_hour * 1e6 / 3_600.0 / rate),
            ..report
        };
        let rows = [
            of("trn1.32xlarge", 21.5, row(1, 1, 1_020.0, 0.9830)),
            of("trn1.2xlarge", 1.34375, row(2, 1, 2_040.0, 0.9834)),
            of("trn1.2xlarge", 1.34375, row(1, 1, 1_020.1, 0.9832)),
            of("inf2.xlarge", 0.7582, row(1, 1, 1_010.0, 0.9930)),
        ];
        let (found, p99) = best(rows.iter(), |r| r.latency_ms_p99, false).unwrap();
        assert_eq!((found.instance_type.as_str(), found.n_models, p99), ("trn1.2xlarge", 1, 0.9832));
        assert_eq!(best(rows[..2].iter(), |r| r.latency_ms_p99, false).unwrap().1, 0.9834);
        let (fastest, rate) = best(rows.iter(), |r| r.throughput_avg, true).unwrap();
        assert_eq!((fastest.n_models, rate), (2, 2_040.0));
        assert_eq!(best([].iter(), |r| r.throughput_avg, true), None);
    }

    #[test]
    fn one_row_may_be_best_at_everything() {
        let cheap = Report { cost_per_1m_inf: Some(0.117), ..row(16, 2, 2809.0, 10.246) };
        let text = verdict(std::slice::from_ref(&cheap)).unwrap();
        assert_eq!(
            text,
            "Lowest latency, highest throughput and lowest cost: 16 models x 2 workers (p99 10.2 ms, 2,810/s, 0.117 US$ per million)."
        );
        let rows = [row(1, 1, 307.25, 3.251), cheap];
        let text = verdict(&rows).unwrap();
        assert!(text.contains("highest throughput and lowest cost: 16 models x 2 workers"), "{text}");
    }
}
