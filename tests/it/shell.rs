//! Commands of documents, run as a user would: by a shell, in a folder, with the built command line in the path.

use std::path::Path;
use std::process::{Command, Output};

use crate::folder::Folder;

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

impl Folder {
    pub fn run(&self, line: &str) -> Output {
        let binary = Path::new(env!("CARGO_BIN_EXE_neuronscope"));
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", binary.parent().unwrap().display());
        Command::new("sh").args(["-c", line]).env("PATH", path).current_dir(self).output().unwrap()
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
