//! Requests and events of a session. Messages are small; everything is plain data that postcard can carry (no
//! untagged enums, no skipped fields).
//!
//! ```text
//! Request::Ask(JobId, Ask)        Event::Message(JobId, Told)
//!   Ask::Job(JobRequest)            progress, notes, Part..., then JobResult
//!   Ask::Question(..)               Reply
//!   Ask::Analysis(ProfileKey, ..)   progress, then Reply
//! Request::Control(Control)       no answer of its own
//! ```
//!
//! Any of them may end with a file, a failure or a cancel instead.

mod event;
mod job;
mod parts;
mod question;
mod request;
mod result;
pub mod wire;

pub use event::{Event, Message, ResultPart};
pub use job::{ExperimentJobRequest, JobRequest, RecordsSource, RunRequest};
pub use question::{AnalysisRequest, ExportKind, ProfileQuestion, QuestionRequest};
pub use request::{Ask, Control, JobId, Request};
pub use result::{JobResult, Reply};
