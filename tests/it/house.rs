//! Rules of the sources: a public type name means one thing in a crate, and a command runs through the session.

use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The sources below a folder, with their texts; folders of tests are left out.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for path in read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() && !path.ends_with("tests") {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

/// The name of a type that a line makes visible outside its file.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub")?;
    let rest = rest.strip_prefix('(').map_or(Some(rest), |inside| Some(inside.split_once(')')?.1))?.trim_start();
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| rest.strip_prefix(word))?;
    rest.split(|c: char| !c.is_alphanumeric()).next()
}

#[test]
fn a_public_type_name_means_one_thing_in_a_crate() {
    for room in read_dir(src()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let mut places: BTreeMap<String, PathBuf> = BTreeMap::new();
        for (path, text) in sources(&room) {
            for name in text.lines().filter_map(public_type) {
                let before = places.insert(name.to_owned(), path.clone());
                assert_eq!(before, None, "{name} is also in {}: give one of them its noun", path.display());
            }
        }
    }
}

/// Files of commands that name neither work of a session nor its driver, with the reason.
const BELOW_THE_SESSION: [(&str, &str); 14] = [
    ("cpu", "measures this machine in threads, which a session has none of"),
    ("kept_kernels", "appends rows to a file"),
    ("kept_sweep", "appends rows to a file"),
    ("manual", "prints the definitions of the commands"),
    ("mod", "has the table of commands"),
    ("model_values", "reads arrays from files"),
    ("operators_supported", "prints the tables of the readers, which a session does not have"),
    ("profile_call", "reads flags"),
    ("profile_log", "names files"),
    ("result_files", "names files of results"),
    ("results", "appends records to a file"),
    ("runner", "starts a process for each experiment"),
    ("serve", "serves the page"),
    ("timers", "writes the timers of a benchmark"),
];

/// The names in a text after `path`, alone or in braces.
fn names_after<'a>(path: &'a str, text: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(path).skip(1).flat_map(|rest| {
        let list = rest.strip_prefix('{').and_then(|list| list.split('}').next()).unwrap_or(rest);
        let all = list.len() < rest.len();
        let names = list.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|name| !name.is_empty());
        names.take(if all { usize::MAX } else { 1 })
    })
}

#[test]
fn commands_that_run_without_the_session_are_listed() {
    let facade = read_to_string(src().join("session/lib.rs")).unwrap();
    // A type that the session passes on is no work of the session, but for its own forms and documents.
    let passed_on: Vec<&str> = facade
        .split("pub use ns_")
        .skip(1)
        .filter(|rest| !rest.starts_with("documents") && !rest.starts_with("forms"))
        .flat_map(|rest| names_after("::", rest.split(';').next().unwrap()))
        .collect();
    let of_session = |text: &str| names_after("ns_session::", text).any(|name| !passed_on.contains(&name));
    let is_below = |text: &str| !text.contains("driver") && !text.contains("Driver") && !of_session(text);
    let files = sources(&src().join("cli/commands"));
    let below = files.iter().filter(|(_, text)| is_below(text)).map(|(path, _)| path.file_stem().unwrap().to_str());
    let mut below: Vec<&str> = below.map(Option::unwrap).collect();
    below.sort_unstable();
    assert_eq!(below, BELOW_THE_SESSION.map(|(name, _)| name));
}
