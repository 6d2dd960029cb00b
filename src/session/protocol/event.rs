//! What a shell is told, and which build tells it.

use serde::{Deserialize, Serialize};

use super::{ExportedFile, JobResult, Reply};
use crate::bench::{CompiledModel, Estimate, Report, ServiceTimes, SweepPlan};
use crate::session::JobId;
use crate::session::studies::StudyResult;

/// A message of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Sent once, first: the session can be talked to.
    Ready {
        /// [`PROTOCOL_VERSION`](super::PROTOCOL_VERSION) of the sender.
        protocol: u32,
        /// [`build_id`](super::build_id) of the sender.
        build: String,
    },
    /// About the request of this number.
    Told(JobId, Told),
}

/// What a shell is told about a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Told {
    /// How far it is.
    Progress {
        /// Units done.
        done: u64,
        /// Units in all; 0 when not known.
        total: u64,
        /// What is being done: `Reading trace.json`.
        label: String,
    },
    /// One sentence that a person should know about a job that goes on: rows that are left out, a duration that is short.
    Note(String),
    /// A job rests, as [`Control::Pause`](super::Control::Pause) asked: the step that it was at is over.
    Paused,
    /// A part of a job's result; more comes.
    Part(Part),
    /// A job has ended.
    Done(JobResult),
    /// The answer to a question or an analysis.
    Answer(Reply),
    /// The answer is a file to keep.
    File(ExportedFile),
    /// The request could not be done. One sentence: what was wrong, where, and what to do; it names the configuration or the input.
    Failed(String),
    /// A job was stopped as asked; what it told before stays valid.
    Cancelled,
}

/// A part of a job's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Part {
    /// One configuration of a benchmark has ended; a failed one says so in its report.
    Report {
        /// Position of the configuration in the sweep.
        row: u32,
        /// Its report.
        report: Box<Report>,
    },
    /// The configurations of a benchmark, without estimates.
    Plan(Box<SweepPlan>),
    /// What one configuration of a plan will take.
    Estimated {
        /// Position of the configuration in the plan.
        row: u32,
        /// What it will take, or why it cannot run.
        estimate: Result<Estimate, String>,
        /// Its stage times, to be sent along when it is run.
        times: Option<Box<ServiceTimes>>,
    },
    /// Stage times of a configuration that runs, worked out by this session: others can be given them.
    Times {
        /// Position of the configuration in the sweep.
        row: u32,
        /// Its stage times.
        times: Box<ServiceTimes>,
    },
    /// One artifact was made, or could not be.
    Compiled {
        /// Its position among the compiles.
        row: u32,
        /// What came of it.
        compiled: Box<CompiledModel>,
    },
    /// What a study has come to until now, in place of what was told before.
    Study(Box<StudyResult>),
}

impl Told {
    /// Whether nothing more will come for the request.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        match self {
            Self::Progress { .. } | Self::Note(_) | Self::Paused | Self::Part(_) => false,
            Self::Done(_) | Self::Answer(_) | Self::File(_) | Self::Failed(_) | Self::Cancelled => true,
        }
    }
}

/// Changed with every change of a message. A page and a worker that differ refuse each other.
pub const PROTOCOL_VERSION: u32 = 32;

/// Names the build; page and worker of one build have the same.
#[must_use]
pub fn build_id() -> String {
    format!("{} p{PROTOCOL_VERSION}", env!("CARGO_PKG_VERSION"))
}
