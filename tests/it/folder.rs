//! Folders for files of one test, and the command line in them.

use std::ops::Deref;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// An empty folder that goes with its test. Tests of one program run at the same time: no two have the same.
pub struct Folder(TempDir);

impl Folder {
    pub fn new(name: &str) -> Self {
        let builder = &mut tempfile::Builder::new();
        Self(builder.prefix(&format!("{name}-")).tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.join(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        self
    }
}

/// The command line in a folder, with words that have no spaces in them.
pub fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuronscope"));
    command.args(line.split_whitespace()).current_dir(folder);
    command
}

pub fn run(folder: &Path, line: &str) -> Output {
    command(folder, line).output().unwrap()
}
