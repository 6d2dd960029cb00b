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
        ("experiment --suite-name=dummy --accelerator=trn1 --timestamp nan", "not a number of seconds since 1970"),
        ("analyze --timestamp inf", "not a finite number"),
        ("aggregate x.jsonl --fig-width nan", "not a finite number"),
        ("aggregate x.jsonl --fig-height=-5", "above 0"),
    ] {
        let output = limited(&f, line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && message.contains(said), "{line}: {message}");
    }
}

/// Six configurations of 1.2 million latencies, of which one is in memory at a time, and then of each file one result.
#[test]
fn timers_of_a_sweep_are_written_as_they_come_and_read_one_by_one() {
    let f = Folder::new("timers");
    let sweep = "bench --model nn --duration 200 --n-models 1 --workers-per-model 1 --batch-sizes 1,2,3,4,5,6";
    let output = limited(&f, &format!("{sweep} --return-timers timers.json"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::metadata(f.join("timers.json")).unwrap().len() > 50_000_000);
    let read = limited(&f, "report timers.json --json");
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    assert_eq!(String::from_utf8_lossy(&read.stdout).matches("\"throughput_avg\"").count(), 6);
}

#[test]
fn reports_of_a_long_run_are_refused_before_they_fill_the_memory() {
    let f = Folder::new("latencies");
    let output =
        limited(&f, "bench --model nn --duration 3600 --n-models 1 --workers-per-model 4 --report-verbosity 2");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(1) && said.contains("would keep about") && said.contains("--return-timers FILE"),
        "{said}"
    );
}

/// As many values as a file may have, in one row: ten times its size as values.
#[test]
fn a_row_of_many_values_is_left_out() {
    let f = Folder::new("values");
    let many = "[],".repeat(30_000_000);
    std::fs::write(f.join("row.json"), format!("[{{\"status\": [{many}0]}}, {{\"throughput_avg\": 2.5}}]")).unwrap();
    let output = limited(&f, "report row.json --json");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("row 1: it has more than 1048576 values"), "{said}");
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
