//! The rate of a microbenchmark's products, from its throughput.

use ns_base::convert::u64_to_f64;
use ns_model::ModelSpec;

use super::report::Report;

/// The TOPS of the row with the highest throughput, for rows of the model `matmult`, by the guide's formula: two operations for each
/// multiply-add of a sample's chain. `None` without such a row.
pub fn products_rate<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Option<String> {
    let rate = |report: &'a Report| {
        let spec: ModelSpec = report.model_name.parse().ok().filter(|spec: &ModelSpec| spec.id() == "matmult")?;
        let (n, loops) = (u64_to_f64(spec.settings().int("n")), u64_to_f64(spec.settings().int("loop_count")));
        let throughput = report.throughput_avg.filter(|_| report.is_finished())?;
        Some((report, throughput * 2.0 * n * n * n * loops / 1e12))
    };
    let (report, tops) = reports.into_iter().filter_map(rate).max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "{}: {tops:.2} TOPS on all of its cores together, by 2 N^3 L operations a sample; neuronscope matmult times one core and its parts.",
        report.label()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_row_has_the_guides_operations() {
        let row = |model_name: &str, throughput: f64| Report {
            model_name: model_name.into(),
            status: "finished".into(),
            throughput_avg: Some(throughput),
            ..Report::default()
        };
        let rows =
            [row("matmult:n=1000,loop_count=10", 40.0), row("matmult:n=1000,loop_count=10", 50.0), row("nn", 9e9)];
        let line = products_rate(&rows).unwrap();
        // 50 x 2 x 1e9 x 10 operations a second.
        assert!(line.contains(": 1.00 TOPS on all of its cores together"), "{line}");
        assert_eq!(products_rate(&rows[2..]), None);
    }
}
