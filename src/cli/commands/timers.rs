//! `bench --return-timers`: the document of timers; for `--json-format neuronperf` with the starts and ends of all.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use crate::output::{self, Output};
use crate::shell::Shell;

/// The document of `--return-timers`. Each configuration adds its result when it has run, so that one at a time is in memory.
pub(super) struct TimersDocument {
    to: Place,
    /// What stands before the next result, and after the last one.
    marks: (&'static str, &'static str),
}

/// Where a document goes.
enum Place {
    File(Output),
    /// Of a host, or of stdout.
    Memory(Option<PathBuf>, Vec<u8>),
}

impl TimersDocument {
    /// Begins the document in a file, or, without one, for stdout. Fails when the file cannot be written.
    pub fn begin(shell: &Shell, path: Option<&Path>, has_spans: bool) -> Result<Self> {
        let to = match path.filter(|_| !shell.has_host()) {
            Some(path) => Place::File(output::create(path)?),
            None => Place::Memory(path.map(Path::to_owned), Vec::new()),
        };
        let marks = if has_spans { ("[", "]\n") } else { ("{\"results\":[", "]}\n") };
        Ok(Self { to, marks })
    }

    /// Adds the result of a configuration. Fails when it cannot be written.
    pub fn add(&mut self, result: &impl Serialize) -> Result<()> {
        let before = std::mem::replace(&mut self.marks.0, ",");
        self.put(before, Some(result))
    }

    /// Ends the document; `note` is told where it is. Fails when it cannot be written.
    pub fn finish(mut self, shell: &Shell, mut note: impl FnMut(String)) -> Result<()> {
        let (next, end) = self.marks;
        let none: Option<&()> = None;
        self.put(if next == "," { "" } else { next }, none)?;
        self.put(end, none)?;
        let path = match self.to {
            Place::Memory(None, text) => return shell.print(&text),
            Place::Memory(Some(path), text) => output::write(shell, &path, text).map(|()| path)?,
            Place::File(file) => {
                let path = file.path().to_owned();
                file.finish().map(|()| path)?
            }
        };
        note(format!("note: the timers are in {}", path.display()));
        Ok(())
    }

    fn put(&mut self, mark: &str, result: Option<&impl Serialize>) -> Result<()> {
        let out: &mut dyn Write = match &mut self.to {
            Place::File(file) => file,
            Place::Memory(_, text) => text,
        };
        let mut out = BufWriter::new(out);
        let written = out.write_all(mark.as_bytes()).map_err(anyhow::Error::from);
        let written = written.and_then(|()| result.map_or(Ok(()), |r| Ok(serde_json::to_writer(&mut out, r)?)));
        let written = written.and_then(|()| Ok(out.flush()?));
        drop(out);
        written.map_err(|error| match &self.to {
            Place::File(file) => file.reason(error),
            Place::Memory(..) => error,
        })
    }
}
