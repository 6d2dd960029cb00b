//! Sums hold: whatever a command is asked for, its figures agree with one another. Random configurations, drawn from a seed, run in this process.

mod kernels;
mod models;
mod serving;
mod timelines;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use neuronscope::base::Rng;
use ns_cli::host::{Host, Memory, call};
use serde_json::Value;

/// Configurations of each command, in the test of every day and in that of the night.
const DAILY: [(Sums, u64); 9] = [
    (Sums::Bench, 300),
    (Sums::Profile, 24),
    (Sums::Generate, 80),
    (Sums::Matmult, 60),
    (Sums::CustomOp, 120),
    (Sums::Inspect, 30),
    (Sums::Numerics, 24),
    (Sums::Experiment, 24),
    (Sums::Evaluate, 200),
];
const NIGHTLY_TIMES: u64 = 12;

#[derive(Clone, Copy, Debug)]
enum Sums {
    Bench,
    Profile,
    Generate,
    Matmult,
    CustomOp,
    Inspect,
    Numerics,
    Experiment,
    Evaluate,
}

/// In a thread with the stack of a program's first one.
fn check(which: usize, times: u64) {
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(move || check_here(which, times)).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn check_here(which: usize, times: u64) {
    let (command, configurations) = DAILY[which];
    let mut found = Found::default();
    for seed in 0..configurations * times {
        let mut draw = Draw(Rng::new(seed, which as u64));
        match command {
            Sums::Bench => serving::bench(&mut draw, &mut found),
            Sums::Profile => timelines::profile(&mut draw, &mut found, times > 1),
            Sums::Generate => serving::generate(&mut draw, &mut found),
            Sums::Matmult => kernels::matmult(&mut draw, &mut found),
            Sums::CustomOp => kernels::customop(&mut draw, &mut found),
            Sums::Inspect => models::inspect(&mut draw, &mut found),
            Sums::Numerics => models::numerics(&mut draw, &mut found),
            Sums::Experiment => models::experiment(&mut draw, &mut found),
            Sums::Evaluate => models::evaluate(&mut draw, &mut found),
        }
    }
    let (ran, wrong) = (found.ran, &found.wrong);
    assert!(ran * 2 > configurations * times, "{command:?}: only {ran} configurations ran");
    let first: Vec<&String> = wrong.iter().take(12).collect();
    assert!(wrong.is_empty(), "{command:?}: {} of {ran} runs: {first:#?}", wrong.len());
}

#[test]
fn figures_of_benchmarks_agree() {
    check(0, 1);
}

#[test]
fn figures_of_profiles_agree() {
    check(1, 1);
}

#[test]
fn figures_of_language_models_agree() {
    check(2, 1);
}

#[test]
fn figures_of_the_microbenchmark_agree() {
    check(3, 1);
}

#[test]
fn figures_of_custom_operators_agree() {
    check(4, 1);
}

#[test]
fn shares_of_inspected_models_agree() {
    check(5, 1);
}

#[test]
fn figures_of_numerics_agree() {
    check(6, 1);
}

#[test]
fn figures_of_experiments_agree() {
    check(7, 1);
}

#[test]
fn metrics_of_answers_agree() {
    check(8, 1);
}

/// Thousands of configurations, 10,000 in all.
mod nightly {
    use super::{NIGHTLY_TIMES, check};

    macro_rules! thousands {
        ($($name:ident: $which:expr),* $(,)?) => {$(
            #[test]
            #[ignore = "nightly: thousands of configurations"]
            fn $name() {
                check($which, NIGHTLY_TIMES);
            }
        )*};
    }

    thousands!(
        benchmarks: 0,
        profiles: 1,
        language_models: 2,
        the_microbenchmark: 3,
        custom_operators: 4,
        inspected_models: 5,
        numerics: 6,
        experiments: 7,
        metrics: 8,
    );
}

/// What was wrong, each with the command that shows it.
#[derive(Default)]
struct Found {
    ran: u64,
    wrong: Vec<String>,
    line: String,
    files: Rc<RefCell<BTreeMap<PathBuf, Arc<Vec<u8>>>>>,
}

impl Found {
    fn holds(&mut self, what: &str, does: bool, figures: impl Debug) {
        if !does {
            self.wrong.push(format!("{what}: {figures:?} of {}", self.line));
        }
    }

    /// The document of a command; `None` where it refuses.
    fn run(&mut self, line: &str) -> Option<Value> {
        line.clone_into(&mut self.line);
        self.print(line).map(|json| serde_json::from_slice(&json).unwrap_or_else(|e| panic!("{line}: {e}")))
    }

    fn print(&self, line: &str) -> Option<Vec<u8>> {
        let out = Rc::new(RefCell::new(Vec::new()));
        let host = Kept { out: Rc::clone(&out), files: Rc::clone(&self.files) };
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        call(Box::new(host), &mut Memory::default(), &words).ok()?;
        Some(out.take())
    }
}

/// Output and files in memory.
struct Kept {
    out: Rc<RefCell<Vec<u8>>>,
    files: Rc<RefCell<BTreeMap<PathBuf, Arc<Vec<u8>>>>>,
}

impl Host for Kept {
    fn print(&mut self, bytes: &[u8]) {
        self.out.borrow_mut().extend_from_slice(bytes);
    }

    fn say(&mut self, _: &str) {}

    fn progress(&mut self, _: u64, _: u64, _: &str) {}

    fn file(&self, path: &Path) -> Option<Arc<Vec<u8>>> {
        self.files.borrow().get(path).cloned()
    }

    fn write(&mut self, path: &Path, content: &[u8]) -> bool {
        self.files.borrow_mut().insert(path.to_owned(), Arc::new(content.to_vec()));
        true
    }
}

struct Draw(Rng);

impl Draw {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.next_u32() as usize % choices.len()]
    }

    /// One of the flags in some of ten cases.
    fn sometimes(&mut self, tenths: u32, flags: &[&str]) -> String {
        let is_given = self.0.next_u32() % 10 < tenths;
        let flag = self.of(flags);
        if is_given { format!(" {flag}") } else { String::new() }
    }
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"))
}

fn rows<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().unwrap_or_else(|| panic!("{key} of {of}"))
}

fn is_near(a: f64, b: f64, share: f64, least: f64) -> bool {
    (a - b).abs() <= least.max(share * a.abs().max(b.abs()))
}

const INSTANCES: &[&str] =
    &["trn1.2xlarge", "trn1.32xlarge", "inf2.xlarge", "inf2.24xlarge", "trn2.48xlarge", "trn3-ultraserver-gen1"];

/// The last ones take long.
const MODELS: &[&str] = &[
    "nn",
    "mlp:hidden1=120,hidden2=84",
    "matmult:n=300,loop_count=5",
    "alexnet",
    "resnet18",
    "bert-base-uncased:seq=32",
    "gpt2:seq=16",
    "openai/clip-vit-base-patch32",
];
