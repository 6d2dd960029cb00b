//! Requests of a shell: something to answer, or the control of an earlier request.

use serde::{Deserialize, Serialize};

use super::{AnalysisRequest, JobRequest, ProfileQuestion, QuestionRequest};
use ns_documents::ProfileKey;

/// The number that a shell gives a request. Every event that answers the request carries it, so that a shell can distinguish an
/// awaited answer from a late one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u32);

/// A message to a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Something to answer. Every answer carries this number.
    Ask(JobId, Ask),
    /// A change that concerns earlier requests; it is not answered.
    Control(Control),
}

/// Something to answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Work in steps. Jobs run one after another.
    Job(JobRequest),
    /// A question that is answered at the next step, also while a job runs.
    Question(QuestionRequest),
    /// A question about a profile that takes some steps, beside jobs.
    Analysis(ProfileKey, AnalysisRequest),
}

/// Control of an earlier request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Control {
    /// Stop a job or an analysis. Answered by [`Message::Cancelled`](super::Message::Cancelled) with its number.
    Cancel(JobId),
    /// Pause a job. Others go on; it keeps its state. Answered by [`Message::Paused`](super::Message::Paused) with its number, once the
    /// current step is over.
    Pause(JobId),
    /// Resume a paused job.
    Resume(JobId),
    /// Forget a profile.
    Close(ProfileKey),
}

impl Request {
    /// A request with its number.
    pub fn new(job: JobId, ask: impl Into<Ask>) -> Self {
        Self::Ask(job, ask.into())
    }

    /// The number of this request; `None` for requests that are not answered.
    pub const fn job(&self) -> Option<JobId> {
        match self {
            Self::Ask(job, _) => Some(*job),
            Self::Control(_) => None,
        }
    }
}

impl Ask {
    /// The input of this request in words, for the message after a crash.
    pub fn describe(&self) -> String {
        match self {
            Self::Job(job) => job.describe(),
            Self::Question(question) => question.describe(),
            Self::Analysis(_, analysis) => analysis.describe().to_owned(),
        }
    }
}

impl From<Control> for Request {
    fn from(control: Control) -> Self {
        Self::Control(control)
    }
}

impl From<JobRequest> for Ask {
    fn from(job: JobRequest) -> Self {
        Self::Job(job)
    }
}

impl From<QuestionRequest> for Ask {
    fn from(question: QuestionRequest) -> Self {
        Self::Question(question)
    }
}

impl ProfileQuestion {
    /// The question about this profile.
    pub fn of(self, profile: ProfileKey) -> Ask {
        Ask::Question(QuestionRequest::Profile(profile, self))
    }
}

impl AnalysisRequest {
    /// The question about this profile.
    pub fn of(self, profile: ProfileKey) -> Ask {
        Ask::Analysis(profile, self)
    }
}
