//! One open profile.

use super::kept_view::KeptView;
use crate::Shared;
use ns_base::{Few, Interval, TraceNs};
use ns_profile::neuron::{ENGINES_PROCESS, TRACE_RUN_FORMAT};
use ns_session::share::{ProfileLink, Tool, file_label};
use ns_session::{OperatorKind, OperatorTable, ProfileInfo, ProfileOrigin, ProfileSpec};
use ns_view::timeline::TrackId;

/// An open profile, with the shell's handle of the worker that holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRun<Worker> {
    /// Its number on this page.
    pub id: u32,
    pub info: Shared<ProfileInfo>,
    pub engine: Worker,
    /// The operator tables that were requested.
    pub operators: Few<OperatorKind, CountedOperators>,
    /// Its last view, while another run is shown.
    pub(super) kept: KeptView,
    /// The name that the Neuron plugin would give it; `None` for files.
    pub run_name: Option<String>,
}

/// An operator table and the counted span, `None` for all of the profile.
pub type CountedOperators = (Option<Interval<TraceNs>>, Shared<OperatorTable>);

impl<Worker> OpenRun<Worker> {
    /// The table of this run that a tool shows.
    pub fn operator_kind(&self, tool: Tool) -> Option<OperatorKind> {
        let has = |kind| self.info.operators.contains(&kind);
        match tool {
            Tool::OperatorFramework if has(OperatorKind::Framework) => Some(OperatorKind::Framework),
            Tool::OperatorHlo if has(OperatorKind::Hlo) => Some(OperatorKind::Hlo),
            Tool::OperatorFramework | Tool::OperatorHlo => self.info.operators.first().copied(),
            _ => None,
        }
    }

    /// Whether it is a whole benchmark run.
    pub fn is_benchmark(&self) -> bool {
        matches!(self.info.origin, ProfileOrigin::Benchmark(_))
    }

    /// Whether its timeline is of a whole program, the tool `trace`: a benchmark run, or a trace run of the Neuron plugin.
    pub fn is_trace(&self) -> bool {
        let is_trace_file =
            matches!(&self.info.origin, ProfileOrigin::File { format, .. } if format == TRACE_RUN_FORMAT);
        self.is_benchmark() || is_trace_file
    }

    /// The specification of a simulated run; `None` for files.
    pub fn spec(&self) -> Option<&ProfileSpec> {
        match &self.info.origin {
            ProfileOrigin::Simulated(spec) => Some(spec),
            ProfileOrigin::Benchmark(trace) => Some(&trace.spec),
            ProfileOrigin::File { .. } => None,
        }
    }

    /// Whether it is what a link names.
    pub fn is_of(&self, link: &ProfileLink) -> bool {
        match (&self.info.origin, &link.file) {
            (ProfileOrigin::File { name, .. }, Some(file)) => name == file,
            (ProfileOrigin::File { .. }, None) | (_, Some(_)) => false,
            _ => self.spec() == Some(&link.spec) && self.is_benchmark() == (link.tool == Tool::Trace),
        }
    }

    /// Its name in the Run selector.
    pub fn label(&self) -> String {
        let name = file_label(&self.info.name);
        match &self.run_name {
            Some(run) => format!("{name} ({run})"),
            None => name.into_owned(),
        }
    }

    /// Tracks of engines, if it has any.
    pub fn engine_tracks(&self) -> Vec<TrackId> {
        let sections = self.info.outline.sections.iter().filter(|s| s.name.starts_with(ENGINES_PROCESS));
        sections.flat_map(|s| s.tracks.iter().map(|t| t.id)).collect()
    }

    /// Whether it is a profile of NeuronCores.
    pub fn is_neuron(&self) -> bool {
        let neuron = [OperatorKind::Framework, OperatorKind::Hlo];
        self.info.operators.iter().any(|kind| neuron.contains(kind))
    }
}
