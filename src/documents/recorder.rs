//! What runs a kernel's Python file: a shell lends it to a session, as it lends a clock.

/// How the recorder is called, with the words of its command line (`src/python/python/neuronscope/nki_recorder`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecorderCall {
    /// The text of the file.
    pub source: String,
    /// Name of the file and its function, then the flags.
    pub words: Vec<String>,
}

/// Runs kernels' files: one after another in each lane, the lanes beside each other.
pub trait Recorder {
    /// The most lanes that make sense here, at least 1.
    fn lanes(&self) -> usize;

    /// Begins a call in a lane. What an earlier one there would answer is lost.
    fn begin(&self, lane: usize, call: &RecorderCall);

    /// The list of the call that was begun in a lane, or why there is none; `None` while it runs.
    fn take(&self, lane: usize) -> Option<Result<String, String>>;

    /// What a lane does now, in words; empty if it does not say.
    fn activity(&self, _lane: usize) -> String {
        String::new()
    }

    /// Stops what runs, and gives back what further lanes take.
    fn end(&self);
}
