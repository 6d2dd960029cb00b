//! Files that commands write: the old one or the new one, whole, however a command ends.

#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::folder::Folder;

const NEURONSCOPE: &str = env!("CARGO_BIN_EXE_neuronscope");

/// Commands that write a file, which is the last word of each.
const WRITERS: [&str; 18] = [
    "profile --model nn --output",
    "profile --model nn --export xplane --output",
    "profile --model nn --html",
    "open run.json --output",
    "open run.json --html",
    "bench --model nn --duration 2 --csv-file",
    "bench --model nn --duration 2 --json-file",
    "bench --model nn --duration 2 --html",
    "bench --model nn --duration 2 --n-models 1 --workers-per-model 1 --trace",
    "bench --model nn --duration 2 --return-timers",
    "report reports.json --json-file",
    "inspect nn --graph",
    "generate --model llama-2-7b --trace",
    "parquet sim:nn --table slices --output",
    "index append made.json made.json --output",
    "nki kernel.json --list",
    "nki kernel.json --output",
    "nki kernel.json --report",
];

fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(NEURONSCOPE);
    command.args(line.split_whitespace()).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs a line of a shell, in which `$N` is the program.
fn shell(folder: &Path, line: &str) -> Output {
    Command::new("sh").args(["-c", line]).env("N", NEURONSCOPE).current_dir(folder).output().unwrap()
}

