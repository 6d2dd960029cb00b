//! Builds a profile from a recording.

use super::lanes::Lanes;
use super::recorder::{Recorder, Span};
use super::rows::{FusedNames, Rows, args_of};
use ns_base::convert::usize_to_i64;
use ns_base::{Diagnostics, FxHashMap, Interval, Order};
use ns_compiler::Workflow;
use ns_insight::ClockLimit;
use ns_machine::cost::CostTable;
use ns_machine::isa::{Activity, DmaQueue, Engine, Op};
use ns_machine::{Executable, SourceId};
use ns_neuron::step::start_up_ns;
use ns_profile::neuron::{ENGINES_PROCESS, START_PROPERTY};
use ns_profile::{ArgsId, NeuronCoreId, ProcessId, Profile, ProfileBuilder};

#[derive(Debug)]
pub struct CapturedProfile {
    pub profile: Profile,
    /// From the first to the last slice of the model in Control, Execution and Data Transfer, nanoseconds.
    pub device_window_ns: u64,
}

/// Name and sort order of the sections, with the pid each has in files.
const SECTIONS: [(&str, &str); 5] = [
    ("1", "Process Overview"),
    ("2", "Process Control"),
    ("3", "Process Execution"),
    ("4", "Process Data Transfer"),
    ("5", ENGINES_PROCESS),
];

/// What a profile says of its run beside what ran.
#[derive(Clone, Copy, Debug)]
pub struct RunTitle<'a> {
    pub text: &'a str,
    /// When the run began, nanoseconds since 1970.
    pub start_ns: Option<i64>,
}

impl<'a> From<&'a str> for RunTitle<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, start_ns: None }
    }
}

/// Builds the operator timeline of one execution.
pub fn build_profile(
    executable: &Executable,
    recorder: &Recorder,
    costs: &CostTable,
    workflow: Workflow,
    title: RunTitle<'_>,
) -> CapturedProfile {
    let mut builder = ProfileBuilder::new("simulated");
    builder.set_title(title.text);
    if let Some(start_ns) = title.start_ns {
        builder.set_property(START_PROPERTY, &start_ns.to_string());
    }
    builder.allow_overlaps();
    let processes = SECTIONS.map(|(pid, name)| builder.process(pid, name));
    for (i, process) in processes.iter().enumerate() {
        builder.set_process_sort_index(*process, usize_to_i64(i));
    }
    for process in &processes[1..] {
        builder.set_process_labels(*process, "NeuronDevice 0 NeuronCore 0");
        builder.set_neuron_core(*process, NeuronCoreId { device: 0, core: 0 });
    }
    let origin_ns = i64::try_from(start_up_ns(&costs.runtime, workflow)).unwrap_or(0);
    let capture = Capture { executable, recorder, origin_ns };
    let window = window_ns(recorder, origin_ns);
    capture.overview(&mut builder, processes[0], window, costs);
    let mut fused = FusedNames::above(&executable.sources);
    for (activity, process) in
        [(Activity::Control, processes[1]), (Activity::Execution, processes[2]), (Activity::DataTransfer, processes[3])]
    {
        let spans = capture.spans_of(activity);
        let mut rows = Rows::new(&mut builder, process);
        rows.modules(&mut builder, &executable.sources, &mut fused, &spans);
        if activity == Activity::DataTransfer {
            rows.overlapping_operations(&mut builder, &executable.sources, &mut fused, &spans);
        } else {
            rows.separate_operations(&mut builder, &executable.sources, &spans);
        }
    }
    capture.engines(&mut builder, processes[4]);
    let device_window_ns = u64::try_from(window.end - window.start).unwrap_or(0);
    CapturedProfile { profile: builder.finish(Diagnostics::new()), device_window_ns }
}

/// From the first start to the last end, on a timeline where the model starts at `origin_ns`.
pub(super) fn window_ns(recorder: &Recorder, origin_ns: i64) -> Interval<i64> {
    let spans = recorder.engines.iter().flatten().chain(recorder.queues.iter().flatten());
    spans
        .map(|s| s.on_timeline(origin_ns))
        .reduce(|a, b| Interval::new(a.start.min(b.start), a.end.max(b.end)))
        .unwrap_or(Interval::new(origin_ns, origin_ns))
}

/// A recording, with the start of the model on the timeline.
struct Capture<'a> {
    executable: &'a Executable,
    recorder: &'a Recorder,
    origin_ns: i64,
}

/// When an instruction is shown in a section, if it is shown there.
///
/// Loading a table of the scalar engine has two parts: the instruction that requests the table is shown in Control, and
/// the transfer of the table in Data Transfer. One follows the other, and each takes half of the load (measured: the
/// pictures of the profiling tutorial have 0.37 us in Control, then 0.37 us in Data Transfer).
fn time_in(section: Activity, activity: Activity, op: Op, time: Interval<i64>) -> Option<Interval<i64>> {
    if op != Op::ActTableLoad {
        return (activity == section).then_some(time);
    }
    let asked = time.start + (time.end - time.start) / 2;
    match section {
        Activity::Control => Some(Interval::new(time.start, asked)),
        Activity::DataTransfer => Some(Interval::new(asked, time.end)),
        Activity::Execution => None,
    }
}

