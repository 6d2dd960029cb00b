//! What a kernel does on a core: time, bytes, what bounds it, and its lines.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use ns_base::convert::u64_to_f64;
use ns_base::{Interval, Refusal, SimTime};
use ns_machine::cost::{Gains, Limit, instruction_cost};
use ns_machine::isa::{DmaQueue, Engine, Op};
use ns_machine::{Executable, SourceEntry};
use ns_neuron::sim::{NoObserver, Observer, SimOutcome, busy_shares, simulate};

use crate::kernel::{Action, Kernel};
use crate::lint::lint;
use crate::list::{Check, List, Problem};
use crate::lower::lower;
use crate::order::Edges;
use crate::schedule::{Stay, schedule};
use crate::setup::Setup;
use crate::{engines, join, room, widen};

/// The answer, as JSON has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    pub kernel: String,
    pub chip: String,
    /// Time on the device, microseconds; absent if the kernel does not build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_us: Option<[f64; 2]>,
    pub builds: bool,
    pub errors: Vec<Problem>,
    /// The limit without which the kernel would gain most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// What the kernel would gain without each limit, microseconds.
    pub saves_us: BTreeMap<String, f64>,
    pub engines: BTreeMap<String, Busy>,
    pub hbm: HbmBytes,
    pub spill: SpillBytes,
    /// The most bytes of a partition of SBUF that are live at once.
    pub sbuf_peak_bytes: u64,
    /// What is in use over time; absent if the kernel does not build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<Occupancy>,
    pub instructions: BTreeMap<String, u64>,
    pub lines: Vec<Line>,
    pub warnings: Vec<Problem>,
    /// The values beside those wanted, if `--check` asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// What is to be known about these figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What is in use in each of equal pieces of the time: engines, and the most bytes of a partition that tiles have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Occupancy {
    /// Length of a piece, microseconds.
    pub step_us: f64,
    pub sbuf_bytes: Vec<u64>,
    pub psum_bytes: Vec<u64>,
    /// The share of each piece for which an engine is at work, 0 to 100 percent; of those that work.
    pub busy_percent: BTreeMap<String, Vec<f64>>,
}

/// The time for which an engine is at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Busy {
    pub busy_us: f64,
    pub share: f64,
}

/// Bytes of device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HbmBytes {
    pub read_bytes: u64,
    pub write_bytes: u64,
    /// Each input and output once.
    pub floor_bytes: u64,
}

/// Bytes that leave SBUF and come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpillBytes {
    pub bytes: u64,
}

/// A line of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Line {
    pub file: String,
    pub line: u32,
    /// Time of its instructions on the engines, microseconds.
    pub engine_us: f64,
    /// Time in which its DMAs move data, microseconds.
    pub dma_us: f64,
    /// Bytes of its DMAs.
    pub bytes: u64,
    /// Its instructions and DMAs.
    pub count: u64,
}

/// A kernel that is ready to run.
pub(crate) struct Prepared {
    pub kernel: Kernel,
    pub spill_bytes: u64,
    pub peak_bytes: u64,
    /// What the compiler's allocation refuses.
    pub problem: Option<Problem>,
    pub edges: Edges,
}

/// Everything before the order of the instructions.
pub(crate) fn prepare(list: &List, setup: &Setup) -> Prepared {
    let Setup { costs, decisions, .. } = setup;
    let mut kernel = lower(list, costs, decisions);
    let peak_bytes = room::peak_bytes(&kernel);
    let problem = room::operands_that_do_not_fit(list, &kernel, costs);
    // The compiler of the first dialect may change the order of products.
    let problem = problem.or_else(|| room::sums_that_do_not_fit(list, &kernel, costs).filter(|_| list.dialect == 2));
    let spill_bytes = if decisions.sbuf { room::spill(&mut kernel, costs) } else { 0 };
    if list.dialect == 1 && decisions.widen {
        widen::widen(&mut kernel, list);
    }
    if list.dialect == 1 && decisions.join_drains {
        join::join_drains(&mut kernel);
    }
    // The compiler of the second dialect leaves copies where its functions put them by default: on the vector engine.
    engines::choose(&mut kernel, costs, decisions.spread && list.dialect == 1);
    let edges = Edges::of(&kernel);
    Prepared { kernel, spill_bytes, peak_bytes, problem, edges }
}

