//! Model files that were changed a little, read through the public entry point: a panic or a hang is a fault, whatever the file.
//!
//! Each file is changed according to its format: bytes anywhere, lines and numbers of texts, fields of protocol buffers with correct
//! lengths around them, entries of archives and the fields of the JSON in them. Files that can be read become the compiler's HLO as well.
//!
//! The tests use a few hundred changed files. `NEURONSCOPE_MUTANTS=20000 cargo test --test it import_mutants` uses that many;
//! `NEURONSCOPE_MUTANTS_SEED` is the first number, `NEURONSCOPE_MODELS` another folder of files, and `NEURONSCOPE_MUTANTS_KEEP` a file
//! that each changed file is written to before it is read.

mod change;
mod packed;
mod wire;

pub(crate) use change::changed;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use neuronscope::base::Rng;
use neuronscope::compiler::{Workflow, from_program, outline};
use neuronscope::container::ByteSource;
use neuronscope::program::ImportOptions;
use neuronscope::program::file::gunzip;
use neuronscope::readers::read_model;

/// Number of changed files in a test.
const FEW: u64 = 240;

/// The largest file, in bytes, that a test changes: larger files take longer and test the same.
const FEW_BYTES: usize = 24_000;

/// Longest time that a changed file may take in a run of many, read without optimisation.
const MOST_TIME: Duration = Duration::from_secs(10);

/// A file that is changed.
struct Original {
    name: String,
    bytes: Vec<u8>,
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// All files below a folder, unpacked, in the order of their names.
fn originals(folder: &Path, most: usize) -> Vec<Original> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !["json", "npz", "md", "py"].iter().any(|end| name.ends_with(&format!(".{end}"))) {
                let bytes = fs::read(&path).unwrap();
                let bytes = if name.ends_with(".gz") { gunzip(&bytes).unwrap() } else { bytes };
                if (20..=most).contains(&bytes.len()) {
                    found.push(Original { name: name.trim_end_matches(".gz").to_owned(), bytes });
                }
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The result of reading a changed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    Refused,
    Read,
    Placed,
}

/// Reads a changed file as the command line does, and places it on a core.
fn ask(name: &str, bytes: &dyn ByteSource, display_only: bool) -> Came {
    let options = ImportOptions { display_only, ..ImportOptions::default() };
    let imported = match read_model(name, bytes, &options) {
        Ok(imported) => imported,
        Err(error) => {
            assert!(!error.refusal.what().is_empty() && !error.refusal.instead().is_empty(), "{error}");
            assert!(error.to_string().chars().count() <= 4_000, "{} characters", error.to_string().chars().count());
            return Came::Refused;
        }
    };
    let assumed = BTreeMap::new();
    match from_program(&imported.program, Workflow::Trace, &assumed) {
        Ok(_) => Came::Placed,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let _outlined = outline(&imported.program, Workflow::Trace, &assumed);
            Came::Read
        }
    }
}

#[test]
fn changed_files_are_read_or_refused() {
    let folder = std::env::var("NEURONSCOPE_MODELS").ok();
    let folder = folder.map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models"),
        |folder| PathBuf::from(&folder),
    );
    let asked = number("NEURONSCOPE_MUTANTS");
    let files = originals(&folder, if asked.is_some() { 1 << 22 } else { FEW_BYTES });
    assert!(files.len() > 20, "{} files", files.len());
    // A few files among other tests are not timed: on a busy machine the time says nothing about a reader.
    let most_time = asked.map_or(Duration::MAX, |_| MOST_TIME);
    let first = number("NEURONSCOPE_MUTANTS_SEED").unwrap_or(0);
    let keep = std::env::var("NEURONSCOPE_MUTANTS_KEEP").ok();
    let (mut counts, mut faults) = (BTreeMap::new(), Vec::new());
    let mut longest = (Duration::ZERO, String::new());
    for seed in first..first + asked.unwrap_or(FEW) {
        let mut rng = Rng::new(seed, 7);
        // Every file in turn, large ones more rarely.
        let file = &files[(seed as usize * 7 + 3) % files.len()];
        if file.bytes.len() > 100_000 && !seed.is_multiple_of(4) {
            continue;
        }
        let (how, bytes) = change::changed(&mut rng, &file.bytes);
        let about = format!("seed {seed}: {} changed by {how}", file.name);
        if let Some(keep) = &keep {
            fs::write(keep, &bytes).unwrap();
            fs::write(format!("{keep}.txt"), &about).unwrap();
        }
        let before = Instant::now();
        let came = catch_unwind(AssertUnwindSafe(|| ask(&file.name, &bytes, seed.is_multiple_of(3))));
        let took = before.elapsed();
        if took > longest.0 {
            longest = (took, about.clone());
        }
        match came {
            Ok(came) if took <= most_time => *counts.entry((how, came)).or_insert(0u64) += 1,
            Ok(_) => faults.push(format!("{about}: {took:?}")),
            Err(panic) => {
                let said = panic.downcast_ref::<String>().cloned();
                let said = said.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
                faults.push(format!("{about}: {}", said.unwrap_or_default()));
            }
        }
        if let (Some(keep), Some(fault)) = (&keep, faults.last().filter(|f| f.starts_with(&about))) {
            fs::write(format!("{keep}.{seed}"), &bytes).unwrap();
            println!("FAULT {fault}");
        }
    }
    println!("{counts:?}, longest {longest:?}");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    let of = |came: Came| counts.iter().filter(|((_, c), _)| *c == came).map(|(_, n)| n).sum::<u64>();
    assert!(of(Came::Refused) > 0 && of(Came::Placed) > 0, "{counts:?}");
}
