//! Everything a run measured, as `return_timers` gives it, and the reports computed from it (`get_reports`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use ns_base::{Refusal, SimTime, refuse};

use super::beside::Beside;
use super::report::{REPORT_KEYS, Report, ReportDetail};
use crate::config::configuration::Configuration;
use crate::measured::measurement::Measurement;
use crate::measured::timer::Timer;

/// One configuration and its measurement, latencies in order of completion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResults {
    pub configuration: Configuration,
    pub measurement: Measurement,
    #[serde(default, skip_serializing_if = "Beside::is_empty")]
    pub beside: Beside,
}

/// Most numbers of a result that is read: 64 MB of latencies.
const MOST_NUMBERS: usize = 8 << 20;

/// Keys of the configuration part of a result, the first keys of a report: NeuronPerf's `config`.
pub(crate) const CONFIG_KEYS: &[&str] = REPORT_KEYS.split_at(16).0;

impl RunResults {
    /// NeuronPerf's pair `{"config": ..., "results": ...}` with the timers, and under `neuronscope` the inputs of a
    /// report; `report` is that of the run. A timer is its sum and its count: NeuronPerf keeps each start and end, which costs at least
    /// 32 bytes per inference for each of five timers; [`crate::TimedResults`] has them. Fails when the encoder fails, which does
    /// not happen for numbers in memory.
    pub fn document(&self, report: &Report) -> Result<impl Serialize + '_, serde_json::Error> {
        let m = &self.measurement;
        let report = serde_json::to_value(report)?;
        let config =
            CONFIG_KEYS.iter().map(|k| ((*k).to_owned(), report.get(*k).cloned().unwrap_or_default())).collect();
        let t = &m.timers;
        let timers = [
            ("env_setup", &t.env_setup),
            ("setup", &t.setup),
            ("load", &t.load),
            ("input", &t.input),
            ("warmup", &t.warmup),
            ("preprocess", &t.preprocess),
            ("infer", &t.infer),
            ("postprocess", &t.postprocess),
            ("e2e", &t.e2e),
            ("worker", &t.worker),
        ];
        let timers: Map<String, Value> =
            timers.into_iter().map(|(name, list)| (name.to_owned(), list.iter().map(timer).collect())).collect();
        let results = json!({
            "workers_per_model": self.configuration.workers_per_model,
            "n_infs": m.inferences() + m.warmups,
            "status": report.get("status"),
            "total_s": (m.bring_up + m.elapsed).to_secs_f64(),
            "timers": timers,
            "cpu_percents": [],
            "mem_percents": [],
        });
        Ok(ResultDocument { config, neuronscope: self, results })
    }
}

/// As a value, each latency would take four times its eight bytes.
#[derive(Serialize)]
struct ResultDocument<'a> {
    config: Map<String, Value>,
    neuronscope: &'a RunResults,
    results: Value,
}

fn timer(timer: &Timer) -> Value {
    json!({"count": timer.count, "total_s": timer.total.to_secs_f64(), "avg_ms": timer.avg_ms()})
}

/// NeuronPerf's `get_reports`: computes the reports of a document of results, as the runs themselves made them, with another price if
/// one is given. Entries that are not results are named in the second list and left out. Fails when the document is not one of
/// results.
pub fn get_reports(text: &str, cost_per_hour: Option<f64>) -> Result<(Vec<Report>, Vec<String>), Refusal> {
    let document: &RawValue = serde_json::from_str(text).map_err(|e| refuse!("the results are not JSON: {e}"))?;
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(document.get()).unwrap_or_default();
    let list = fields.get("results").and_then(|list| serde_json::from_str::<Vec<&RawValue>>(list.get()).ok());
    let Some(entries) = list else {
        return Err(refuse!("this JSON has no list \"results\"; print one with bench --return-timers"));
    };
    let (mut reports, mut skipped) = (Vec::new(), Vec::new());
    for (i, entry) in entries.into_iter().enumerate() {
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(entry.get()).unwrap_or_default();
        let own = fields.get("neuronscope").map_or("null", |own| own.get());
        if own.bytes().filter(|byte| *byte == b',').count() > MOST_NUMBERS {
            let most = MOST_NUMBERS;
            skipped.push(format!(
                "result {} has more than {most} numbers and is left out; measure for a shorter time",
                i + 1
            ));
            continue;
        }
        match serde_json::from_str::<RunResults>(own) {
            Ok(mut result) if result.measurement.is_plausible() => {
                result.configuration.cost_per_hour = cost_per_hour.or(result.configuration.cost_per_hour);
                let mut report = Report::of(&result.configuration, &mut result.measurement, ReportDetail::Summary);
                result.beside.put(&mut report);
                reports.push(report);
            }
            Ok(_) => skipped.push(format!("result {} contradicts itself and is left out", i + 1)),
            Err(e) => skipped.push(format!("result {} cannot be read and is left out: {e}", i + 1)),
        }
    }
    Ok((reports, skipped))
}

