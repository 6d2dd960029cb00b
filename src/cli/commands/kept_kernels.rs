//! `nki --resume FILE`: kernels and settings that have a time, a line each, in a file that is only ever added to.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

use crate::file::Lines;
use crate::output::{append_to, create_folder, open_alone, parent};
use ns_nki::Ranked;

/// The open file. No other process adds to it while it is open.
pub(super) struct KeptKernels {
    path: PathBuf,
    file: Mutex<File>,
}

impl KeptKernels {
    /// Opens the file, or begins it, and reads its rows. `origin` is the digest of the kernels' files, the call and the version. Fails when the
    /// file has another origin, or another process adds to it.
    pub fn open(path: &Path, origin: u64) -> Result<(Self, Vec<Ranked>)> {
        let place = path.display();
        create_folder(parent(path))?;
        let mut file = open_alone(path, "another run")?;
        let head = format!("{{\"neuronscope_nki_sweep\": \"{origin:016x}\"}}");
        if file.metadata().with_context(|| format!("{place}: cannot be read"))?.len() == 0 {
            append_to(&mut file, &(head.clone() + "\n")).with_context(|| format!("{place}: cannot be written"))?;
        }
        let mut lines = Lines::open(path).with_context(|| format!("{place}: cannot be read"))?;
        let mut rows = Vec::new();
        while let Some((number, line)) = lines.read()? {
            if number == 1 && line.trim_ascii_end() != head.as_bytes() {
                bail!("{place}: holds no kernels, or those of another source, call or version; name a new file");
            }
            // The last line of a run that was killed may lack its end.
            rows.extend(serde_json::from_slice::<Ranked>(line));
        }
        Ok((Self { path: path.to_owned(), file: Mutex::new(file) }, rows))
    }

    /// Keeps a row. Fails when it cannot be written.
    pub fn add(&self, row: &Ranked) -> Result<()> {
        let line = serde_json::to_string(row)? + "\n";
        let Ok(mut file) = self.file.lock() else { return Ok(()) };
        append_to(&mut file, &line).with_context(|| format!("{}: cannot be written", self.path.display()))
    }
}
