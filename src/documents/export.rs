//! The files a session writes; their formats are contracts, described in docs/formats.

use serde::{Deserialize, Serialize};

use super::summary_json::SummaryJson;
use super::{OperatorRow, OperatorTable};
use ns_analysis::summary::OpenSummary;
use ns_base::stats::round_to;
use ns_base::{Diagnostic, SimTime};
use ns_device::EstimateMark;
use ns_insight::Insights;
use ns_neuron::step::{StepCosts, Waits};
use ns_profile::Profile;

/// A file to save.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedFile {
    /// Name to save it under.
    pub file_name: String,
    /// Media type.
    pub mime: String,
    pub bytes: Vec<u8>,
    /// What the format of the file cannot hold.
    pub left_out: Vec<Diagnostic>,
}

impl ExportedFile {
    /// A file whose format holds everything.
    pub fn new(file_name: String, mime: &str, bytes: Vec<u8>) -> Self {
        Self { file_name, mime: mime.to_owned(), bytes, left_out: Vec::new() }
    }
}

/// `neuronscope profile --json`.
#[derive(Serialize)]
struct ProfileJson<'a> {
    device_window_ns: u64,
    /// Operators whose cost is a guess; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<EstimateMark>,
    modelled_compile_s: Option<f64>,
    modelled_load_ms: Option<f64>,
    step: Option<StepJson>,
    framework_ops: Vec<OperatorJson<'a>>,
    hlo_ops: Vec<OperatorJson<'a>>,
    timeline_events: u64,
}

/// The step around the execution, milliseconds.
#[derive(Serialize)]
struct StepJson {
    host_ms: f64,
    record_ms: f64,
    link_ms: f64,
    device_ms: f64,
    waited_ms: f64,
    ahead_ms: f64,
}

impl StepJson {
    fn of(step: &StepCosts) -> Self {
        let ms = |time: SimTime| round_to(time.to_ms_f64(), 6);
        Self {
            host_ms: ms(step.host()),
            record_ms: ms(step.record),
            link_ms: ms(step.link),
            device_ms: ms(step.device()),
            waited_ms: ms(step.time(Waits::ForEachResult)),
            ahead_ms: ms(step.time(Waits::Never)),
        }
    }
}

#[derive(Serialize)]
struct OperatorJson<'a> {
    name: &'a str,
    occurrences: u64,
    device: u32,
    core: u32,
    time_ns: u64,
    time_percent: f64,
}

impl<'a> OperatorJson<'a> {
    fn of(row: &'a OperatorRow) -> Self {
        Self {
            name: &row.name,
            occurrences: row.occurrences,
            device: row.device.unwrap_or(0),
            core: row.core.unwrap_or(0),
            time_ns: row.time_ns,
            time_percent: round_to(row.time_percent, 2),
        }
    }
}

pub fn profile_json(
    (device_window_ns, estimate): (u64, Option<EstimateMark>),
    step: Option<&StepCosts>,
    framework: &OperatorTable,
    hlo: &OperatorTable,
    timeline_events: u64,
) -> Result<Vec<u8>, String> {
    to_json(&ProfileJson {
        device_window_ns,
        estimate,
        modelled_compile_s: step.map(|s| round_to(s.first.compile.to_secs_f64(), 3)),
        modelled_load_ms: step.map(|s| round_to(s.first.load.to_ms_f64(), 3)),
        step: step.map(StepJson::of),
        framework_ops: framework.rows.iter().map(OperatorJson::of).collect(),
        hlo_ops: hlo.rows.iter().map(OperatorJson::of).collect(),
        timeline_events,
    })
}

pub fn summary_json(insights: &Insights, estimate: Option<EstimateMark>) -> Result<Vec<u8>, String> {
    to_json(&SummaryJson { insights, estimate })
}

pub fn open_json(profile: &Profile) -> Result<Vec<u8>, String> {
    to_json(&OpenSummary::of(profile))
}

fn to_json(value: &impl Serialize) -> Result<Vec<u8>, String> {
    let mut json = serde_json::to_vec_pretty(value).map_err(|e| e.to_string())?;
    json.push(b'\n');
    Ok(json)
}
