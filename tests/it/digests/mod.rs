//! A digest of what the command line prints: a refactoring changes no line of
//! `tests/it/snapshots/digests.txt`.
//!
//! [`cases`] lists the commands. `./x digests` runs this test alone, and `./x digests --update` writes the file. A command without a
//! stored digest counts as changed.

mod cases;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cases::Case;
use neuronscope::base::Digest;

use crate::folder::Folder;

const STORED: &str = "tests/it/snapshots/digests.txt";

/// The content of the stored file: the digest of each command.
fn stored() -> BTreeMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(STORED);
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once("  "));
    lines.map(|(digest, command)| (command.to_owned(), digest.to_owned())).collect()
}

/// The command line under test; `NEURONSCOPE_CLI` names an optimised one.
fn program() -> PathBuf {
    std::env::var_os("NEURONSCOPE_CLI").map_or_else(|| env!("CARGO_BIN_EXE_neuronscope").into(), PathBuf::from)
}

/// Digest of a command: its exit code and stdout, the file that it writes, and stderr if it fails.
fn digest_of(case: &Case, program: &Path, scratch: &Path) -> String {
    let mut command = Command::new(program);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(&case.args);
    if case.writes {
        command.arg("--output").arg(scratch);
    }
    let output = command.output().unwrap();
    let mut digest = Digest::default().number(u64::from(output.status.code().unwrap_or(255).unsigned_abs()));
    if case.writes {
        // The output names the file, whose path differs between machines.
        digest = digest.bytes(&fs::read(scratch).unwrap_or_default());
        fs::remove_file(scratch).ok();
    } else {
        digest = digest.bytes(&output.stdout);
    }
    if !output.status.success() {
        digest = digest.bytes(&output.stderr);
    }
    format!("{:016x}", digest.finish())
}

/// Digests of commands, two at a time, in the order of `cases`.
fn digests_of(cases: &[Case]) -> Vec<String> {
    let program = program();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![String::new(); cases.len()]);
    std::thread::scope(|threads| {
        for worker in 0..2 {
            let (program, next, found) = (&program, &next, &found);
            threads.spawn(move || {
                let folder = Folder::new(&format!("digest-{worker}"));
                // The plugin's formats are folders, and a file only by this name.
                let scratch = folder.join("output.zip");
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(at) else { break };
                    let digest = digest_of(case, program, &scratch);
                    found.lock().unwrap()[at] = digest;
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// `command: stored -> now` for each command whose digest has changed.
fn changes(cases: &[Case], digests: &[String]) -> Vec<String> {
    let stored = stored();
    let was = |case: &Case| stored.get(&case.name()).map_or("none", String::as_str);
    let differs =
        |(case, now): (&Case, &String)| (was(case) != now).then(|| format!("{}: {} -> {now}", case.name(), was(case)));
    cases.iter().zip(digests).filter_map(differs).collect()
}

/// Writes the stored file.
fn store(cases: &[Case], digests: &[String]) {
    let head = "# A digest of what each command prints or writes: ./x digests compares, ./x digests --update writes.\n";
    let lines = cases.iter().zip(digests).map(|(case, digest)| format!("{digest}  {}\n", case.name()));
    let text: String = std::iter::once(head.to_owned()).chain(lines).collect();
    fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(STORED), text).unwrap();
}

/// With `UPDATE_DOCS` it stores the digests.
#[test]
fn commands_print_what_they_printed() {
    let cases = cases::all();
    let digests = digests_of(&cases);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return store(&cases, &digests);
    }
    let changed = changes(&cases, &digests);
    let list = changed.join("\n");
    let count = changed.len();
    assert!(changed.is_empty(), "{count} commands print something else (meant? ./x digests --update):\n{list}");
}