/// The executable of a kernel, for its timeline.
pub fn executable_of(list: &List, setup: &Setup) -> Executable {
    executable(list, &prepare(list, setup), setup).0
}

fn executable(list: &List, prepared: &Prepared, setup: &Setup) -> (Executable, [Vec<Stay>; 2]) {
    let (mut executable, stays) =
        schedule(&prepared.kernel, &prepared.edges, &setup.costs, &setup.decisions, !setup.is_static);
    executable.name = list.function().to_owned();
    for (file, line, function) in &list.sites {
        let file = list.files.get(*file).map_or("", String::as_str);
        let place = format!("{}:{line}", file.rsplit('/').next().unwrap_or(file));
        executable.sources.push(SourceEntry {
            hlo_text: place.clone(),
            hlo_opcode: place.clone(),
            framework_op: place.clone(),
            scope: vec![list.function().to_owned()],
            path: format!("{function}/{place}"),
            members: Vec::new(),
        });
    }
    // What each line does first names it.
    for item in &prepared.kernel.items {
        let entry = &mut executable.sources[ns_machine::SourceId(item.site)];
        let op = &list.forms[item.form as usize].op;
        if entry.hlo_opcode == entry.hlo_text {
            entry.framework_op = format!("{op} {}", entry.hlo_text);
            entry.hlo_opcode.clone_from(op);
        }
    }
    (executable, stays)
}

/// Runs a kernel.
///
/// # Errors
/// When the program of the kernel cannot be simulated; a kernel that does not build is an answer.
pub fn answer(list: &List, setup: &Setup) -> Result<Answer, Refusal> {
    let mut answer = Answer {
        kernel: list.function().to_owned(),
        chip: list.chip.clone(),
        builds: list.builds,
        errors: list.errors.clone(),
        warnings: list.warnings.clone(),
        check: list.check.clone(),
        remarks: setup.remarks.clone(),
        ..Answer::default()
    };
    let prepared = prepare(list, setup);
    answer.hbm.floor_bytes = floor_bytes(list, &prepared.kernel);
    answer.sbuf_peak_bytes = prepared.peak_bytes;
    answer.errors.extend(prepared.problem.clone());
    answer.builds = answer.errors.is_empty();
    if !answer.builds {
        return Ok(answer);
    }
    let (program, stays) = executable(list, &prepared, setup);
    let mut lines = Lines::new(&program);
    let outcome = simulate(&program, &setup.costs, &mut lines)?;
    let total = total(list, setup, &outcome);
    answer.total_us = Some(us(total));
    answer.interval_us = Some(interval_us(list, us(total)));
    let spans = lines.merged();
    answer.occupancy = Some(occupancy(&stays, &spans));
    answer.engines = busy(&program, setup, &outcome, &spans, total);
    answer.spill.bytes = prepared.spill_bytes;
    for item in &prepared.kernel.items {
        let [read, written] = prepared.kernel.hbm_bytes(item);
        answer.hbm.read_bytes += read;
        answer.hbm.write_bytes += written;
        if let Action::Move { bytes, .. } = item.action {
            lines.sources[item.site as usize].2 += bytes;
        }
    }
    answer.instructions = instructions(&program);
    answer.lines = lines.table(list);
    if setup.with_limits {
        let gains = Gains::of(total, |limit| {
            let without = setup.without(limit);
            let window =
                if limit == Limit::Launch { outcome.window } else { window_without(list, limit, &prepared, &without)? };
            Ok::<_, Refusal>(window + call(list, &without))
        })?;
        (answer.bound, answer.saves_us) = (gains.bound, gains.saves_us);
    }
    answer.warnings.extend(lint(list, &prepared.kernel, &answer, setup));
    Ok(answer)
}

/// When each engine works and when any DMA moves data, by the names of the answer; picoseconds.
type Spans = Vec<(String, Vec<Interval<u64>>)>;

/// The name of all DMA engines together.
const DMA: &str = "dma";

