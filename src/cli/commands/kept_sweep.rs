//! `bench --resume FILE`: finished rows, a line each, in a file that is only ever added to. So a run that is killed at any instant keeps
//! every row that finished.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::file::Lines;
use crate::output::{append_to, create_folder, open_alone, parent, write};
use crate::shell::Shell;
use ns_bench::{KeptRow, SweepState};

/// The first line.
const HEAD: &str = "{\"neuronscope_sweep\": 1}\n";
/// Who else may have the file open.
const OTHER: &str = "another benchmark";

/// The open file. No other process adds to it while it is open.
pub(super) struct KeptSweep {
    path: PathBuf,
    file: File,
    /// Whether an earlier run began it.
    pub was_there: bool,
    /// Lines that a process left unfinished.
    pub cut: usize,
}

impl KeptSweep {
    /// Opens the file, or begins it, and reads its rows. Fails when it is not a kept sweep, or another process adds to it.
    pub fn open(shell: &Shell, path: &Path) -> Result<(Self, Vec<KeptRow>)> {
        let place = path.display();
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            bail!("{place}: is not a file; rows are kept in a file that can be read again");
        }
        create_folder(parent(path))?;
        let mut file = open_alone(path, OTHER)?;
        let was_there = file.metadata().with_context(|| format!("{place}: cannot be read"))?.len() > 0;
        if !was_there {
            append_to(&mut file, HEAD).with_context(|| format!("{place}: cannot be written"))?;
        }
        let (rows, cut) = match read(path)? {
            Read::Rows { rows, cut } => (rows, cut),
            Read::Whole(sweep) => {
                let rows: Vec<KeptRow> = (0..).zip(sweep.rows()).filter_map(|(row, _)| sweep.kept(row)).collect();
                let lines = rows.iter().map(line).collect::<Result<String>>()?;
                write(shell, path, HEAD.to_owned() + &lines)?;
                file = open_alone(path, OTHER)?;
                (rows, 0)
            }
        };
        Ok((Self { path: path.to_owned(), file, was_there, cut }, rows))
    }

    /// Keeps a row. Fails when it cannot be written.
    pub fn add(&mut self, row: &KeptRow) -> Result<()> {
        append_to(&mut self.file, &line(row)?).with_context(|| format!("{}: cannot be written", self.path.display()))
    }
}

fn line(row: &KeptRow) -> Result<String> {
    Ok(serde_json::to_string(row)? + "\n")
}

enum Read {
    Rows {
        rows: Vec<KeptRow>,
        cut: usize,
    },
    /// The form that was written before rows had a line each.
    Whole(Box<SweepState>),
}

fn read(path: &Path) -> Result<Read> {
    let place = path.display();
    let mut lines = Lines::open(path).with_context(|| format!("{place}: cannot be read"))?;
    let (mut rows, mut cut) = (Vec::new(), 0);
    while let Some((number, line)) = lines.read()? {
        if number == 1 {
            if line != HEAD.as_bytes() {
                let sweep = serde_json::from_slice(line).with_context(|| {
                    format!("{place}: is not a kept sweep; name a file written by --resume, or a new file")
                })?;
                return Ok(Read::Whole(sweep));
            }
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(row) => rows.push(row),
            Err(_) => cut += 1,
        }
    }
    Ok(Read::Rows { rows, cut })
}
