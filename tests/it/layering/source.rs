//! The files of `src/`, parsed, each with its module.

use std::fs;
use std::path::Path;

/// A parsed file of the library.
pub struct SourceFile {
    /// Its path below `src/`.
    pub path: String,
    /// The module it is: `["formats", "json"]` for `formats/json/mod.rs`; empty for `lib.rs`.
    pub module: Vec<String>,
    /// Its lines.
    pub lines: usize,
    /// Its items.
    pub syntax: syn::File,
}

impl SourceFile {
    /// Parses the text of a file.
    pub fn parse(path: &str, text: &str) -> Self {
        let syntax = syn::parse_file(text).unwrap_or_else(|e| panic!("{path}: {e}"));
        Self { path: path.to_owned(), module: module_of(path), lines: text.lines().count(), syntax }
    }
}

fn module_of(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib")) {
        parts.pop();
    }
    parts
}

/// Every file of the library. Binaries (`bin/`) are crates of their own: they see only the public items of the library.
pub fn library() -> Vec<SourceFile> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&src, &src, &mut found);
    found
}

fn collect(src: &Path, folder: &Path, found: &mut Vec<SourceFile>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let inside = path.strip_prefix(src).unwrap().to_str().unwrap().replace('\\', "/");
        if path.is_dir() && inside != "bin" {
            collect(src, &path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(SourceFile::parse(&inside, &fs::read_to_string(&path).unwrap()));
        }
    }
}
