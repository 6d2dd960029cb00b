//! Commands of documents, run as a user would: by a shell, in a folder, with the built command line in the path.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A fenced block of Markdown: the words after the fence, and the text.
pub fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else { continue };
        let text: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
        blocks.push((kind.to_owned(), text.join("\n") + "\n"));
    }
    blocks
}

/// A document of the repository.
pub fn page(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// A folder for one test, which a failed test leaves behind.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        // Tests of one program run at the same time.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn run(&self, line: &str) -> Output {
        let binary = Path::new(env!("CARGO_BIN_EXE_neuronscope"));
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", binary.parent().unwrap().display());
        Command::new("sh").args(["-c", line]).env("PATH", path).current_dir(&self.0).output().unwrap()
    }

    /// What a command prints that succeeds.
    pub fn stdout(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command says that fails.
    pub fn stderr(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(!output.status.success(), "{line} is meant to fail");
        String::from_utf8(output.stderr).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }
}
