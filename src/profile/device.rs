//! Profiles that `neuron-profile` makes of a NeuronCore: the names of their rows, and the times that follow from the rows.
//!
//! The definitions are those of the tool's own summary: an engine is active while it executes any instruction but a wait for a
//! semaphore, and instructions that overlap count once.

use super::levels::waits::{self, EngineWait};
use super::{Profile, SliceFlags, TrackId};
use ns_base::{Interval, TraceNs, names};

/// Name of the process whose rows are the engines, and what the tool derives from them.
pub const DEVICE_PROCESS: &str = "Neuron device";
/// Name of the process whose rows are queues of DMA engines.
pub const DMA_PROCESS: &str = "Neuron device DMA";
/// The end of the names of rows that show the active time of an engine as the tool worked it out: `Tensor active`.
pub const ACTIVE: &str = " active";
/// Category of the instructions that the compiler made of the model.
pub const MODEL_INSTRUCTION: &str = "instruction";
/// Category of the instructions with which the runtime sets an execution up and closes it.
pub const RUNTIME_INSTRUCTION: &str = "runtime instruction";

names! {
    /// An engine of a NeuronCore.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum DeviceEngine {
        /// Matrix products. The tool shows it in two rows, `Tensor` and `TensorMatrix`.
        Tensor = "Tensor",
        /// Elementwise operations and reductions over vectors.
        Vector = "Vector",
        /// Activation functions.
        Scalar = "Scalar",
        /// General processors.
        GpSimd = "GpSimd",
        /// Starts transfers, and waits for the other engines.
        Sync = "Sync",
    }

    /// All engines, in the order of the summary.
    pub const ALL: [Self; _];
    /// Its name: `Tensor`.
    pub const fn name(self) -> &'static str;
}

impl DeviceEngine {
    /// Its name as a part of keys: `tensor`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Vector => "vector",
            Self::Scalar => "scalar",
            Self::GpSimd => "gpsimd",
            Self::Sync => "sync",
        }
    }

    /// The engine of a row: `TensorMatrix`, `Vector (nc0)`.
    #[must_use]
    pub fn of_row(name: &str) -> Option<Self> {
        let name = name.split(" (").next().unwrap_or(name);
        let is_matrix = name.eq_ignore_ascii_case("TensorMatrix");
        Self::ALL.into_iter().find(|e| name.eq_ignore_ascii_case(e.key()) || is_matrix && *e == Self::Tensor)
    }
}

/// The engine whose instructions a track shows.
pub fn engine_of(profile: &Profile, track: TrackId) -> Option<DeviceEngine> {
    let track = profile.tracks().get(track)?;
    let process = profile.processes().get(track.process)?;
    DeviceEngine::of_row(profile.str(track.name)).filter(|_| profile.str(process.name) == DEVICE_PROCESS)
}

/// Whether a track shows a queue of a DMA engine.
pub fn is_dma(profile: &Profile, track: TrackId) -> bool {
    let process = profile.tracks().get(track).and_then(|t| profile.processes().get(t.process));
    process.is_some_and(|p| profile.str(p.name) == DMA_PROCESS)
}

/// Instructions that prepare or close an execution, also if they carry the name of an operator of the model.
const SETUP: [&str; 10] = [
    "ACT_TABLE_LOAD",
    "COMPARE_BRANCH",
    "ENGINE_NOP",
    "EVENT_SEMAPHORE_RANGE_CLEAR",
    "NOP",
    "NOTIFY",
    "SET_ORDERING_MODE",
    "TENSOR_LOAD",
    "TENSOR_STORE",
    "WRITE",
];

/// How long each unit of a NeuronCore was active.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceTimes {
    /// Time in which any engine or DMA queue was active, in ns.
    pub total_active_ns: i64,
    /// Time in which any DMA queue was active, in ns.
    pub dma_active_ns: i64,
    /// Time without any activity before the first work of the model, in ns: the device waits for the host.
    pub idle_head_ns: i64,
    /// When the first work of the model begins: its first instruction that neither waits nor prepares.
    pub first_work: Option<TraceNs>,
    /// From the first to the last row, in ns.
    pub span_ns: i64,
    /// Active time of each engine, in ns, in the order of [`DeviceEngine::ALL`].
    pub engine_active_ns: [i64; 5],
    /// Number of instructions of each engine, in the order of [`DeviceEngine::ALL`].
    pub instructions: [u64; 5],
    /// Number of transfers.
    pub transfers: u64,
}

