//! One open profile.

use std::collections::BTreeMap;

use super::kept_view::KeptView;
use crate::base::{Interval, TraceNs};
use crate::insight::Insights;
use crate::page::Shared;
use crate::profile::neuron::{ENGINES_PROCESS, TRACE_RUN_FORMAT};
use crate::session::share::Tool;
use crate::session::{OperatorKind, OperatorTable, ProfileInfo, ProfileOrigin, ProfileSpec};
use crate::view::timeline::TrackId;

/// An open profile and the worker that holds it, as a shell names workers.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRun<Worker> {
    /// Its number on this page.
    pub id: u32,
    /// What it is.
    pub info: Shared<ProfileInfo>,
    /// Its worker.
    pub engine: Worker,
    /// The operator tables that were asked for.
    pub operators: BTreeMap<OperatorKind, CountedOperators>,
    /// How it was last looked at, while another one is shown.
    pub(super) kept: KeptView,
    /// What the Neuron plugin would call it; none for files.
    pub run_name: Option<String>,
    /// Its analysis, once it was asked for; the inner one is absent when the profile has none.
    pub insights: Option<Option<Shared<Insights>>>,
}

/// An operator table and the span that was counted, none for all of the profile.
pub type CountedOperators = (Option<Interval<TraceNs>>, Shared<OperatorTable>);

impl<Worker> OpenRun<Worker> {
    /// Which table a tool shows of this run.
    #[must_use]
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
    #[must_use]
    pub fn is_benchmark(&self) -> bool {
        matches!(self.info.origin, ProfileOrigin::Benchmark(_))
    }

    /// Whether its timeline is of a whole program, the tool `trace`: a benchmark run, or a trace run of the Neuron plugin.
    #[must_use]
    pub fn is_trace(&self) -> bool {
        let is_trace_file =
            matches!(&self.info.origin, ProfileOrigin::File { format, .. } if format == TRACE_RUN_FORMAT);
        self.is_benchmark() || is_trace_file
    }

    /// What was simulated; none for files.
    #[must_use]
    pub fn spec(&self) -> Option<&ProfileSpec> {
        match &self.info.origin {
            ProfileOrigin::Simulated(spec) => Some(spec),
            ProfileOrigin::Benchmark(trace) => Some(&trace.spec),
            ProfileOrigin::File { .. } => None,
        }
    }

    /// Its name in the Run selector.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.run_name {
            Some(name) => format!("{name} ({})", self.info.name),
            None => self.info.name.clone(),
        }
    }

    /// Tracks of engines, where it has them.
    #[must_use]
    pub fn engine_tracks(&self) -> Vec<TrackId> {
        let sections = self.info.outline.sections.iter().filter(|s| s.name.starts_with(ENGINES_PROCESS));
        sections.flat_map(|s| s.tracks.iter().map(|t| t.id)).collect()
    }

    /// Whether it knows of NeuronCores.
    #[must_use]
    pub fn is_neuron(&self) -> bool {
        let neuron = [OperatorKind::Framework, OperatorKind::Hlo];
        self.info.operators.iter().any(|kind| neuron.contains(kind))
    }
}
