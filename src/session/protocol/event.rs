//! Events for a shell.

use super::{JobId, JobResult, Reply};
use ns_bench::{CompiledModel, Estimate, ServiceTimes, SweepPlan};
use ns_documents::ExportedFile;
use ns_documents::studies::StudyResult;

/// A message of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The first event: the session accepts requests.
    Ready {
        /// [`PROTOCOL_VERSION`](ns_documents::PROTOCOL_VERSION) of the sender.
        protocol: u32,
        /// [`build_id`](ns_documents::build_id) of the sender.
        build: String,
    },
    /// About the request with this number.
    Message(JobId, Message),
}

/// An event about a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    Progress {
        /// Units done.
        done: u64,
        /// Units in all; 0 if not known.
        total: u64,
        /// The current activity: `Reading trace.json`.
        label: String,
    },
    /// A note for the user about a running job, one sentence: rows that are left out, a duration that is short.
    Note(String),
    /// A job is paused, as [`Control::Pause`](super::Control::Pause) asked: its last step is over.
    Paused,
    /// A part of a job's result; more parts follow.
    Part(ResultPart),
    /// A job has ended.
    Done(JobResult),
    /// The answer to a question or an analysis.
    Answer(Reply),
    /// The answer is a file to save.
    File(ExportedFile),
    /// The request failed. One sentence: what was wrong, where, and what to do; it names the configuration or the input.
    Failed(String),
    /// A job was stopped as asked; its earlier events stay valid.
    Cancelled,
}

/// A part of a job's result.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultPart {
    /// The configurations of a benchmark, without estimates.
    Plan(Box<SweepPlan>),
    /// The estimate of one configuration of a plan.
    Estimated {
        /// Position of the configuration in the plan.
        row: u32,
        /// The estimate, or why it cannot run.
        estimate: Result<Estimate, String>,
        /// Its stage times, to be passed on when it is run.
        times: Option<Box<ServiceTimes>>,
    },
    /// Stage times of a configuration that runs, computed by this session; they can be given to others.
    Times {
        /// Position of the configuration in the sweep.
        row: u32,
        times: Box<ServiceTimes>,
    },
    /// One artifact was made, or could not be.
    Compiled {
        /// Its position among the compiles.
        row: u32,
        compiled: Box<CompiledModel>,
    },
    /// The intermediate result of a study; it replaces the previous one.
    Study(Box<StudyResult>),
}

impl Message {
    /// Whether this is the last event of the request.
    pub const fn is_last(&self) -> bool {
        match self {
            Self::Progress { .. } | Self::Note(_) | Self::Paused | Self::Part(_) => false,
            Self::Done(_) | Self::Answer(_) | Self::File(_) | Self::Failed(_) | Self::Cancelled => true,
        }
    }
}
