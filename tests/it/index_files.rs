//! `index copy`, `move` and `delete` touch artifacts below the index's folder, and nothing else that an index names.

use std::path::Path;
use std::process::{Command, Output};

use crate::folder::Folder;

fn run(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(line.split_whitespace()).current_dir(folder).output().unwrap()
}

fn said(folder: &Path, line: &str) -> (bool, String) {
    let output = run(folder, line);
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

/// An index in `work`, with an artifact that was compiled there; returns the artifact's name.
fn compiled(folder: &Path) -> String {
    let work = folder.join("work");
    std::fs::create_dir(&work).unwrap();
    assert!(run(&work, "compile --model nn --filename good").status.success());
    let good: serde_json::Value = serde_json::from_slice(&std::fs::read(work.join("good.json")).unwrap()).unwrap();
    good["model_configs"][0]["filename"].as_str().unwrap().to_owned()
}

fn write_index(folder: &Path, names: &[&str]) {
    let entries: Vec<serde_json::Value> = names
        .iter()
        .map(|name| serde_json::json!({ "filename": name, "batch_size": 1, "pipeline_size": 1, "performance_level": 3, "status": "finished" }))
        .collect();
    let index = serde_json::json!({ "NeuronPerf_version": "x", "model_name": "nn", "model_configs": entries });
    std::fs::write(folder.join("index.json"), index.to_string()).unwrap();
}

/// Every path below a folder with its content, folders too.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_folder = path.is_dir() && !path.is_symlink();
        all.push((path.display().to_string(), if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() }));
        if is_folder {
            all.extend(contents(&path));
        }
    }
    all.sort();
    all
}

#[test]
fn what_is_not_an_artifact_below_the_index_is_refused_and_stays() {
    let f = Folder::new("foreign");
    let artifact = compiled(&f);
    let work = f.join("work");
    std::fs::create_dir_all(f.join("precious/inner")).unwrap();
    f.write("precious/inner/file", "x");
    std::fs::copy(work.join(&artifact), f.join("outside.json")).unwrap();
    std::fs::create_dir(work.join("folder")).unwrap();
    std::fs::write(work.join("folder/notes.txt"), "notes").unwrap();
    std::fs::write(work.join("a.pt"), "weights").unwrap();
    let absolute = f.join("outside.json").display().to_string();
    let mut names =
        vec!["../precious", "../outside.json", "..", ".", "folder", "folder/notes.txt", "a.pt", "good.json"];
    names.extend(["/etc/hostname", "/", "folder/../../outside.json", &absolute]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(f.join("outside.json"), work.join("link.json")).unwrap();
        std::os::unix::fs::symlink(f.join("precious"), work.join("linked")).unwrap();
        std::fs::copy(work.join(&artifact), f.join("precious/artifact.json")).unwrap();
        names.extend(["link.json", "linked", "linked/artifact.json", "linked/inner/file"]);
    }
    for name in names {
        // The artifact before it in the index stays too: nothing is touched before everything is checked.
        write_index(&work, &[&artifact, name]);
        let before = contents(&f);
        for line in
            ["index delete index.json", "index move index.json new.json there", "index copy index.json new.json there"]
        {
            let (done, why) = said(&work, line);
            assert!(!done && why.contains(name), "{line} of {name}: {why}");
            assert_eq!(contents(&f), before, "{line} of {name}");
        }
    }
}

#[test]
fn a_copy_never_replaces_a_foreign_file_or_its_own_source() {
    let f = Folder::new("into");
    let artifact = compiled(&f);
    let work = f.join("work");
    let bytes = std::fs::read(work.join(&artifact)).unwrap();
    let name = artifact.strip_prefix("models/").unwrap();
    // Another spelling of the folder in which the artifact is.
    for line in [
        "index copy good.json good.json ./models",
        "index move good.json good.json new/../models",
        "index move good.json good.json ./models/",
    ] {
        let (done, why) = said(&work, line);
        assert!(done, "{line}: {why}");
        assert_eq!(std::fs::read(work.join(&artifact)).unwrap(), bytes, "{line}");
    }
    std::fs::create_dir(work.join("there")).unwrap();
    std::fs::write(work.join("there").join(name), "mine").unwrap();
    let (done, why) = said(&work, "index copy good.json new.json there");
    assert!(!done && why.contains("would be overwritten"), "{why}");
    assert_eq!(std::fs::read_to_string(work.join("there").join(name)).unwrap(), "mine");
    let (done, why) = said(&work, &format!("index copy good.json other/{name} other"));
    assert!(!done && why.contains("would be one file"), "{why}");
    // An artifact that is there already may be replaced by its new version.
    std::fs::write(work.join("there").join(name), &bytes).unwrap();
    assert!(said(&work, "index copy good.json new.json there").0);
    assert!(said(&work, &format!("index delete {}", work.join("new.json").display())).0);
    assert!(!work.join("there").join(name).exists() && work.join(&artifact).exists());
}

/// The table of the entries is the one of the page, whose cells are tested there.
#[test]
fn an_index_is_shown_as_a_table() {
    let f = Folder::new("shown-index");
    let artifact = compiled(&f);
    let output = run(&f.join("work"), "index show good.json");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("Model index: ") && said.contains("\n1 of 1 entries are finished."), "{said}");
    let row = said.lines().last().unwrap();
    assert!(row.starts_with(&artifact) && row.contains("trn1.2xlarge") && row.ends_with("finished"), "{said}");
    let other = run(&f.join("work"), &format!("index show {artifact}"));
    assert!(String::from_utf8(other.stderr).unwrap().contains("is not a model index"));
}
