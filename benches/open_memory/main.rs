//! How much memory opening a file takes: for each format a text of about 60 MB is made, opened in a process of its own,
//! and the peak of that process's memory (beyond what it had before) is printed as a share of the text.
//!
//! `cargo bench --bench open_memory [-- FORMAT...]`; prints ratios, asserts nothing. Where `/proc` is not there it says so.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a benchmark prints, reads the clock and may fail"
)]

mod chrome;
mod devices;
mod javascript;
mod program;
mod protobuf;
mod speedscope;
mod stacks;

use std::io::Read;
use std::process::Command;

use neuronscope::formats::{ChunkedReader, ProfileReader};

/// Bytes of text made for each format, about.
const TEXT_BYTES: usize = 60 << 20;

/// Makes the file of a format.
type Make = fn() -> Vec<u8>;

const FORMATS: [(&str, Make); 17] = [
    ("chrome X", chrome::complete),
    ("chrome B E", chrome::begin_end),
    ("speedscope evented", speedscope::evented),
    ("speedscope sampled", speedscope::sampled),
    ("cpuprofile", javascript::cpuprofile),
    ("firefox columns", javascript::firefox_columns),
    ("firefox rows", javascript::firefox_rows),
    ("collapsed", stacks::collapsed),
    ("stackprof", stacks::stackprof),
    ("pprof", protobuf::pprof),
    ("pprof of a heap", protobuf::pprof_of_a_heap),
    ("xplane", protobuf::xplane),
    ("xplane with stats", protobuf::xplane_with_stats),
    ("memory timeline", devices::memory_timeline),
    ("rocprof", devices::rocprof),
    ("neuron-profile", devices::neuron_profile),
    ("perfetto", chrome::perfetto),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    if let [flag, path] = args.as_slice()
        && flag == "open"
    {
        return open(path);
    }
    println!("{:20} {:>9} {:>10} {:>9} {:>6} {:>8}", "format", "text MB", "slices", "peak MB", "ratio", "seconds");
    for (name, make) in FORMATS {
        if args.is_empty() || args.iter().any(|a| name.contains(a.as_str())) {
            measure(name, &make());
        }
    }
}

fn measure(name: &str, text: &[u8]) {
    let path = std::env::temp_dir().join(format!("neuronscope-open-memory-{}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let child = Command::new(std::env::current_exe().unwrap()).arg("open").arg(&path).output().unwrap();
    std::fs::remove_file(&path).unwrap();
    let answer = String::from_utf8(child.stdout).unwrap();
    let [slices, kib, ms] = answer.split_whitespace().map(|w| w.parse::<f64>().unwrap()).collect::<Vec<_>>()[..] else {
        println!("{name:20} {}", String::from_utf8_lossy(&child.stderr).trim());
        return;
    };
    let (text_mb, peak_mb) = (text.len() as f64 / 1e6, kib * 1024.0 / 1e6);
    println!("{name:20} {text_mb:9.1} {slices:10} {peak_mb:9.1} {:6.2} {:8.2}", peak_mb / text_mb, ms / 1e3);
}

/// Opens a file as the command line does; prints slices, KiB of memory at the peak beyond those at the start, and ms.
fn open(path: &str) {
    let mut file = std::fs::File::open(path).unwrap();
    let mut chunk = vec![0xa5; 1 << 20];
    let before = peak_kib();
    let start = std::time::Instant::now();
    let mut reader = Box::new(ProfileReader::new("measured"));
    loop {
        let read = file.read(&mut chunk).unwrap();
        if read == 0 {
            break;
        }
        reader.push(&chunk[..read]).unwrap();
    }
    let profiles = reader.finish_all().unwrap();
    let ms = start.elapsed().as_millis();
    let slices: usize = profiles.iter().map(|profile| profile.slices().len()).sum();
    println!("{slices} {} {ms}", peak_kib() - before);
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("memory is only measured where /proc is");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