impl Capture<'_> {
    fn ns(&self, span: &Span) -> Interval<i64> {
        span.on_timeline(self.origin_ns)
    }

    fn overview(&self, builder: &mut ProfileBuilder, process: ProcessId, window: Interval<i64>, costs: &CostTable) {
        let setup = builder.thread(process, "setup", "Neuron Runtime Setup");
        let compute = builder.thread(process, "compute", "Compute Busy");
        let dma = builder.thread(process, "dma", "DMA Busy");
        for (i, track) in [setup, compute, dma].into_iter().enumerate() {
            builder.set_track_sort_index(track, usize_to_i64(i));
        }
        let limits = self.recorder.clock_limits(self.origin_ns, window.end);
        if !limits.is_empty() {
            let throttle = builder.thread(process, "throttle", "Throttle");
            builder.set_track_sort_index(throttle, 3);
            for ClockLimit { time, eighths } in limits {
                let name = format!("limit {eighths} of 8");
                builder.slice(throttle, time.start, time.end - time.start, &name, "overview", None);
            }
        }
        let teardown_ns = i64::try_from(costs.runtime.teardown_ns).unwrap_or(0);
        builder.slice(setup, 0, self.origin_ns, "Neuron Runtime Setup", "runtime", None);
        builder.slice(setup, window.end, teardown_ns, "Neuron Runtime Setup", "runtime", None);
        let busy = |streams: &[Vec<Span>]| Interval::merge(streams.iter().flatten().map(|s| self.ns(s)).collect());
        for time in busy(&self.recorder.engines) {
            builder.slice(compute, time.start, time.end - time.start, "Compute Busy", "overview", None);
        }
        for time in busy(&self.recorder.queues) {
            builder.slice(dma, time.start, time.end - time.start, "DMA Busy", "overview", None);
        }
    }

    /// The spans in which each operation is busy with an activity, by start.
    fn spans_of(&self, activity: Activity) -> Vec<(SourceId, Interval<i64>)> {
        let mut by_source: FxHashMap<SourceId, Vec<Interval<i64>>> = FxHashMap::default();
        for (stream, spans) in self.executable.engines.iter().zip(&self.recorder.engines) {
            for span in spans {
                let instruction = &stream[span.index as usize];
                if let Some(time) =
                    time_in(activity, instruction.activity, self.executable.op(instruction), self.ns(span))
                {
                    by_source.entry(instruction.source).or_default().push(time);
                }
            }
        }
        if activity == Activity::DataTransfer {
            for (ring, spans) in self.executable.queues.iter().zip(&self.recorder.queues) {
                for span in spans {
                    by_source.entry(ring[span.index as usize].source).or_default().push(self.ns(span));
                }
            }
        }
        let mut busy: Vec<(SourceId, Interval<i64>)> = by_source
            .into_iter()
            .flat_map(|(source, spans)| Interval::merge(spans).into_iter().map(move |time| (source, time)))
            .collect();
        busy.order_by_key(|(source, time)| (time.start, time.end, *source));
        busy
    }

    fn engines(&self, builder: &mut ProfileBuilder, process: ProcessId) {
        let args: Vec<ArgsId> =
            self.executable.sources.iter().map(|entry| builder.add_args(&args_of(entry, false))).collect();
        for engine in Engine::ALL {
            let track = builder.thread(process, engine.name(), engine.name());
            builder.set_track_sort_index(track, usize_to_i64(engine.index()));
            for span in &self.recorder.engines[engine.index()] {
                let instruction = &self.executable.engines[engine.index()][span.index as usize];
                let name = builder.intern(self.executable.op(instruction).opcode());
                let category = builder.intern(&self.executable.sources[instruction.source].hlo_opcode);
                let time = self.ns(span);
                let args = args[instruction.source.0 as usize];
                builder.slice_of(track, time.start, Some(time.end - time.start), name, category, args);
            }
        }
        for queue in DmaQueue::ALL {
            self.queue(builder, process, queue, &args);
        }
    }

    /// DMAs of one queue overlap while they are in flight.
    fn queue(&self, builder: &mut ProfileBuilder, process: ProcessId, queue: DmaQueue, args: &[ArgsId]) {
        let spans = &self.recorder.queues[queue.index()];
        if spans.is_empty() {
            return;
        }
        let place = usize_to_i64(Engine::ALL.len() + queue.index()) * Lanes::ROOM;
        let mut lanes = Lanes::new(builder, process, queue.name(), queue.name(), place);
        for span in spans {
            let dma = &self.executable.queues[queue.index()][span.index as usize];
            let name = builder.intern("DMA_DIRECT2D");
            let category = builder.intern(&self.executable.sources[dma.source].hlo_opcode);
            let time = self.ns(span);
            let track = lanes.place(builder, time);
            let args = args[dma.source.0 as usize];
            builder.slice_of(track, time.start, Some(time.end - time.start), name, category, args);
        }
    }
}
