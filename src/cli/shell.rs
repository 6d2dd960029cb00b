//! What a command prints to, reads from, writes to and keeps: a terminal with the disk, or the [`Host`] of a call. Every command is given one;
//! values of flags that name a file, and threads, have the disk alone.

use std::cell::RefCell;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use ns_base::printable;

use super::driver::OpenSession;
use super::host::Host;

/// Where a command runs.
#[derive(Default)]
pub(super) struct Shell {
    /// Absent on a terminal.
    host: Option<RefCell<Box<dyn Host>>>,
    /// What earlier calls have opened, while no driver uses it.
    session: RefCell<Option<OpenSession>>,
}

impl Shell {
    /// The shell of a host, with what its earlier calls have opened.
    pub fn of(host: Box<dyn Host>, session: Option<OpenSession>) -> Self {
        Self { host: Some(RefCell::new(host)), session: RefCell::new(session) }
    }

    /// Whether a host makes this call.
    pub const fn has_host(&self) -> bool {
        self.host.is_some()
    }

    /// Gives the host something; `None` on a terminal.
    pub fn give<T>(&self, to: impl FnOnce(&mut dyn Host) -> T) -> Option<T> {
        self.host.as_ref().map(|host| to(&mut **host.borrow_mut()))
    }

    /// A file of the host.
    pub fn file(&self, path: &Path) -> Option<Arc<Vec<u8>>> {
        self.give(|host| host.file(path)).flatten()
    }

    /// What is open from earlier calls.
    pub fn take_session(&self) -> Option<OpenSession> {
        self.session.take()
    }

    /// Keeps what is open for the host's next call. A terminal has no next call.
    pub fn keep_session(&self, session: OpenSession) {
        if self.has_host() {
            self.session.replace(Some(session));
        }
    }

    /// A line for the host, or on stderr.
    pub fn say(&self, line: &str) {
        let line = &printable(line, true);
        if self.give(|host| host.say(line)).is_none() {
            say_on_terminal(line);
        }
    }

    /// A note: a line that is not an error.
    pub fn note(&self, text: &str) {
        self.say(&format!("note: {text}"));
    }

    /// Prints a value as JSON. Fails as [`Self::print`].
    pub fn print_json(&self, value: &impl serde::Serialize) -> Result<()> {
        self.print(&to_json(value)?)
    }

    /// Writes lines of text with names of files in them, without what acts on a terminal. Fails as [`Self::print`].
    pub fn print_lines(&self, text: &str) -> Result<()> {
        self.print(printable(text, true).as_bytes())
    }

    /// Writes to stdout, or to the host; a closed pipe (`| head`) is not an error. Fails when stdout cannot be written to for another
    /// reason.
    pub fn print(&self, bytes: &[u8]) -> Result<()> {
        if self.give(|host| host.print(bytes)).is_some() {
            return Ok(());
        }
        let mut stdout = std::io::stdout().lock();
        checked(stdout.write_all(bytes).and_then(|()| stdout.flush()))
    }
}

/// A line on stderr. Whoever has closed it (`2>&1 | head`) does not want it.
pub(super) fn say_on_terminal(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A value as the lines of JSON that [`Shell::print_json`] prints. Fails when it cannot be written as JSON.
pub(super) fn to_json(value: &impl serde::Serialize) -> Result<Vec<u8>> {
    let mut json = serde_json::to_vec_pretty(value)?;
    json.push(b'\n');
    Ok(json)
}

/// As [`Shell::print`] takes what stdout said. Fails as [`Shell::print`].
pub(super) fn checked(printed: std::io::Result<()>) -> Result<()> {
    match printed {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(e).context("the output cannot be written to stdout")
        }
        _ => Ok(()),
    }
}
