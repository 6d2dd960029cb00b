//! A configuration measured on this machine: a thread for each model copy, or one for all.

#![allow(clippy::disallowed_methods, reason = "measuring reads the wall clock, and threads are what it measures")]

use std::fs;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::interrupt;
use ns_base::Refusal;
use ns_base::convert::u64_to_f64;
use ns_base::{Clock, WallNs};
use ns_bench::cpu::{CpuRun, CpuStage, CpuTimers, HostSamples, Machine, cpu_row, file_values, side_by_side};
use ns_bench::{Configuration, RowResult, RunDetail};
use ns_session::{ModelFileValues, ModelLibrary};

/// The default numbers of copies: one, and as many as there are processors.
pub(super) fn default_copies() -> Vec<u32> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let cores = u32::try_from(cores).unwrap_or(1);
    if cores > 1 { vec![1, cores] } else { vec![1] }
}

/// The monotonic clock of the system.
pub(super) struct SystemClock {
    origin: Instant,
    resolution_ns: u64,
}

impl SystemClock {
    /// A clock that counts from now.
    pub fn new() -> Self {
        let origin = Instant::now();
        // The smallest step between two readings.
        let step = || {
            let before = Instant::now();
            loop {
                let passed = before.elapsed().as_nanos();
                if passed > 0 {
                    return u64::try_from(passed).unwrap_or(u64::MAX);
                }
            }
        };
        let resolution_ns = (0..100).map(|_| step()).min().unwrap_or(1);
        Self { origin, resolution_ns }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> WallNs {
        WallNs(u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn resolution_ns(&self) -> u64 {
        self.resolution_ns
    }
}

/// Measures a configuration. Copies load side by side and open their windows together.
pub(super) fn run(configuration: &Configuration, models: &ModelLibrary, detail: RunDetail) -> RowResult {
    // An open file belongs to this thread; the copies get its values.
    let file = file_values(configuration, models);
    let (copies, each) = side_by_side(configuration);
    let copies = copies as usize;
    let (barrier, over) = (Barrier::new(copies), AtomicBool::new(false));
    let began_unix_s = unix_s();
    let interval = Duration::from_secs_f64(configuration.options.stats_interval_s.max(0.01));
    let (timers, samples) = thread::scope(|scope| {
        let sampler = scope.spawn(|| sample(interval, &over));
        let handles: Vec<_> = (0..copies).map(|_| scope.spawn(|| measure(&each, file.clone(), &barrier))).collect();
        let died =
            || CpuTimers { error: Some("the thread of a model copy panicked".to_owned()), ..CpuTimers::default() };
        let timers: Vec<CpuTimers> = handles.into_iter().map(|h| h.join().unwrap_or_else(|_| died())).collect();
        over.store(true, Ordering::Relaxed);
        (timers, sampler.join().unwrap_or_default())
    });
    if interrupt::is_stop_requested() {
        return RowResult::failed(configuration, "stopped by Ctrl-C");
    }
    cpu_row(configuration, &timers, &samples, &machine(began_unix_s), detail)
}

fn measure(
    configuration: &Configuration,
    file: Result<Option<ModelFileValues>, Refusal>,
    barrier: &Barrier,
) -> CpuTimers {
    let clock = SystemClock::new();
    let mut run = CpuRun::new(configuration.clone()).with_file(file);
    while !matches!(run.stage(), CpuStage::Ready | CpuStage::Done) && !interrupt::is_stop_requested() {
        run.step(&clock);
    }
    barrier.wait();
    while run.stage() != CpuStage::Done && !interrupt::is_stop_requested() {
        run.step(&clock);
    }
    run.into_timers()
}

/// Seconds since 1970 by the system's clock.
fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// `Intel(R) Xeon(R) Processor x 2`, and the same with the operating system.
fn machine(began_unix_s: u64) -> Machine {
    let name = processor();
    let count = thread::available_parallelism().map_or(1, usize::from);
    Machine {
        name: format!("{name} x {count}"),
        description: format!("{name}, {count} processors, {} {}", std::env::consts::OS, std::env::consts::ARCH),
        began_unix_s,
        ended_unix_s: unix_s(),
    }
}

/// The processor's own name, where the system gives it (Linux).
pub(super) fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|l| l.strip_prefix("model name").and_then(|l| l.split_once(':')));
    name.map_or("processor", |(_, name)| name.trim()).to_owned()
}

/// Processor and memory in use, where the system gives them (Linux).
fn sample(interval: Duration, over: &AtomicBool) -> HostSamples {
    let mut samples = HostSamples::default();
    let mut before = processor_times();
    let mut next = Instant::now() + interval;
    while !over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(10).min(interval));
        if Instant::now() < next {
            continue;
        }
        next += interval;
        let now = processor_times();
        if let (Some((busy0, all0)), Some((busy, all)), Some(memory)) = (before, now, memory_percent())
            && all > all0
        {
            samples.cpu.push(u64_to_f64(busy - busy0) * 100.0 / u64_to_f64(all - all0));
            samples.memory.push(memory);
        }
        before = now;
    }
    samples
}

/// Ticks of the processors at one moment: all, busy, and those of this process.
pub(super) struct Ticks {
    all: u64,
    busy: u64,
    own: u64,
}

impl Ticks {
    /// The current ticks, where the system gives them (Linux).
    pub fn now() -> Option<Self> {
        let (busy, all) = processor_times()?;
        let text = fs::read_to_string("/proc/self/stat").ok()?;
        // The program's name is in parentheses and may hold any character; user and system time are the 12th and 13th
        // words after it.
        let words: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let own = words.get(11)?.parse::<u64>().ok()? + words.get(12)?.parse::<u64>().ok()?;
        Some(Self { all, busy, own })
    }

    /// The share of the processors that other programs used since an earlier moment; `None` for too short a time.
    pub fn others_since(&self, before: &Self) -> Option<f64> {
        /// Fewest ticks for an estimate: a tenth of a second of one processor.
        const FEWEST: u64 = 10;
        let all = self.all.checked_sub(before.all).filter(|all| *all >= FEWEST)?;
        let busy = self.busy.saturating_sub(before.busy);
        let own = self.own.saturating_sub(before.own);
        Some(u64_to_f64(busy.saturating_sub(own)) / u64_to_f64(all))
    }
}

/// Busy and all ticks since the start of the system.
fn processor_times() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let numbers: Vec<u64> =
        text.lines().next()?.split_whitespace().skip(1).filter_map(|n| n.parse().ok()).take(8).collect();
    let all: u64 = numbers.iter().sum();
    // Idle time, and time waiting for a disk.
    let idle = numbers.get(3)? + numbers.get(4)?;
    Some((all - idle, all))
}

fn memory_percent() -> Option<f64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kib = |key: &str| -> Option<f64> {
        text.lines().find_map(|l| l.strip_prefix(key))?.trim().trim_end_matches(" kB").parse().ok()
    };
    let (total, available) = (kib("MemTotal:")?, kib("MemAvailable:")?);
    Some((total - available) * 100.0 / total)
}
