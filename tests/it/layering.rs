//! The layer rule: a room uses only rooms below it, and only the shells know the web or the terminal.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each room with the rooms it may use. Rooms that do not see each other are simply not in each other's list.
const ROOMS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("tensor", &["base"]),
    ("profile", &["base"]),
    ("machine", &["base"]),
    ("kernel", &["base", "tensor", "machine"]),
    ("view", &["base", "tensor", "profile", "machine"]),
    ("insight", &["base", "tensor", "profile", "machine"]),
    ("import", &["base", "tensor"]),
    ("model", &["base", "tensor", "machine", "kernel"]),
    ("compiler", &["base", "tensor", "machine", "kernel", "import", "model"]),
    ("neuron", &["base", "tensor", "machine", "kernel", "model", "compiler"]),
    ("bench", &["base", "tensor", "profile", "machine", "kernel", "import", "model", "compiler", "neuron"]),
    (
        "experiment",
        &["base", "tensor", "profile", "machine", "view", "insight", "model", "compiler", "neuron", "bench"],
    ),
    ("capture", &["base", "tensor", "profile", "machine", "kernel", "insight", "model", "compiler", "neuron", "bench"]),
    ("fidelity", &["base", "tensor", "machine", "model", "compiler", "neuron", "bench"]),
    (
        "session",
        &[
            "base",
            "tensor",
            "profile",
            "machine",
            "kernel",
            "view",
            "insight",
            "import",
            "model",
            "compiler",
            "neuron",
            "bench",
            "experiment",
            "capture",
        ],
    ),
    (
        "cli",
        &[
            "base",
            "tensor",
            "profile",
            "machine",
            "kernel",
            "view",
            "insight",
            "import",
            "model",
            "compiler",
            "neuron",
            "bench",
            "experiment",
            "capture",
            "fidelity",
            "session",
        ],
    ),
    ("web", &["base", "profile", "machine", "view", "insight", "bench", "session"]),
];

/// What only a shell may name.
const SHELL_ONLY: &[&str] = &[
    "web_sys",
    "js_sys",
    "wasm_bindgen",
    "gloo",
    "yew",
    "std::fs",
    "std::thread",
    "std::io::std",
    "Instant::now",
    "SystemTime",
    "println!",
    "eprintln!",
    "indicatif",
    "clap",
    "anyhow",
];

fn rust_files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// A line without its comment. Good enough here: no string in the sources holds `//` and a path to a room.
fn code_of(line: &str) -> &str {
    line.split("//").next().unwrap_or("")
}

/// Names that follow `crate::` in a line, also inside `use crate::{a, b::c}`.
fn rooms_named(code: &str) -> Vec<String> {
    let mut named = Vec::new();
    for rest in code.split("crate::").skip(1) {
        if let Some(list) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut item = String::new();
            for c in list.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => named.push(std::mem::take(&mut item)),
                    _ if depth == 0 => item.push(c),
                    _ => {}
                }
            }
            named.push(item);
        } else {
            named.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    named.iter().map(|n| n.trim().split("::").next().unwrap_or("").trim().to_owned()).collect()
}

#[test]
fn rooms_use_only_rooms_below_them() {
    let rule: BTreeMap<&str, &[&str]> = ROOMS.iter().copied().collect();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let (mut broken, mut checked) = (Vec::new(), 0);
    for file in &files {
        let inside = file.strip_prefix(&src).unwrap();
        let room = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        if room.ends_with(".rs") || room == "bin" {
            continue;
        }
        let Some(allowed) = rule.get(room) else {
            broken.push(format!("{}: room '{room}' has no layer; add it to ROOMS", inside.display()));
            continue;
        };
        // A `use crate::{` may go on over several lines: join what belongs together.
        let text = fs::read_to_string(file).unwrap();
        let code: String = text.lines().map(code_of).collect::<Vec<_>>().join(" ");
        for named in rooms_named(&code) {
            checked += 1;
            if rule.contains_key(named.as_str()) && named != room && !allowed.contains(&named.as_str()) {
                broken.push(format!("{}: uses crate::{named}, which {room} may not see", inside.display()));
            }
        }
    }
    assert!(checked > 100, "only {checked} paths were found: the reader of this test is broken");
    assert!(broken.is_empty(), "the layer rule is broken:\n{}", broken.join("\n"));
}

#[test]
fn only_shells_know_files_threads_terminals_and_the_web() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let mut broken = Vec::new();
    for file in &files {
        let inside = file.strip_prefix(&src).unwrap();
        if ["cli", "web", "bin"].iter().any(|shell| inside.starts_with(shell)) {
            continue;
        }
        for (i, line) in fs::read_to_string(file).unwrap().lines().enumerate() {
            let test_only = inside.to_string_lossy().ends_with("tests.rs");
            for word in SHELL_ONLY.iter().filter(|w| !test_only && code_of(line).contains(**w)) {
                broken.push(format!("{}:{}: names {word}", inside.display(), i + 1));
            }
        }
    }
    assert!(broken.is_empty(), "below the shells nothing may name these:\n{}", broken.join("\n"));
}

#[test]
fn the_reader_of_paths_understands_braces() {
    assert_eq!(rooms_named("use crate::base::Interval;"), ["base"]);
    assert_eq!(rooms_named("use crate::{base::{A, B}, view};"), ["base", "view"]);
    assert_eq!(rooms_named("let x = crate::neuron::sim::simulate();"), ["neuron"]);
}
