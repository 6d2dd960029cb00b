//! Builds a profile from the recording of a benchmark run.

use serde_json::json;

use super::recorder::{BenchRecorder, TracedInference};
use ns_base::{Diagnostics, Interval, SimTime, StrId};
use ns_bench::{Configuration, SetupStep, Stage};
use ns_machine::arch::instance;
use ns_profile::{ArgsId, LinkEvent, LinkValue, NeuronCoreId, ProcessId, Profile, ProfileBuilder, TrackId};

/// A benchmark run, without its recording.
#[derive(Clone, Copy, Debug)]
pub struct BenchTrace<'a> {
    pub configuration: &'a Configuration,
    /// Modelled compile time; `None` for a system that is given by its times.
    pub compile: Option<SimTime>,
    /// Whether the host records the ops of lazy tensors before `mark_step` starts their graph; not so for a traced model.
    pub is_lazy: bool,
    /// From the opening of the window to the end of the last inference.
    pub elapsed: SimTime,
}

/// Builds the timeline of a benchmark run: compiling, bringing up, and the recorded part of the window, one after the
/// other.
pub fn build_bench_profile(trace: &BenchTrace<'_>, recorder: &BenchRecorder) -> Profile {
    let mut builder = ProfileBuilder::new("simulated benchmark");
    builder.set_title(&trace.configuration.label());
    let rows = RunTracks::new(&mut builder, trace, recorder);
    rows.whole_run(&mut builder, trace, recorder);
    for (model, step, span) in &recorder.setup {
        let name = match step {
            SetupStep::EnvSetup => "env_setup",
            SetupStep::Load => "load",
            SetupStep::Setup => "setup",
            SetupStep::Warmup => "warmup",
        };
        if !span.is_empty() {
            let (start, dur) = rows.ns(rows.bring_up_from, *span);
            builder.slice(rows.models[*model as usize], start, dur, name, "setup", None);
        }
        if *step == SetupStep::Load {
            rows.synchronized(&mut builder, *model, span.end);
        }
    }
    let names = Names::new(&mut builder);
    for (number, inference) in recorder.inferences.iter().enumerate() {
        rows.inference(&mut builder, &names, recorder, inference, number as u64);
    }
    let mut diagnostics = Diagnostics::new();
    if recorder.left_out() > 0 {
        diagnostics.add("part_of_window_shown", None, || {
            format!(
                "inferences that begin in the first {} s of the window are shown, of {} s; the figures are of all of it",
                recorder.until.to_secs_f64(),
                trace.elapsed.to_secs_f64()
            )
        });
    }
    builder.finish(diagnostics)
}

/// The slices on the host that show `mark_step`, from outside to inside.
const STEP: [&str; 4] = ["StepMarker", "SyncLiveTensorsGraph", "SyncTensorsGraph", "SyncTensorsGraphInternal"];
/// The row in which cores wait for one another.
const SYNCHRONIZATION: &str = "CC Synchronization";

/// Names and categories of an inference's slices.
struct Names {
    e2e: StrId,
    infer: StrId,
    input: StrId,
    preprocess: StrId,
    call: StrId,
    host: StrId,
    transfer: StrId,
    device: StrId,
    postprocess: StrId,
    execute: StrId,
    wait_core: StrId,
    wait_host: StrId,
    wait_link: StrId,
    wait_input: StrId,
    wait_process: StrId,
    record: StrId,
    step: [StrId; 4],
    to_server: StrId,
    inference: StrId,
    wait: StrId,
    io: StrId,
}

impl Names {
    fn new(b: &mut ProfileBuilder) -> Self {
        Self {
            e2e: b.intern("e2e"),
            infer: b.intern("infer"),
            input: b.intern("input"),
            preprocess: b.intern("preprocess"),
            call: b.intern("call"),
            host: b.intern("host"),
            transfer: b.intern("transfer"),
            device: b.intern("device"),
            postprocess: b.intern("postprocess"),
            execute: b.intern("ExecuteComputation"),
            wait_core: b.intern("wait for NeuronCore"),
            wait_host: b.intern("wait for host"),
            wait_link: b.intern("wait for transfer"),
            wait_input: b.intern("wait for input"),
            wait_process: b.intern("wait for process"),
            record: b.intern("record ops"),
            step: STEP.map(|name| b.intern(name)),
            to_server: b.intern("TransferToServer"),
            inference: b.intern("inference"),
            wait: b.intern("wait"),
            io: b.intern("IO Data Transfer"),
        }
    }

