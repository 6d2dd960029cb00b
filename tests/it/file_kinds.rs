//! The first bytes of a file say who reads it: for every fixture, that reader can.

use std::fs;
use std::path::{Path, PathBuf};

use crate::folder::{Folder, run};
use crate::formats::fixtures;
use neuronscope::formats::read_bytes;
use neuronscope::session::{HEAD_BYTES, Kind, sniff};

/// Every file below a folder.
fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

/// The files below a folder that `is_read` reads, but that another kind of reader would get. `name`: the file's name for `sniff`.
fn misled(folder: &Path, kind: Kind, is_read: impl Fn(&str, &[u8]) -> bool) -> Vec<String> {
    let mut files = Vec::new();
    files_below(folder, &mut files);
    files.sort();
    let mut wrong = Vec::new();
    for path in files {
        let (name, bytes) = (path.file_name().unwrap().to_string_lossy(), fs::read(&path).unwrap());
        let head = &bytes[..bytes.len().min(HEAD_BYTES)];
        for name in [&*name, "file"] {
            let said = sniff(head, name);
            if said != kind && is_read(name, &bytes) {
                wrong.push(format!("{} as {name}: {said:?}", path.display()));
            }
        }
    }
    wrong
}

#[test]
fn profiles_go_to_the_readers_of_profiles() {
    let wrong = misled(&fixtures(), Kind::Profile, |name, bytes| read_bytes(name, bytes).is_ok());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn models_go_to_the_readers_of_models() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models");
    let wrong = misled(&folder, Kind::Model, |_, bytes| neuronscope::program::file::sniff(&bytes.to_vec()).is_ok());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_answers_of_commands_are_named_with_what_writes_a_page() {
    let folder = Folder::new("answers");
    let lines =
        ["generate --model llama-2-7b", "numerics --model nn", "customop --kernel relu-tcm", "fit --model opt-13b"];
    for line in lines {
        folder.write("answer.json", run(&folder, &format!("{line} --json")).stdout);
        let said = String::from_utf8(run(&folder, "open answer.json").stderr).unwrap();
        let command = line.split(' ').next().unwrap();
        assert!(said.contains(&format!("this is an answer of neuronscope {command} for scripts")), "{line}: {said}");
    }
    folder.write("list.json", include_str!("../nki/lists/own_call-main.json"));
    let said = String::from_utf8(run(&folder, "open list.json").stderr).unwrap();
    assert!(said.contains("neuronscope nki list.json"), "{said}");
}
