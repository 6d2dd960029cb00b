//! The paths that documents name exist, and the README prints what the command prints.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::folder::Folder;
use crate::shell::{blocks, page};

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

/// Commands of the README with what they print; a line `...` stands for any lines.
const TEXTS: &[&str] = &[
    "neuronscope bench --duration 5",
    "neuronscope profile --model nn --workflow trace --output nn.trace.json",
    "neuronscope profile --model nn --workflow trace --summary",
    "neuronscope open trace.json.gz --top 3",
];

/// Documents with an object of JSON, and the command that prints it.
const OBJECTS: &[(&str, &str)] = &[
    ("docs/formats/open-json.md", "neuronscope open trace.json.gz --json"),
    ("docs/formats/profile-json.md", "neuronscope profile --model nn --workflow trace --json"),
    (
        "docs/formats/model-index.md",
        "neuronscope compile --model resnet50 --batch_sizes 6 --filename index.json >&2; cat index.json",
    ),
];

/// A folder with the trace of the samples.
fn sample_folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/traces/hta_triton_example.json.gz");
    std::fs::copy(trace, folder.join("trace.json.gz")).unwrap();
    folder
}

#[test]
fn the_samples_of_the_readme_are_what_is_printed() {
    let (folder, readme) = (sample_folder("readme"), page("README.md"));
    for command in TEXTS {
        let printed = folder.stdout(command);
        let (_, rest) =
            readme.split_once(&format!("```\n$ {command}\n")).unwrap_or_else(|| panic!("README.md has no {command}"));
        let (sample, _) = rest.split_once("```").unwrap();
        let mut left = printed.as_str();
        for part in sample.split("...\n") {
            let found =
                left.find(part).unwrap_or_else(|| panic!("{command} prints\n{printed}\nand README.md has\n{part}"));
            left = &left[found + part.len()..];
        }
        assert!(sample.contains("...\n") || printed == sample, "{command} prints\n{printed}");
    }
}

/// Documents whose blocks of commands are run in their order, in one folder. A comment behind a command has a part of what it prints, or its exit code.
const COMMANDS: &[&str] = &["docs/numerics.md", "docs/query.md", "docs/scale.md", "docs/training.md"];

#[test]
fn the_commands_of_documents_do_what_stands_behind_them() {
    for document in COMMANDS {
        let folder = sample_folder("commands");
        let mut count = 0;
        for (_, text) in blocks(&page(document)).into_iter().filter(|(kind, _)| kind == "sh") {
            for line in text.lines() {
                let (command, comment) = line.split_once(" # ").unwrap_or((line, ""));
                let output = folder.run(command);
                let printed = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
                let mut code = 0;
                for part in comment.split([',', ':']).map(str::trim) {
                    match part.strip_prefix("exit code ") {
                        Some(number) => code = number.parse().unwrap(),
                        None => assert!(printed.contains(part), "{document}: {command} prints\n{printed}"),
                    }
                }
                assert_eq!(output.status.code(), Some(code), "{document}: {command}\n{printed}");
                count += 1;
            }
        }
        assert!(count > 0, "{document} has no commands");
    }
}

/// Whether an object of a document is the real one: with the same keys, and some of the elements of its lists.
fn is_part(sample: &Value, real: &Value) -> bool {
    match (sample, real) {
        (Value::Object(sample), Value::Object(real)) => {
            sample.len() == real.len()
                && sample.iter().all(|(key, value)| real.get(key).is_some_and(|of| is_part(value, of)))
        }
        (Value::Array(sample), Value::Array(real)) => sample.iter().all(|one| real.iter().any(|of| is_part(one, of))),
        _ => sample == real,
    }
}

#[test]
fn the_objects_of_documents_are_what_is_printed() {
    let folder = sample_folder("objects");
    for (document, command) in OBJECTS {
        let text = page(document);
        let (_, sample) = blocks(&text).into_iter().find(|(kind, _)| kind == "json").unwrap();
        let printed = folder.stdout(command);
        let [sample, real] = [&sample, &printed].map(|text| serde_json::from_str::<Value>(text).unwrap());
        assert!(is_part(&sample, &real), "{document} has another object than {command} prints:\n{printed}");
    }
}