    fn of(&self, stage: Stage) -> StrId {
        match stage {
            Stage::Input => self.input,
            Stage::Preprocess => self.preprocess,
            Stage::Record => self.record,
            Stage::Call => self.call,
            Stage::Host => self.host,
            Stage::Link | Stage::Transfer => self.transfer,
            Stage::Device(_) => self.device,
            Stage::Postprocess => self.postprocess,
        }
    }

    /// The name of the wait before a stage.
    fn wait_for(&self, stage: Stage) -> StrId {
        match stage {
            Stage::Host | Stage::Transfer => self.wait_host,
            Stage::Link => self.wait_link,
            Stage::Device(_) => self.wait_core,
            Stage::Input => self.wait_input,
            Stage::Preprocess | Stage::Record | Stage::Call | Stage::Postprocess => self.wait_process,
        }
    }
}

/// The tracks of a run, and the start of each of its parts.
struct RunTracks {
    main: TrackId,
    models: Vec<TrackId>,
    workers: Vec<TrackId>,
    /// For each NeuronCore: IO Data Transfer, NeuronDevice Execution.
    cores: Vec<(TrackId, TrackId)>,
    /// For each NeuronCore that runs lazy tensors: CC Synchronization.
    synchronization: Vec<TrackId>,
    is_lazy: bool,
    workers_per_model: u32,
    pipeline_size: u32,
    bring_up_from: SimTime,
    window_from: SimTime,
}

impl RunTracks {
    fn new(b: &mut ProfileBuilder, trace: &BenchTrace<'_>, recorder: &BenchRecorder) -> Self {
        let c = trace.configuration;
        let (each, stages) = (c.workers_per_model, c.pipeline_size.max(1));
        let host = b.process("/host:CPU", "/host:CPU");
        b.set_process_sort_index(host, 0);
        let mut threads = 0_i64;
        let mut thread = |b: &mut ProfileBuilder, name: String| {
            // As in the plugin: the thread's name, then its number.
            let track = b.thread(host, &threads.to_string(), &format!("{name}#{threads}"));
            b.set_track_sort_index(track, threads);
            threads += 1;
            track
        };
        let main = thread(b, "neuronperf".to_owned());
        let (mut models, mut workers) = (Vec::new(), Vec::new());
        for model in 0..c.n_models {
            models.push(thread(b, format!("model {model}")));
            workers.extend((0..each).map(|worker| thread(b, format!("model {model} worker {worker}"))));
        }
        let (mut cores, mut synchronization) = (Vec::new(), Vec::new());
        for core in 0..c.n_models * stages {
            let (process, io, execution) = core_rows(b, c, core);
            cores.push((io, execution));
            if trace.is_lazy {
                let track = b.thread(process, "cc", SYNCHRONIZATION);
                b.set_track_sort_index(track, 2);
                synchronization.push(track);
            }
        }
        let bring_up_from = trace.compile.unwrap_or_default();
        let window_from = bring_up_from + recorder.bring_up;
        Self {
            main,
            models,
            workers,
            cores,
            synchronization,
            is_lazy: trace.is_lazy,
            workers_per_model: each.max(1),
            pipeline_size: stages,
            bring_up_from,
            window_from,
        }
    }

    /// Start and duration in nanoseconds of a span that counts from `origin`. Both ends are rounded, so that spans that
    /// touch or nest also do so on the timeline.
    fn ns(&self, origin: SimTime, span: Interval<SimTime>) -> (i64, i64) {
        let at = |t: SimTime| i64::try_from((origin + t).to_ns()).unwrap_or(i64::MAX / 4);
        (at(span.start), at(span.end) - at(span.start))
    }

    fn whole_run(&self, b: &mut ProfileBuilder, trace: &BenchTrace<'_>, recorder: &BenchRecorder) {
        let zero = SimTime::ZERO;
        let c = trace.configuration;
        if let Some(compile) = trace.compile {
            let args = json!({ "model": c.model, "modelled": true }).to_string();
            let (start, dur) = self.ns(zero, Interval::new(zero, compile));
            b.slice(self.main, start, dur, "compile", "compile", Some(&args));
        }
        let (start, dur) = self.ns(self.bring_up_from, Interval::new(zero, recorder.bring_up));
        b.slice(self.main, start, dur, "load and warm-up", "setup", None);
        let args = json!({
            "batch_size": c.batch_size,
            "n_models": c.n_models,
            "workers_per_model": c.workers_per_model,
            "pipeline_size": c.pipeline_size,
            "duration_s": c.duration_s,
        });
        let end = trace.elapsed.min(self.last_end(recorder));
        let (start, dur) = self.ns(self.window_from, Interval::new(zero, end));
        b.slice(self.main, start, dur, "benchmark", "benchmark", Some(&args.to_string()));
    }

