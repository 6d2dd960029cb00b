//! Folders for files of one test.

use std::ops::Deref;
use std::path::Path;

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
