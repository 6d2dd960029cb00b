//! Reads reports of other tools into our own table: NeuronPerf's CSV and JSON, our own of any version, results of
//! `--return-timers`, and lines of PyTorch/XLA's benchmark runner. Rows say that they are imported and from which file.

mod columns;
mod csv;
mod json;
mod jsonl;
mod other_tools;
mod timers;

use crate::reports::report::Report;
use crate::reports::summarise::cost_per_million;
use ns_base::stats::round_to;
use ns_base::{Diagnostics, Refusal, refuse};

pub use other_tools::other_tool;

/// Reports read from a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedReports {
    /// The rows, in the order of the file.
    pub reports: Vec<Report>,
    /// Notes on problems: unknown columns, values that are not numbers, a missing end.
    pub diagnostics: Diagnostics,
}

/// Reads the reports of a file, whatever its kind; the content decides, not the name. Fails when the file does not hold a report.
pub fn read_reports(file: &str, bytes: &[u8]) -> Result<ImportedReports, Refusal> {
    read_reports_at(file, bytes, None)
}

/// As [`read_reports`], with a price in US dollars per hour for reports computed from timers: timers hold the inputs of
/// a cost, whereas a report only has the result. Fails as [`read_reports`].
pub fn read_reports_at(file: &str, bytes: &[u8], cost_per_hour: Option<f64>) -> Result<ImportedReports, Refusal> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Some(refusal) = other_tool(bytes) {
        return Err(refuse!("{file}: {refusal}"));
    }
    let mut imported = match std::str::from_utf8(bytes) {
        Ok(text) => read_text(text, cost_per_hour),
        // A file that was cut may end inside a character.
        Err(e) if e.error_len().is_none() && e.valid_up_to() > 0 => {
            read_text(std::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or_default(), cost_per_hour)
        }
        Err(e) => return Err(not_text(file, e.valid_up_to())),
    }
    .and_then(|imported| if imported.reports.is_empty() { Err(refuse!("it has no rows")) } else { Ok(imported) })
    .map_err(|reason| without_results(file, &reason))?;
    for report in &mut imported.reports {
        report.source = "imported".to_owned();
        report.machine = Some(file.to_owned());
        report.cost_per_1m_inf = exact_cost(report, cost_per_hour);
    }
    if let Some(usd) = cost_per_hour {
        let cost = |r: &Report| r.throughput_avg.and_then(|rate| cost_per_million(usd, rate));
        let is_of_price = |r: &Report| r.cost_per_1m_inf.is_some() && r.cost_per_1m_inf == cost(r);
        if !imported.reports.iter().any(is_of_price) {
            imported.diagnostics.add("price_not_used", None, || {
                format!("the price of {usd} US$ an hour is not used: only timers have a cost to compute, and these rows have their own")
            });
        }
    }
    Ok(imported)
}

fn not_text(file: &str, byte: usize) -> Refusal {
    refuse!("{file}: is not text in UTF-8 (byte {byte}); give a CSV, JSON or JSONL file of benchmark results")
}

fn without_results(file: &str, reason: &Refusal) -> Refusal {
    refuse!(
        "{file}: no benchmark results were found in it ({reason}); the formats are NeuronPerf's CSV and JSON, results of bench \
         --return-timers and results.jsonl of PyTorch/XLA"
    )
}

/// Files have the cost in thousandths of a dollar. It is exact where throughput and price are known: the price that was
/// given, or else that of the instance. A price that leads to another cost than the file's is not the one it was made with.
fn exact_cost(report: &Report, cost_per_hour: Option<f64>) -> Option<f64> {
    let (written, rate) = (report.cost_per_1m_inf?, report.throughput_avg);
    let published = ns_machine::arch::instance(&report.instance_type).and_then(|i| i.usd_per_hour);
    let costs = [cost_per_hour, published].into_iter().flatten().filter_map(|usd| cost_per_million(usd, rate?));
    let mut rounding_to_it = costs.filter(|cost| round_to(*cost, 3) == written);
    rounding_to_it.next().or(Some(written))
}

