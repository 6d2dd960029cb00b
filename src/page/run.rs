//! Progress of a run.

use ns_session::Message;

/// Progress of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RunState {
    /// No run was started.
    #[default]
    Idle,
    /// The job runs.
    Running {
        /// Units done.
        done: u64,
        /// Units in all; 0 if unknown.
        total: u64,
        label: String,
    },
    /// The job ended successfully.
    Done,
    /// The user stopped it; its earlier results stay.
    Cancelled,
    /// The job failed, with this message.
    Failed(String),
}

impl RunState {
    /// Just started.
    pub fn started(label: &str) -> Self {
        Self::Running { done: 0, total: 0, label: label.to_owned() }
    }

    /// The state of a run according to a worker's message; `None` if the message does not change it.
    pub fn of_message(message: Message) -> Option<Self> {
        match message {
            Message::Progress { done, total, label } => Some(Self::Running { done, total, label }),
            Message::Cancelled => Some(Self::Cancelled),
            Message::Failed(message) => Some(Self::Failed(message)),
            Message::Note(_)
            | Message::Paused
            | Message::Part(_)
            | Message::Done(_)
            | Message::Answer(_)
            | Message::File(_) => None,
        }
    }

    pub const fn is_running(&self) -> bool {
        matches!(self, Self::Running { .. })
    }
}
