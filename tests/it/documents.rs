//! The paths that documents name exist, and the README prints what the command prints.

use std::collections::BTreeSet;
use std::path::Path;

use crate::folder::Folder;
use crate::shell::page;

/// Documents for those who change the sources.
const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/where-to-add.md", "docs/design.md"];

/// Folders whose files and folders a document may name.
const TREES: &[&str] = &["src", "tests", "docs", "www", "tools", "examples", "benches", "fuzz"];

/// Folders that a build makes, which need not exist.
const MADE: &[&str] = &["dist/", "target/"];

/// Every path below [`TREES`], folders with a slash at their end.
fn paths() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = TREES.iter().map(|tree| (*tree).to_owned()).collect();
    while let Some(path) = open.pop() {
        found.insert(format!("{path}/"));
        for entry in std::fs::read_dir(root.join(&path)).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                if !["node_modules", "target", "artifacts", "corpus"].contains(&name.as_str()) {
                    open.push(format!("{path}/{name}"));
                }
            } else {
                found.insert(format!("{path}/{name}"));
            }
        }
    }
    found
}

/// The words between backticks that are a path: a file of sources or documents, or a folder.
fn named(text: &str) -> Vec<&str> {
    // Blocks of code are commands and pictures.
    let prose = text.split("```").step_by(2);
    let words = prose.flat_map(|part| part.split('`').skip(1).step_by(2));
    let is_path = |word: &&str| {
        let is_file =
            [".rs", ".md", ".mjs", ".sh", ".css", ".toml", ".tsv", ".csv"].iter().any(|end| word.ends_with(end));
        (is_file || word.ends_with('/')) && !word.contains([' ', '*', '#', '$', '~', '<', '{', ':'])
    };
    words.filter(is_path).collect()
}

#[test]
fn paths_that_documents_name_exist() {
    let paths = paths();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let exists = |name: &str| {
        let name = name.trim_start_matches("./");
        let end = format!("/{name}");
        root.join(name).exists() || paths.iter().any(|path| path.ends_with(&end))
    };
    let mut missing = Vec::new();
    let mut all = 0;
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let names = named(&text);
        all += names.len();
        missing.extend(
            names
                .into_iter()
                .filter(|name| !MADE.contains(name) && !exists(name))
                .map(|name| format!("{document}: {name}")),
        );
    }
    assert!(all > 100, "only {all} paths were found: the reader of this test is broken");
    assert!(missing.is_empty(), "documents name what is not there:\n{}", missing.join("\n"));
}

#[test]
fn words_in_backticks_that_are_paths() {
    let text = "`a/b.rs` and `c/`, not `x` or `./x bench` or `src/*.rs`\n```\n`d.rs`\n```\n`e.md`";
    assert_eq!(named(text), ["a/b.rs", "c/", "e.md"]);
}

/// The first output that a reader sees is what the command prints.
#[test]
fn the_benchmark_of_the_readme_is_what_is_printed() {
    let command = "neuronscope bench --duration 5";
    let block = format!("```\n$ {command}\n{}```", Folder::new("readme").stdout(command));
    assert!(page("README.md").contains(&block), "README.md has other lines than these:\n{block}");
}