fn read_text(text: &str, cost_per_hour: Option<f64>) -> Result<ImportedReports, Refusal> {
    let start = text.trim_start();
    let first_line = start.lines().next().unwrap_or_default().trim_end();
    match start.chars().next() {
        None => Err(refuse!("it is empty")),
        Some('{') if first_line.ends_with('}') && jsonl::is_record(first_line) => Ok(jsonl::read(start)),
        Some('{' | '[') => json::read(start, cost_per_hour),
        Some(_) => csv::read(start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{CSV_COLS, to_csv, to_json};
    use crate::{BenchConfig, ConfigurationRun, ServiceTimes, expand};
    use ns_base::{NeverCancel, SimTime};

    fn own() -> Vec<Report> {
        let times = ServiceTimes { device: vec![SimTime::from_us(900)], ..ServiceTimes::default() };
        let config = BenchConfig { duration_s: 3.0, n_models: Some(vec![1, 9]), ..BenchConfig::default() };
        let run = |c| ConfigurationRun::new(c, Ok(&times)).run(&NeverCancel, Default::default()).report;
        expand(&config).unwrap().configurations.into_iter().map(run).collect()
    }

    fn in_file_decimals(reports: &[Report]) -> Vec<Report> {
        reports.iter().map(Report::in_file_decimals).collect()
    }

    #[test]
    fn a_cost_of_another_price_stays_as_the_file_has_it() {
        let cost = |written: &str, given| {
            let text = format!("instance_type,throughput_avg,cost_per_1m_inf\ninf2.xlarge,3516.0,{written}\n");
            read_reports_at("a.csv", text.as_bytes(), given).unwrap().reports[0].cost_per_1m_inf.unwrap()
        };
        let exact = |usd: f64| usd * (1e6 / (3_600.0 * 3_516.0));
        let published = ns_machine::arch::instance("inf2.xlarge").unwrap().usd_per_hour.unwrap();
        let written = round_to(exact(published), 3).to_string();
        assert_eq!(cost(&written, None), exact(published));
        assert_eq!(cost(&round_to(exact(9.0), 3).to_string(), Some(9.0)), exact(9.0));
        assert_eq!((cost("0.5", None), cost("0.51234", Some(9.0))), (0.5, 0.51234));
        let text = "instance_type,throughput_avg,cost_per_1m_inf\ninf2.xlarge,3516.0,0.5\n";
        let unused = |usd| read_reports_at("a.csv", text.as_bytes(), usd).unwrap().diagnostics.count("price_not_used");
        assert_eq!([unused(Some(9.0)), unused(None)], [1, 0]);
    }

    fn as_imported(mut reports: Vec<Report>, file: &str) -> Vec<Report> {
        for r in &mut reports {
            (r.source, r.machine) = ("imported".to_owned(), Some(file.to_owned()));
        }
        reports
    }

    #[test]
    fn our_own_json_reads_back_whole_and_csv_in_its_columns() {
        let json = to_json(&own()).unwrap();
        let read = read_reports("a.json", json.as_bytes()).unwrap();
        assert_eq!(in_file_decimals(&read.reports), as_imported(in_file_decimals(&own()), "a.json"));
        let costs = |reports: &[Report]| reports.iter().filter_map(|r| r.cost_per_1m_inf).collect::<Vec<f64>>();
        let (read_costs, own_costs) = (costs(&read.reports), costs(&own()));
        assert!(!read_costs.is_empty() && read_costs.len() == own_costs.len());
        for (read, own) in read_costs.into_iter().zip(own_costs) {
            assert!((read / own - 1.0).abs() < 1e-6, "{read} {own}: the price of the instance makes it exact");
        }
        assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
        let csv = to_csv(&own(), CSV_COLS).unwrap();
        let read = read_reports("a.csv", format!("\u{feff}{csv}").as_bytes()).unwrap();
        assert_eq!(to_csv(&read.reports, CSV_COLS).unwrap(), csv);
    }

    #[test]
    fn neuronperfs_json_with_nan_and_what_it_does_not_know() {
        let text = r#"[{"model_filename": "m.pt", "n_models": 1, "throughput_avg": NaN, "latency_ms_p50": 3.25,
            "batch_size": 4, "status": "finished", "color": "red", "n_devices": 2.0}]"#;
        let read = read_reports("np.json", text.as_bytes()).unwrap();
        let row = &read.reports[0];
        assert_eq!((row.batch_size, row.n_devices, row.throughput_avg), (4, 2, None));
        assert_eq!((row.latency_ms_p50, row.is_finished()), (Some(3.25), true));
        assert_eq!(read.diagnostics.count("unknown_key"), 1);
    }

    #[test]
    fn a_heading_in_the_middle_is_no_row_and_no_figure_is_below_zero() {
        let text = "n_models,throughput_avg,latency_ms_p50\n1,5.0,3\nn_models,throughput_avg,latency_ms_p50\n2,-5,4\n";
        let read = read_reports("np.csv", text.as_bytes()).unwrap();
        let rows: Vec<_> = read.reports.iter().map(|r| (r.n_models, r.throughput_avg, r.latency_ms_p50)).collect();
        assert_eq!(rows, [(1, Some(5.0), Some(3.0)), (2, None, Some(4.0))]);
        assert_eq!((read.diagnostics.count("heading_again"), read.diagnostics.count("bad_value")), (1, 1));
    }

    #[test]
    fn a_level_that_a_file_does_not_say_is_absent() {
        for text in [r#"[{"n_models":1,"throughput_avg":5.0,"status":"finished"}]"#, "n_models,throughput_avg\n1,5.0\n"]
        {
            let read = read_reports("np", text.as_bytes()).unwrap();
            assert_eq!(read.reports[0].performance_level, None, "{text}");
            let written: serde_json::Value = serde_json::from_str(&to_json(&read.reports).unwrap()).unwrap();
            assert!(written["reports"][0]["performance_level"].is_null());
            let csv = to_csv(&read.reports, &["n_models", "performance_level"]).unwrap();
            assert_eq!(csv.lines().nth(1), Some("1,N/A"));
        }
        let read = read_reports("np", b"n_models,throughput_avg,performance_level\n1,5.0,0\n").unwrap();
        assert_eq!(read.reports[0].performance_level, Some(0));
    }

    #[test]
    fn a_cut_file_gives_the_rows_before_the_cut() {
        let json = to_json(&own()).unwrap();
        let cut = &json[..json.len() * 3 / 5];
        let read = read_reports("cut.json", cut.as_bytes()).unwrap();
        let own_rows = as_imported(in_file_decimals(&own()), "cut.json");
        assert_eq!(in_file_decimals(&read.reports), own_rows[..read.reports.len()]);
        assert!((1..4).contains(&read.reports.len()) && read.diagnostics.count("truncated") == 1);
        let csv = to_csv(&own(), CSV_COLS).unwrap();
        let read = read_reports("cut.csv", &csv.as_bytes()[..csv.len() - 60]).unwrap();
        assert_eq!((read.reports.len(), read.diagnostics.count("truncated")), (3, 1));
    }

    #[test]
    fn what_is_no_report_says_so() {
        let matmult =
            read_reports("m.json", br#"{"neuronscope_matmult": 1, "reports": [{"status": "finished"}]}"#).unwrap_err();
        assert!(matmult.to_string().contains("holds results of neuronscope matmult"), "{matmult}");
        let message = |bytes: &[u8]| read_reports("x", bytes).unwrap_err().to_string();
        assert!(message(b"").contains("it is empty"));
        assert!(message(b"\xff\xfe").contains("byte 0"));
        assert!(message(b"name,colour\na,b\n").contains("no column"));
        assert!(message(b"{\"traceEvents\": []}").contains("no list"));
        assert!(message(b"[1, 2]").contains("no rows"));
        assert!(message(b"throughput_avg,n_models\n").contains("no rows"));
    }
}
