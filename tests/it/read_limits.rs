//! Files of any size and devices without an end: a sentence, soon, and little memory.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::folder::Folder;

/// Commands that read what a file holds; each ends with the file.
const READERS: [&str; 15] = [
    "report",
    "evaluate",
    "validate",
    "verify --cases",
    "parquet --output out.parquet --table reports",
    "parquet --output out.parquet --table records",
    "index delete",
    "index append --output sum.json",
    "aggregate",
    "bench",
    "bench --config",
    "bench --model nn --duration 2 --resume",
    "generate --model-config",
    "open",
    "inspect",
];

/// Runs with 300 MiB of memory.
fn limited(folder: &Path, line: &str) -> Output {
    let line = format!("ulimit -d 307200; exec \"$N\" {line}");
    Command::new("sh")
        .args(["-c", &line])
        .env("N", env!("CARGO_BIN_EXE_neuronscope"))
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn files_without_an_end_are_refused_with_a_sentence() {
    let f = Folder::new("endless");
    let large = std::fs::File::create(f.join("sparse.json")).unwrap();
    large.set_len(3 << 30).unwrap();
    for file in ["sparse.json", "/dev/zero", "/dev/full"] {
        for reader in READERS {
            let begun = Instant::now();
            let output = limited(&f, &format!("{reader} {file}"));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(matches!(output.status.code(), Some(1 | 2)), "{reader} {file}: {:?} {said}", output.status);
            assert!(said.contains(file), "{reader} {file}: {said}");
            assert!(begun.elapsed() < Duration::from_secs(20), "{reader} {file}: {:?}", begun.elapsed());
        }
    }
    assert_eq!(std::fs::metadata(f.join("sparse.json")).unwrap().len(), 3 << 30);
}

#[test]
fn what_is_no_file_says_what_it_is() {
    let f = Folder::new("kinds");
    std::fs::create_dir(f.join("folder")).unwrap();
    std::os::unix::fs::symlink("nowhere", f.join("dangling")).unwrap();
    for (name, said) in [
        ("folder", "folder: is a folder"),
        ("/dev/zero", "/dev/zero: is a device, which has no end"),
        ("dangling", "dangling: cannot be opened"),
    ] {
        let output = limited(&f, &format!("inspect {name}"));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(said), "{message}");
    }
    for (line, said) in [
        ("experiment --suite-name=dummy --accelerator=trn1 --timestamp nan", "not a finite number"),
        ("analyze --timestamp inf", "not a finite number"),
        ("aggregate x.jsonl --fig-width nan", "not a finite number"),
        ("aggregate x.jsonl --fig-height=-5", "above 0"),
    ] {
        let output = limited(&f, line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && message.contains(said), "{line}: {message}");
    }
}

#[test]
fn timers_of_a_long_run_say_their_size_before_it() {
    use std::io::{BufRead, BufReader};
    let f = Folder::new("timers");
    for flag in ["--return-timers timers.json", "--report-verbosity 2"] {
        let line = format!("bench --model nn --duration 3600 --n-models 1 --workers-per-model 4 {flag}");
        let mut child = Command::new(env!("CARGO_BIN_EXE_neuronscope"))
            .args(line.split_whitespace())
            .current_dir(&*f)
            .stderr(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let first = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map_while(Result::ok)
            .find(|line| line.starts_with("note: --"));
        child.kill().unwrap();
        child.wait().unwrap();
        let said = first.unwrap();
        assert!(said.contains(flag.split(" t").next().unwrap()) && said.contains("GiB of memory"), "{said}");
    }
}

/// Forty computations that call each other twice: a million million calls in two pages of text.
#[test]
fn calls_without_an_end_are_refused_with_a_sentence() {
    let f = Folder::new("calls");
    let mut text = "HloModule m\n\nf0 {\n  p = f32[4] parameter(0)\n  ROOT c = f32[4] add(p,p)\n}\n".to_owned();
    for (n, of) in (1..40).zip(0..) {
        text.push_str(&format!("\nf{n} {{\n  p = f32[4] parameter(0)\n  a = f32[4] call(p), to_apply=f{of}\n"));
        text.push_str(&format!("  ROOT c = f32[4] call(a), to_apply=f{of}\n}}\n"));
    }
    text.push_str("\nENTRY e {\n  a = f32[4] parameter(0)\n  ROOT r = f32[4] call(a), to_apply=f39\n}\n");
    std::fs::write(f.join("calls.hlo.txt"), text).unwrap();
    for line in [
        "numerics calls.hlo.txt",
        "profile calls.hlo.txt",
        "bench calls.hlo.txt --duration 2",
        "inspect calls.hlo.txt --graph graph.svg",
        "inspect calls.hlo.txt --instance inf2.xlarge",
    ] {
        let begun = Instant::now();
        let output = limited(&f, line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(said.contains("instructions once its calls"), "{line}: {said}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{line}: {:?}", begun.elapsed());
    }
}
