//! How fast a file of experiments' records is aggregated, and in how much memory: by the command line, on a file that is
//! made here. `cargo bench --bench records -- 100` takes 100 MB instead of 1 GB.
//!
//! Beside it Python parses every line, which is the least that PyTorch/XLA's script does. With `NEURONSCOPE_PYTORCH_XLA`, the
//! folder `benchmarks` of a checkout of PyTorch/XLA, that script reads the same file, and both have to print the same.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark prints, reads the clock and may fail"
)]

mod generate;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Megabytes of records, unless an argument says.
const DEFAULT_MB: u64 = 1_000;
/// What the command is asked for.
const REPORT: [&str; 2] = ["--report=speedup", "--format=csv"];

fn main() {
    let megabytes = std::env::args().find_map(|a| a.parse().ok()).unwrap_or(DEFAULT_MB);
    let scratch = Scratch::new();
    let (file, part) = (scratch.0.join("results.jsonl"), scratch.0.join("part.jsonl"));
    let lines = generate::write(&file, megabytes * 1_000_000).unwrap();
    generate::write(&part, megabytes * 1_000_000 / 2).unwrap();
    println!("records: {lines} lines, {megabytes} MB");
    let program = Path::new(env!("CARGO_BIN_EXE_neuronscope"));
    let command = |file: &Path| {
        let mut command = Command::new(program);
        command.arg("aggregate").args(REPORT).arg(file);
        command
    };
    // The second of two runs has the file in memory, as a pipeline of commands has it.
    run(command(&file));
    let ours = run(command(&file));
    let half = run(command(&part));
    let rate = |seconds: f64| megabytes as f64 / seconds;
    println!("records: aggregated in {:.2} s, {:.0} MB/s", ours.seconds, rate(ours.seconds));
    if ours.processor_s > 0.0 {
        println!("records: {:.2} s of a processor, {:.0} MB/s", ours.processor_s, rate(ours.processor_s));
    }
    println!("records: peak memory {}, of half the file {}", in_mb(ours.peak_bytes), in_mb(half.peak_bytes));
    let parsed = run(parse_in_python(&file));
    match parsed.output.as_slice() {
        b"" => println!("records: Python skipped: python3 cannot be run"),
        _ => println!(
            "records: Python's json.loads of every line alone {:.2} s, {:.1} times as long",
            parsed.seconds,
            parsed.seconds / ours.seconds
        ),
    }
    match peer(&file) {
        None => {
            println!("records: PyTorch/XLA's aggregate.py skipped: NEURONSCOPE_PYTORCH_XLA names no benchmarks folder")
        }
        Some(command) => compare(&ours, &run(command)),
    }
}

fn compare(ours: &Ran, theirs: &Ran) {
    if theirs.output.is_empty() {
        println!(
            "records: PyTorch/XLA's aggregate.py printed nothing (has python3 its packages: numpy, scipy, tabulate?)"
        );
        return;
    }
    println!(
        "records: PyTorch/XLA's aggregate.py {:.2} s: {:.0} times as long; peak memory {}; {}",
        theirs.seconds,
        theirs.seconds / ours.seconds,
        in_mb(theirs.peak_bytes),
        if ours.output == theirs.output { "the same report" } else { "ANOTHER report" }
    );
}

/// Python that parses every line and does nothing with it.
fn parse_in_python(file: &Path) -> Command {
    let mut command = python();
    command
        .arg("-c")
        .arg("import json, sys\nprint(sum(len(json.loads(line)) for line in open(sys.argv[1])))")
        .arg(file);
    command
}

fn python() -> Command {
    Command::new(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()))
}

/// The suite's own command, where it is to be had.
fn peer(file: &Path) -> Option<Command> {
    let folder = PathBuf::from(std::env::var_os("NEURONSCOPE_PYTORCH_XLA")?);
    let script = folder.join("aggregate.py");
    if !script.is_file() {
        return None;
    }
    let mut command = python();
    command.arg(script).args(REPORT).arg(file);
    Some(command)
}

/// How a command ran.
struct Ran {
    seconds: f64,
    /// Time on a processor, which other programs do not lengthen; 0 where the system does not say.
    processor_s: f64,
    /// Most memory that it had at once; 0 where the system does not say.
    peak_bytes: u64,
    output: Vec<u8>,
}

/// Runs a command to its end, and looks at its memory meanwhile.
fn run(mut command: Command) -> Ran {
    let start = Instant::now();
    let Ok(mut child) = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        return Ran { seconds: f64::INFINITY, processor_s: 0.0, peak_bytes: 0, output: Vec::new() };
    };
    let status = format!("/proc/{}/status", child.id());
    // The report is short: it waits in the pipe.
    let (mut peak_bytes, mut processor_s) = (0, 0.0);
    while child.try_wait().unwrap().is_none() {
        peak_bytes = peak_bytes.max(high_water_bytes(&status).unwrap_or(0));
        processor_s = processor_seconds(child.id()).unwrap_or(0.0).max(processor_s);
        std::thread::sleep(Duration::from_millis(2));
    }
    let seconds = start.elapsed().as_secs_f64();
    Ran { seconds, processor_s, peak_bytes, output: child.wait_with_output().unwrap().stdout }
}

/// The most memory a process had, as Linux says.
fn high_water_bytes(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1_024)
}

/// User and system time of a process, as Linux says: ticks of a hundredth of a second.
fn processor_seconds(process: u32) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let words: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| words.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

fn in_mb(bytes: u64) -> String {
    if bytes == 0 { "not known here".to_owned() } else { format!("{:.1} MB", bytes as f64 / 1e6) }
}

/// A folder that goes with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("neuronscope-records-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