/// Pieces of the time for which the occupancy is told.
const PIECES: u64 = 120;

fn occupancy(stays: &[Vec<Stay>; 2], spans: &Spans) -> Occupancy {
    let work = spans.iter().filter_map(|(_, spans)| Some(spans.last()?.end));
    let end = stays.iter().flatten().map(|stay| stay.span.end.0).chain(work).max().unwrap_or(0);
    let step = end.div_ceil(PIECES).max(1);
    let most = |stays: &Vec<Stay>| {
        // What comes and goes, by time; what goes at a time makes room for what comes.
        let mut changes: Vec<(u64, i64)> = Vec::with_capacity(2 * stays.len());
        for stay in stays {
            let bytes = i64::try_from(stay.bytes).unwrap_or(0);
            changes.extend([(stay.span.start.0, bytes), (stay.span.end.0, -bytes)]);
        }
        changes.sort_unstable();
        let mut changes = changes.into_iter().peekable();
        let mut now = 0i64;
        let piece = |at: u64| {
            let mut most = now;
            while let Some((_, bytes)) = changes.next_if(|(time, _)| *time < (at + 1) * step) {
                now += bytes;
                most = most.max(now);
            }
            u64::try_from(most).unwrap_or(0)
        };
        (0..end.div_ceil(step)).map(piece).collect()
    };
    let busy = spans.iter().filter(|(_, spans)| !spans.is_empty());
    Occupancy {
        step_us: us(SimTime(step)),
        sbuf_bytes: most(&stays[0]),
        psum_bytes: most(&stays[1]),
        busy_percent: busy.map(|(name, spans)| (name.clone(), busy_shares(spans.iter().copied(), end, step))).collect(),
    }
}

/// The time without a limit. What the compiler decided stays, but for the values that had no room.
fn window_without(list: &List, limit: Limit, prepared: &Prepared, setup: &Setup) -> Result<SimTime, Refusal> {
    let (program, _) = match limit {
        Limit::Sbuf if prepared.spill_bytes > 0 => executable(list, &prepare(list, setup), setup),
        _ => executable(list, prepared, setup),
    };
    Ok(simulate(&program, &setup.costs, &mut NoObserver)?.window)
}

/// The time of the call beside the kernel, which `nki.benchmark` of the first dialect counts.
fn call(list: &List, setup: &Setup) -> SimTime {
    SimTime::from_ns(if list.dialect == 1 { setup.costs.kernel.call_ns } else { 0 })
}

fn total(list: &List, setup: &Setup, outcome: &SimOutcome) -> SimTime {
    outcome.window + call(list, setup)
}

fn us(time: SimTime) -> f64 {
    (time.to_secs_f64() * 1e9).round() / 1e3
}

/// From and to: where eight of ten measured kernels of the dialect lie (0.95 to 1.08 and 0.96 to 1.01 of the time here), and a little more,
/// because the decisions were made with them in view.
fn interval_us(list: &List, total: f64) -> [f64; 2] {
    let (low, high) = if list.dialect == 1 { (0.93, 1.12) } else { (0.94, 1.04) };
    [low, high].map(|factor| (total * factor * 1e3).round() / 1e3)
}

fn busy(
    program: &Executable,
    setup: &Setup,
    outcome: &SimOutcome,
    spans: &Spans,
    total: SimTime,
) -> BTreeMap<String, Busy> {
    let of = |time: SimTime| Busy {
        busy_us: us(time),
        share: (u64_to_f64(time.0) / u64_to_f64(total.0.max(1)) * 1e4).round() / 1e4,
    };
    // A stationary tile loads behind the product before it.
    let loads = program.engines[Engine::Tensor.index()].iter().map(|i| program.op(i));
    let behind: SimTime = loads
        .filter(|op| matches!(op, Op::LdWeights { .. }))
        .map(|op| instruction_cost(&setup.costs, Engine::Tensor, &op).interval)
        .sum();
    let engines = Engine::ALL.into_iter().zip(outcome.engine_busy).map(|(engine, time)| {
        let time = if engine == Engine::Tensor { time.saturating_sub(behind) } else { time };
        (engine.name().to_ascii_lowercase(), of(time))
    });
    let mut all: BTreeMap<String, Busy> = engines.collect();
    let moving = spans.iter().filter(|(name, _)| name == DMA).flat_map(|(_, spans)| spans);
    all.insert(DMA.to_owned(), of(SimTime(moving.map(|span| span.end - span.start).sum())));
    all
}