impl DeviceTimes {
    /// The times of a profile; `None` if it is not of a device.
    #[must_use]
    pub fn of(profile: &Profile) -> Option<Self> {
        let (mut tally, slices) = (DeviceTally::default(), profile.slices());
        for track in profile.tracks().ids() {
            let (engine, is_dma) = (engine_of(profile, track), is_dma(profile, track));
            if engine.is_none() && !is_dma {
                continue;
            }
            for id in slices.of_track(track).filter(|id| !slices.flags(*id).has(SliceFlags::UNCLOSED)) {
                let span = slices.interval(id);
                match engine {
                    Some(engine) => {
                        let is_of_model = profile.str(slices.category(id)) != RUNTIME_INSTRUCTION;
                        tally.instruction(engine, profile.str(slices.name(id)), is_of_model, span);
                    }
                    None => tally.transfer(span),
                }
            }
        }
        (tally.instructions.iter().sum::<u64>() > 0).then(|| tally.finish())
    }
}

/// Collects the rows that [`DeviceTimes`] are worked out from.
#[derive(Debug, Default)]
pub struct DeviceTally {
    active: [Vec<Interval<TraceNs>>; 5],
    dma: Vec<Interval<TraceNs>>,
    instructions: [u64; 5],
    transfers: u64,
    first_work: Option<TraceNs>,
    all: Option<Interval<TraceNs>>,
}

impl DeviceTally {
    /// An instruction; `is_of_model` is false if the runtime added it.
    pub fn instruction(&mut self, engine: DeviceEngine, opcode: &str, is_of_model: bool, span: Interval<TraceNs>) {
        self.widen(span);
        let (wait, at) = (waits::of_instruction(opcode), engine as usize);
        self.instructions[at] += 1;
        if wait != Some(EngineWait::Semaphore) {
            self.active[at].push(span);
        }
        if wait.is_none() && is_of_model && !SETUP.contains(&opcode) {
            self.first_work = Some(self.first_work.map_or(span.start, |first| first.min(span.start)));
        }
    }

    /// A transfer of a DMA queue.
    pub fn transfer(&mut self, span: Interval<TraceNs>) {
        self.widen(span);
        self.transfers += 1;
        self.dma.push(span);
    }

    fn widen(&mut self, span: Interval<TraceNs>) {
        let all = self.all.get_or_insert(span);
        *all = Interval::new(all.start.min(span.start), all.end.max(span.end));
    }

    /// The times.
    pub fn finish(self) -> DeviceTimes {
        let mut all = self.dma.clone();
        all.extend(self.active.iter().flatten());
        let all = Interval::merge(all);
        let (start, end) = self.all.map_or((TraceNs(0), TraceNs(0)), |all| (all.start, all.end));
        let head_end = self.first_work.unwrap_or(start);
        let active_in_head: i64 = all.iter().map(|s| (s.end.min(head_end).0 - s.start.0).max(0)).sum();
        DeviceTimes {
            total_active_ns: Interval::total_ns(&all),
            dma_active_ns: Interval::total_ns(&Interval::merge(self.dma)),
            idle_head_ns: head_end.0.saturating_sub(start.0).saturating_sub(active_in_head),
            first_work: self.first_work,
            span_ns: end.0.saturating_sub(start.0),
            engine_active_ns: self.active.map(|spans| Interval::total_ns(&Interval::merge(spans))),
            instructions: self.instructions,
            transfers: self.transfers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: i64, end: i64) -> Interval<TraceNs> {
        Interval::new(TraceNs(start), TraceNs(end))
    }

    #[test]
    fn active_time_counts_each_instant_once_and_no_wait_for_a_semaphore() {
        let mut tally = DeviceTally::default();
        tally.instruction(DeviceEngine::Sync, "DRAIN", false, span(10, 20));
        tally.instruction(DeviceEngine::Sync, "EVENT_SEMAPHORE", true, span(20, 1_100));
        tally.transfer(span(100, 150));
        tally.transfer(span(140, 160));
        tally.instruction(DeviceEngine::Tensor, "LDWEIGHTS", true, span(1_000, 1_040));
        tally.instruction(DeviceEngine::Tensor, "MATMUL", true, span(1_030, 1_100));
        tally.transfer(span(1_090, 1_120));
        let times = tally.finish();
        assert_eq!(times.engine_active_ns, [100, 0, 0, 0, 10]);
        assert_eq!((times.dma_active_ns, times.total_active_ns), (60 + 30, 10 + 60 + 120));
        // From 10 to 1000, less the drain and the first two transfers.
        assert_eq!((times.first_work, times.idle_head_ns), (Some(TraceNs(1_000)), 990 - 10 - 60));
        assert_eq!((times.instructions, times.transfers, times.span_ns), ([2, 0, 0, 0, 2], 3, 1_110));
    }

    #[test]
    fn rows_are_engines_by_their_names() {
        let of = |name| DeviceEngine::of_row(name);
        assert_eq!([of("TensorMatrix"), of("Tensor (nc1)")], [Some(DeviceEngine::Tensor); 2]);
        assert_eq!([of("GpSimd"), of("tensor active"), of("")], [Some(DeviceEngine::GpSimd), None, None]);
    }
}
