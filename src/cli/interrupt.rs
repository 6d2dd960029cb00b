//! Ctrl-C while a benchmark runs: what has finished is printed before the command ends.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use anyhow::{Context, Result};
use thiserror::Error;

use super::shell::Shell;

/// Exit code of a command that Ctrl-C ended, as shells know it: 128 plus the number of the signal.
pub(super) const EXIT_CODE: u8 = 130;

static STOP_REQUESTED: AtomicBool = AtomicBool::new(false);

/// Calls of a host that run; a stop is for all of them.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Error of a command that Ctrl-C ended after it printed the finished part.
#[derive(Debug, Error)]
#[error("{0}")]
pub(super) struct InterruptError(pub String);

/// From now on, Ctrl-C is noted and the command ends in its own way. A second Ctrl-C ends the command at once. A host listens
/// itself. Fails when the system does not allow a signal handler.
pub(super) fn listen(shell: &Shell) -> Result<()> {
    if shell.has_host() {
        return Ok(());
    }
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

/// Ends what runs, as Ctrl-C does.
pub(super) fn stop() {
    STOP_REQUESTED.store(CALLS.load(Ordering::SeqCst) > 0, Ordering::SeqCst);
}

/// A call of a host begins. An earlier stop does not end it.
pub(super) fn begin() {
    if CALLS.fetch_add(1, Ordering::SeqCst) == 0 {
        STOP_REQUESTED.store(false, Ordering::SeqCst);
    }
}

/// A call of a host has ended.
pub(super) fn end() {
    CALLS.fetch_sub(1, Ordering::SeqCst);
}