    /// Marks the loading of a program: at this time the cores of its copy are synchronised.
    fn synchronized(&self, b: &mut ProfileBuilder, model: u32, at: SimTime) {
        let first = (model * self.pipeline_size) as usize;
        for track in self.synchronization.iter().skip(first).take(self.pipeline_size as usize) {
            let (start, dur) = self.ns(self.bring_up_from, Interval::new(at, at));
            b.slice(*track, start, dur, SYNCHRONIZATION, "setup", None);
        }
    }

    fn last_end(&self, recorder: &BenchRecorder) -> SimTime {
        recorder.inferences.iter().map(|i| i.time.end).max().unwrap_or_default()
    }

    fn inference(
        &self,
        b: &mut ProfileBuilder,
        names: &Names,
        recorder: &BenchRecorder,
        inference: &TracedInference,
        number: u64,
    ) {
        let track = self.workers[inference.worker as usize];
        let stages = &recorder.stages[inference.stages.clone()];
        let put = |b: &mut ProfileBuilder, track: TrackId, time: Interval<SimTime>, name: StrId, category: StrId| {
            let (start, dur) = self.ns(self.window_from, time);
            b.slice_of(track, start, Some(dur), name, category, ArgsId::NONE);
        };
        put(b, track, inference.time, names.e2e, names.inference);
        // `infer` is the call: from the end of the step before it to the end of the last device stage.
        let is_before = |stage: Stage| matches!(stage, Stage::Input | Stage::Preprocess);
        let called = stages.iter().rfind(|(s, _)| is_before(*s)).map_or(inference.time.start, |(_, t)| t.end);
        let returned = stages.iter().rfind(|(s, _)| matches!(s, Stage::Device(_))).map(|(_, t)| t.end);
        if let Some(returned) = returned {
            put(b, track, Interval::new(called, returned), names.infer, names.inference);
        }
        let mut until = inference.time.start;
        for (stage, time) in stages {
            if time.start > until {
                put(b, track, Interval::new(until, time.start), names.wait_for(*stage), names.wait);
            }
            match (stage, self.is_lazy) {
                (Stage::Call, true) => {
                    for name in names.step {
                        put(b, track, *time, name, names.inference);
                    }
                }
                (Stage::Link, true) => put(b, track, *time, names.to_server, names.inference),
                _ => put(b, track, *time, names.of(*stage), names.inference),
            }
            until = time.end;
            self.on_core(b, names, inference.worker, *stage, *time, number);
        }
    }

    /// A NeuronCore's part of a stage, with an arrow from the worker.
    fn on_core(
        &self,
        b: &mut ProfileBuilder,
        names: &Names,
        worker: u32,
        stage: Stage,
        time: Interval<SimTime>,
        number: u64,
    ) {
        let first = (worker / self.workers_per_model * self.pipeline_size) as usize;
        let (start, dur) = self.ns(self.window_from, time);
        match stage {
            Stage::Link | Stage::Transfer => {
                b.slice_of(self.cores[first].0, start, Some(dur), names.transfer, names.io, ArgsId::NONE);
            }
            Stage::Device(stage) => {
                let track = self.cores[first + stage as usize].1;
                b.slice_of(track, start, Some(dur), names.execute, names.device, ArgsId::NONE);
                let id = LinkValue::Number(number * u64::from(self.pipeline_size) + u64::from(stage));
                let (name, category) = (names.execute, names.device);
                for (track, phase) in [(self.workers[worker as usize], b's'), (track, b'f')] {
                    let args = ArgsId::NONE;
                    b.link(LinkEvent { track, ts_ns: start, phase, name, category, id, binds_enclosing: true, args });
                }
            }
            _ => {}
        }
    }
}

fn core_rows(b: &mut ProfileBuilder, configuration: &Configuration, core: u32) -> (ProcessId, TrackId, TrackId) {
    let per_device = instance(&configuration.instance_type)
        .map_or(1, |i| i.logical_cores(configuration.options.compile.lnc) / i.devices.max(1))
        .max(1);
    let id = NeuronCoreId { device: core / per_device, core: core % per_device };
    let name = format!("NeuronDevice {} NeuronCore {}", id.device, id.core);
    let process: ProcessId = b.process(&format!("nd{}nc{}", id.device, id.core), &name);
    b.set_process_sort_index(process, 1 + i64::from(core));
    b.set_neuron_core(process, id);
    let rows = [("io", "IO Data Transfer"), ("execution", "NeuronDevice Execution")];
    let [io, execution] = rows.map(|(tid, name)| b.thread(process, tid, name));
    b.set_track_sort_index(io, 0);
    b.set_track_sort_index(execution, 1);
    (process, io, execution)
}
