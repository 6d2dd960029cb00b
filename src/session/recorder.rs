//! What runs a kernel's Python file: a shell lends it to a session, as it lends a clock.

/// How the recorder is called, with the words of its command line (`src/python/python/neuronscope/nki_recorder`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecorderCall {
    /// The text of the file.
    pub source: String,
    /// Name of the file and its function, then the flags.
    pub words: Vec<String>,
}

/// Runs one kernel's file after another.
pub trait Recorder {
    /// Begins a call. What an earlier one would answer is lost.
    fn begin(&self, call: &RecorderCall);

    /// The list of the call that was begun, or why there is none; `None` while it runs.
    fn take(&self) -> Option<Result<String, String>>;
}