impl Measurement {
    /// Whether the counts agree with each other, which may fail in a file edited by hand.
    fn is_plausible(&self) -> bool {
        let in_seconds: u64 = self.seconds().iter().map(|s| s.count).fold(0, u64::saturating_add);
        in_seconds == self.inferences()
            && self.in_window <= self.inferences()
            && self.latencies_ps().iter().all(|l| *l <= SimTime::from_secs(1_000_000).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchConfig, Interval, Scheduler, ServiceTimes, SimulatedExecutor, expand};

    impl RunResults {
        fn report(&self, detail: ReportDetail) -> Report {
            let mut report = Report::of(&self.configuration, &mut self.measurement.clone(), detail);
            self.beside.clone().put(&mut report);
            report
        }
    }

    fn results_to_json(results: &[RunResults]) -> serde_json::Result<String> {
        let text = |r: &RunResults| serde_json::to_string(&r.document(&r.report(ReportDetail::Summary))?);
        let texts = results.iter().map(text).collect::<Result<Vec<_>, _>>()?;
        Ok(format!("{{\"results\":[{}]}}\n", texts.join(",")))
    }

    fn results() -> Vec<RunResults> {
        let config = BenchConfig { duration_s: 3.0, cost_per_hour: Some(1.0), ..BenchConfig::default() };
        let times = ServiceTimes {
            load: SimTime::from_us(10),
            device: vec![SimTime::from_us(9_000)],
            ..ServiceTimes::default()
        };
        let run = |configuration: Configuration| {
            let executor = SimulatedExecutor::new(&configuration, &times);
            let mut scheduler = Scheduler::new(&configuration, executor, 0).unwrap();
            scheduler.run_to_end().unwrap();
            let interval = Interval { throughput_low: 90.0, throughput_high: 120.0, ..Interval::default() };
            let beside = Beside::of(&Report { interval: Some(interval), ..Report::default() });
            RunResults { measurement: scheduler.into_measurement(), configuration, beside }
        };
        expand(&config).unwrap().configurations.into_iter().map(run).collect()
    }

    #[test]
    fn reports_of_the_file_are_the_runs_own() {
        let results = results();
        let text = results_to_json(&results).unwrap();
        let (reports, skipped) = get_reports(&text, None).unwrap();
        assert!(skipped.is_empty());
        let own: Vec<Report> = results.iter().map(|r| r.report(ReportDetail::Summary)).collect();
        assert_eq!(reports, own);
        assert!(reports.iter().all(|r| r.interval.is_some_and(|i| i.throughput_low == 90.0)));
        let (dearer, _) = get_reports(&text, Some(2.0)).unwrap();
        let cost = |r: &Report| r.cost_per_1m_inf.unwrap();
        assert!((cost(&dearer[0]) / cost(&reports[0]) - 2.0).abs() < 0.01);
        let document: Value = serde_json::from_str(&text).unwrap();
        let first = &document["results"][0];
        assert_eq!(first["results"]["timers"]["infer"].as_array().unwrap().len(), 1);
        assert_eq!(first["config"]["n_models"], 1);
        assert_eq!(first["results"]["n_infs"].as_u64(), reports[0].total_infs);
    }

    #[test]
    fn entries_that_are_no_results_are_named_and_left_out() {
        let mut document: Value = serde_json::from_str(&results_to_json(&results()).unwrap()).unwrap();
        document["results"][1] = json!({"config": {}});
        document["results"][2]["neuronscope"]["measurement"]["in_window"] = json!(u64::MAX);
        let (reports, skipped) = get_reports(&document.to_string(), None).unwrap();
        assert_eq!((reports.len(), skipped.len()), (2, 2));
        assert!(skipped[0].starts_with("result 2 cannot be read") && skipped[1].starts_with("result 3 contradicts"));
        assert!(get_reports("{}", None).unwrap_err().to_string().contains("--return-timers"));
        assert!(get_reports("{\"resu", None).is_err());
    }
}