/// Each input and output once, and of one that is used in part (a table whose rows are looked up) no more than that.
fn floor_bytes(list: &List, kernel: &Kernel) -> u64 {
    let mut used = vec![0u64; list.tensors.memory.len()];
    for item in &kernel.items {
        for (access, bytes) in [item.read().first(), item.written().first()].iter().zip(kernel.hbm_bytes(item)) {
            if let Some(access) = access {
                used[kernel.tiles[access.tile as usize].tensor as usize] += bytes;
            }
        }
    }
    let letters = list.tensors.memory.bytes().enumerate();
    let outside = letters.filter(|(at, letter)| matches!(letter, b'i' | b'o') && list.tensors.of[*at] < 0);
    outside.map(|(at, _)| used[at].min(list.tensors.elements[at] * list.element_bytes(at))).sum()
}

fn instructions(program: &Executable) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for instruction in program.engines.iter().flatten() {
        let op = program.op(instruction);
        if !matches!(op, Op::LdWeights { .. }) {
            *counts.entry(op.opcode().to_ascii_lowercase()).or_default() += 1;
        }
    }
    counts.insert("dma".to_owned(), program.queues.iter().map(|ring| ring.len() as u64).sum());
    counts
}

/// What each line did.
struct Lines<'a> {
    program: &'a Executable,
    /// Time on engines, time of transfers, bytes and items of each source.
    sources: Vec<(SimTime, SimTime, u64, u64)>,
    /// When each engine works, and, last, when a DMA moves data; picoseconds.
    spans: [Vec<Interval<u64>>; Engine::ALL.len() + 1],
}

impl<'a> Lines<'a> {
    fn new(program: &'a Executable) -> Self {
        Self { program, sources: vec![Default::default(); program.sources.len()], spans: Default::default() }
    }

    /// When each engine works and when any DMA moves data, by the names of the answer; sorted and disjoint.
    fn merged(&mut self) -> Spans {
        let names = Engine::ALL.iter().map(|engine| engine.name().to_ascii_lowercase()).chain([DMA.to_owned()]);
        names.zip(std::mem::take(&mut self.spans)).map(|(name, spans)| (name, Interval::merge(spans))).collect()
    }

    fn table(self, list: &List) -> Vec<Line> {
        let mut lines: BTreeMap<(usize, u32), Line> = BTreeMap::new();
        for (site, (engine, dma, bytes, count)) in self.sources.into_iter().enumerate() {
            let place = list.place(site);
            if count == 0 {
                continue;
            }
            let line = lines.entry(place).or_insert_with(|| Line {
                file: list.files.get(place.0).cloned().unwrap_or_default(),
                line: place.1,
                ..Line::default()
            });
            line.engine_us += us(engine);
            line.dma_us += us(dma);
            line.bytes += bytes;
            line.count += count;
        }
        lines.into_values().collect()
    }
}

fn picoseconds(span: Interval<SimTime>) -> Interval<u64> {
    Interval::new(span.start.0, span.end.0)
}

impl Observer for Lines<'_> {
    fn instruction(&mut self, engine: Engine, index: usize, span: Interval<SimTime>) {
        let instruction = &self.program.engines[engine.index()][index];
        let source = &mut self.sources[instruction.source.0 as usize];
        source.0 += span.end - span.start;
        source.3 += 1;
        self.spans[engine.index()].push(picoseconds(span));
    }

    fn dma(&mut self, queue: DmaQueue, index: usize, _: SimTime, span: Interval<SimTime>) {
        let dma = &self.program.queues[queue.index()][index];
        let source = &mut self.sources[dma.source.0 as usize];
        source.1 += span.end - span.start;
        source.3 += 1;
        self.spans[Engine::ALL.len()].push(picoseconds(span));
    }
}
