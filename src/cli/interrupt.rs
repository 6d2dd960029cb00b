//! Ctrl-C while a benchmark runs: what has finished is printed before the command ends.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use thiserror::Error;

/// Exit code of a command that Ctrl-C ended, as shells know it: 128 plus the number of the signal.
pub(super) const EXIT_CODE: u8 = 130;

static STOP_REQUESTED: AtomicBool = AtomicBool::new(false);

/// Error of a command that Ctrl-C ended after it printed the finished part.
#[derive(Debug, Error)]
#[error("{0}")]
pub(super) struct Interrupted(pub String);

/// From now on, Ctrl-C is noted and the command ends in its own way. A second Ctrl-C ends the command at once.
///
/// # Errors
/// When the system does not allow a signal handler.
pub(super) fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
        if STOP_REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(EXIT_CODE));
        }
    })
    .context("Ctrl-C cannot be handled")
}

/// Whether Ctrl-C was pressed.
pub(super) fn is_stop_requested() -> bool {
    STOP_REQUESTED.load(Ordering::Relaxed)
}
