//! `bench --resume`: no finished row is lost, however a run ends and however its file was cut.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use ns_bench::{BenchConfig, RowResult, SweepState};

use crate::folder::{Folder, command, run};

/// 24 configurations.
const SWEEP: &str = "bench --model nn --duration 2 --n-models 1,2 --workers-per-model 1-4 --batch-sizes 1-3 --csv";

/// Resumes from `kept.json`: the CSV, and how many rows were there.
fn resumed(folder: &Path) -> (String, usize) {
    let output = run(folder, &format!("{SWEEP} --resume kept.json"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let kept = said.lines().find_map(|line| {
        line.strip_prefix("note: ")?.strip_suffix(" configurations finished in an earlier run and are not run again")
    });
    (String::from_utf8(output.stdout).unwrap(), kept.map_or(0, |count| count.parse().unwrap()))
}

#[test]
fn a_file_that_was_cut_anywhere_gives_its_whole_rows() {
    let f = Folder::new("cut");
    let (all, _) = resumed(&f);
    let whole = f.read("kept.json");
    assert_eq!(whole.lines().count(), 25);
    let row = whole.lines().nth(3).unwrap().len();
    let third = whole.len() - whole.lines().skip(3).map(|line| line.len() + 1).sum::<usize>();
    for (end, rows) in [
        (third, 2),
        (third + 1, 2),
        (third + row / 2, 2),
        (third + row, 3),
        (third + row + 1, 3),
        (whole.len() - 1, 24),
        (0, 0),
    ] {
        f.write("kept.json", &whole[..end]);
        assert_eq!(resumed(&f), (all.clone(), rows), "cut after {end} bytes");
        assert_eq!(resumed(&f), (all.clone(), 24), "the rest was added");
    }
    // A line that is no row, in the middle.
    f.write("kept.json", whole.replacen("\"key\"", "\"ke", 1));
    assert_eq!(resumed(&f), (all, 23));
}

#[test]
fn a_kept_sweep_of_the_earlier_form_is_taken_up() {
    let f = Folder::new("earlier");
    let mut sweep = SweepState::new(BenchConfig { duration_s: 2.0, ..BenchConfig::default() }).unwrap();
    let line = "bench --model nn --duration 2 --csv --resume kept.json";
    let fresh = run(&f, line);
    for kept in f.read("kept.json").lines().skip(1).take(3) {
        let row: ns_bench::KeptRow = serde_json::from_str(kept).unwrap();
        let (at, _) = sweep.begin_next().unwrap();
        sweep.finish(at, RowResult { report: row.report, ..RowResult::default() });
    }
    f.write("kept.json", serde_json::to_string(&sweep).unwrap());
    let again = run(&f, line);
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(said.contains("note: 3 configurations finished in an earlier run"), "{said}");
    assert_eq!(again.stdout, fresh.stdout);
    assert_eq!(f.read("kept.json").lines().count(), 5);
}

#[test]
fn a_foreign_file_is_refused_and_stays() {
    let f = Folder::new("foreign");
    for text in ["{\"reports\": []}", "notes\n", "{\"neuronscope_sweep\": 2}\n"] {
        f.write("kept.json", text);
        let said = String::from_utf8(run(&f, &format!("{SWEEP} --resume kept.json")).stderr).unwrap();
        assert!(said.contains("kept.json: is not a kept sweep"), "{said}");
        assert_eq!(f.read("kept.json"), text);
    }
}

#[test]
fn a_second_run_with_the_same_file_is_refused_while_the_first_runs() {
    let f = Folder::new("both");
    let long = "bench --model nn --device-type cpu --n-models 1 --workers-per-model 1 --duration 20 --resume kept.json";
    let mut first = command(&f, long).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !f.join("kept.json").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(50));
    let said = String::from_utf8(run(&f, &format!("{SWEEP} --resume kept.json")).stderr).unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(said.contains("kept.json: another benchmark adds to it"), "{said}");
    assert_eq!(resumed(&f).1, 0);
}

#[test]
fn a_killed_sweep_keeps_every_finished_row() {
    killed(30);
}

#[test]
#[ignore = "nightly: 400 kills"]
fn a_sweep_that_is_killed_very_often_keeps_every_finished_row() {
    killed(400);
}

/// Kills a sweep so often, each time a bit later, and starts again when it is done.
fn killed(times: u32) {
    let f = Folder::new("killed");
    let line = format!("{SWEEP} --resume kept.json --verbosity 1");
    let undisturbed = run(&f, SWEEP).stdout;
    let whole_rows = || match std::fs::read_to_string(f.join("kept.json")) {
        Ok(kept) => kept.lines().skip(1).filter(|line| serde_json::from_str::<ns_bench::KeptRow>(line).is_ok()).count(),
        Err(_) => 0,
    };
    let mut before = 0;
    for kill in 0..times {
        let mut child = command(&f, &line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(u64::from(20_000 + kill * 7_919 % 60_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        let now = whole_rows();
        assert!(now >= before, "kill {kill}: {before} rows became {now}");
        before = now;
        if now == 24 {
            let (csv, kept) = resumed(&f);
            assert_eq!((csv.as_bytes(), kept), (&undisturbed[..], 24));
            std::fs::remove_file(f.join("kept.json")).unwrap();
            before = 0;
        }
    }
    assert_eq!(resumed(&f), (String::from_utf8(undisturbed).unwrap(), before));
}

#[test]
fn kernels_that_were_run_are_not_run_again() {
    let f = Folder::new("kernels");
    for name in ["a.json", "b.json"] {
        f.write(name, include_str!("../nki/lists/own_call-main.json"));
    }
    let one = run(&f, "nki --rank a.json --resume kept.jsonl --json");
    assert!(one.status.success() && f.read("kept.jsonl").lines().count() == 2);
    // Others of the same call would be another sweep.
    let both = "nki --rank a.json b.json --resume both.jsonl --json";
    let first = run(&f, both);
    let whole = f.read("both.jsonl");
    assert_eq!(whole.lines().count(), 3);
    // The second row lost its end.
    f.write("both.jsonl", &whole[..whole.len() - 9]);
    for (said, lines) in
        [("note: an earlier run finished 1 kernel;", 4), ("note: an earlier run finished 2 kernels;", 4)]
    {
        let again = run(&f, both);
        assert_eq!((again.stdout, f.read("both.jsonl").lines().count()), (first.stdout.clone(), lines));
        let err = String::from_utf8(again.stderr).unwrap();
        assert!(err.starts_with(said), "{err}");
    }
    let other = run(&f, "nki --rank a.json b.json --resume both.jsonl --flag disable-dge");
    let err = String::from_utf8(other.stderr).unwrap();
    assert!(
        other.status.code() == Some(1) && err.contains("both.jsonl: holds no kernels, or those of another"),
        "{err}"
    );
}