/// A folder with what the writers read.
fn prepared() -> Folder {
    let f = Folder::new("outputs");
    f.write("kernel.json", include_str!("../nki/lists/own_call-main.json"));
    for line in [
        "profile --model nn --output run.json",
        "bench --model nn --duration 2 --json-file reports.json",
        "compile --model nn --batch-sizes 1-9 --filename made",
    ] {
        assert!(command(&f, line).status().unwrap().success(), "{line}");
    }
    f
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = std::fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

#[test]
fn a_file_that_does_not_fit_leaves_the_old_one() {
    let f = prepared();
    f.write("out.json", "old");
    let before = names(&f);
    for writer in WRITERS {
        // A file may have 512 or 1,024 bytes, by the shell: the content of each is longer.
        let output = shell(&f, &format!("trap '' XFSZ; ulimit -f 1; exec \"$N\" {writer} out.json"));
        let said = String::from_utf8(output.stderr).unwrap();
        let last = said.lines().last().unwrap_or_default();
        let is_short = writer.contains("--csv-file");
        assert!(
            is_short
                || (output.status.code() == Some(1) && last.contains("out.json: cannot be written: File too large")),
            "{writer}: {said}"
        );
        assert!(is_short || f.read("out.json") == "old", "{writer}");
        f.write("out.json", "old");
        assert_eq!(names(&f), before, "{writer}: nothing else is left");
    }
}

#[test]
fn a_command_that_is_killed_leaves_the_old_file_or_the_new_one() {
    killed(2);
}

#[test]
#[ignore = "nightly: 400 kills"]
fn commands_that_are_killed_leave_the_old_file_or_the_new_one() {
    killed(27);
}

/// Kills each writer so often, at instants spread over the time that it takes.
fn killed(times: u32) {
    let f = prepared();
    for writer in WRITERS {
        let line = format!("{writer} out.json");
        let begun = Instant::now();
        assert!(command(&f, &line).status().unwrap().success(), "{line}");
        let takes = begun.elapsed();
        let size = std::fs::metadata(f.join("out.json")).unwrap().len();
        for kill in 0..times {
            f.write("out.json", "old");
            let mut child = command(&f, &line).spawn().unwrap();
            // The file is written at the end.
            std::thread::sleep(takes.mul_f64(1.0 - 0.5 * f64::from(kill) / f64::from(times)));
            child.kill().unwrap();
            child.wait().unwrap();
            let found = std::fs::read(f.join("out.json")).unwrap();
            // Some files hold a time or a date, whose digits may be fewer.
            let is_new = found.len().abs_diff(usize::try_from(size).unwrap()) < 64;
            assert!(found == b"old" || is_new, "{line}: {} bytes of {size}", found.len());
        }
    }
}

#[test]
fn what_a_killed_command_left_is_removed_by_the_next_one() {
    let f = prepared();
    let before = names(&f);
    let part = |name: &str, seconds: u64| {
        f.write(name, "a part");
        let file = std::fs::File::options().write(true).open(f.join(name)).unwrap();
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        file
    };
    part(".neuronscope-1-0.part", 60);
    // One that a process has just begun, one that a process still writes, and a file that is none of ours.
    part(".neuronscope-2-0.part", 0);
    let held = part(".neuronscope-3-0.part", 60);
    held.lock().unwrap();
    part(".neuronscope.part", 60);
    assert!(command(&f, "profile --model nn --output run.json").status().unwrap().success());
    let mut left = names(&f);
    left.retain(|name| !before.contains(name));
    assert_eq!(left, [".neuronscope-2-0.part", ".neuronscope-3-0.part", ".neuronscope.part"]);
}

#[test]
fn links_modes_and_streams_stay_what_they_are() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let f = prepared();
    std::fs::create_dir(f.join("deep")).unwrap();
    f.write("deep/file.json", "old");
    std::fs::set_permissions(f.join("deep/file.json"), std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("deep/file.json", f.join("link.json")).unwrap();
    symlink("deep/later.json", f.join("dangling.json")).unwrap();
    for name in ["link.json", "dangling.json", "made/of/folders.json"] {
        assert!(command(&f, &format!("profile --model nn --output {name}")).status().unwrap().success());
        assert_eq!(f.read(name), f.read("run.json"), "{name}");
    }
    assert!(f.join("link.json").is_symlink() && f.join("dangling.json").is_symlink());
    let mode = std::fs::metadata(f.join("deep/file.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let run = f.read("run.json");
    // What stdout goes to is added to, not emptied; a pipe and a device take the bytes as they come.
    f.write("log", "first\n");
    assert!(shell(&f, "$N profile --model nn --output /dev/stdout --json >> log").status.success());
    assert!(f.read("log").starts_with(&format!("first\n{run}")), "{}", f.read("log"));
    let piped = shell(&f, "mkfifo pipe; cat pipe > piped & $N profile --model nn --output pipe > shown; wait");
    assert!(piped.status.success() && f.read("piped") == run);
    assert!(shell(&f, "$N profile --model nn --output /dev/null > shown").status.success());
}

#[test]
fn output_that_fails_is_an_exit_code_and_a_sentence() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let f = prepared();
    for line in ["help", "--version", "bench --help", "models", "report reports.json", "inspect nn", "completions bash"]
    {
        let output = shell(&f, &format!("$N {line} > /dev/full"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(said.contains("the output cannot be written to stdout: No space left"), "{line}: {said}");
        assert!(shell(&f, &format!("$N {line} | head -c 1")).status.success());
    }
    for writer in WRITERS {
        let output = shell(&f, &format!("$N {writer} /dev/full > shown"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{writer}: {said}");
        assert!(said.contains("neuronscope: /dev/full: cannot be written: No space left"), "{writer}: {said}");
        assert_eq!(said.matches("No space left").count(), 1, "{writer}: {said}");
    }
    // The results are on stdout all the same.
    for (line, file) in [
        ("bench --model nn --duration 2", "--csv-file /dev/full --json-file bench.json"),
        ("report reports.json", "--html /dev/full"),
        ("matmult -n 64 -l 2", "--html /dev/full"),
        ("generate llama-3-8b --tp 24", "--html /dev/full"),
        ("customop --kernel relu-tcm --layers 16,8 --batch 2", "--html /dev/full"),
        ("numerics --model nn", "--html /dev/full"),
    ] {
        let [whole, kept] = ["", file].map(|file| shell(&f, &format!("$N {line} {file}")));
        assert_eq!((whole.status.code(), kept.status.code()), (Some(0), Some(1)), "{line}");
        assert!(!kept.stdout.is_empty() && whole.stdout == kept.stdout, "{line}");
    }
    assert!(f.read("bench.json").contains("throughput_avg"));
}

#[test]
fn processes_that_append_to_one_index_lose_no_entry() {
    let f = Folder::new("race");
    assert!(command(&f, "index create none.pt --model nn -o all.json").status().unwrap().success());
    for batch in 1..=12 {
        let line = format!("index create {batch}.pt --model nn --batch-size {batch} -o {batch}.json");
        assert!(command(&f, &line).status().unwrap().success());
    }
    let append = |batch| command(&f, &format!("index append all.json {batch}.json -o all.json")).spawn().unwrap();
    let running: Vec<_> = (1..=12).map(append).collect();
    let until = Instant::now() + Duration::from_secs(60);
    for mut child in running {
        assert!(child.wait().unwrap().success() && Instant::now() < until);
    }
    let all: serde_json::Value = serde_json::from_str(&f.read("all.json")).unwrap();
    assert_eq!(all["model_configs"].as_array().unwrap().len(), 13);
}

#[test]
fn a_second_run_of_experiments_into_one_file_is_refused() {
    let f = Folder::new("experiments");
    let line = "experiment --suite-name=dummy --accelerator=trn1 --test=eval --repeat=2 --output-dirname=out";
    let mut first = command(&f, line).spawn().unwrap();
    while !f.join("out/results.jsonl").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(20));
    let said = String::from_utf8(shell(&f, &format!("$N {line}")).stderr).unwrap();
    let is_first_done = first.try_wait().unwrap().is_some();
    assert!(is_first_done || said.contains("results.jsonl: another run adds to it"), "{said}");
    assert!(first.wait().unwrap().success());
    let all = f.read("out/results.jsonl").lines().count();
    assert!(command(&f, line).status().unwrap().success());
    assert_eq!(f.read("out/results.jsonl").lines().count(), all, "what is recorded is not run again");
    assert!(command(&f, &format!("{line} --no-resume")).status().unwrap().success());
    assert_eq!(f.read("out/results.jsonl").lines().count(), all, "the file starts again");
}

#[test]
fn a_killed_compile_or_run_of_experiments_keeps_what_it_finished() {
    let f = Folder::new("killed");
    let (compile, experiment) = (
        "compile --model nn --batch-sizes 1-20 --filename made",
        "experiment --suite-name=dummy --accelerator=trn1 --test=eval --test=train --repeat=2 --output-dirname=out",
    );
    for kill in 0..10_u64 {
        for line in [compile, experiment] {
            let mut child = command(&f, line).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(5 + kill * 13));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        if let Ok(index) = std::fs::read(f.join("made.json")) {
            let index: serde_json::Value = serde_json::from_slice(&index).unwrap();
            for entry in index["model_configs"].as_array().unwrap() {
                let artifact = f.read(entry["filename"].as_str().unwrap());
                assert!(serde_json::from_str::<ns_bench::Artifact>(&artifact).is_ok(), "{entry}");
            }
        }
    }
    assert!(command(&f, experiment).status().unwrap().success());
    let records = f.read("out/results.jsonl");
    let whole = records.lines().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).count();
    assert!(whole >= 2, "{records}");
}
