//! A model file in words and as JSON: what it holds, one call of it, its values. `neuronscope inspect FILE` prints it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::model_values::{ModelValueJson, ModelValues};
use ns_base::units::format_count;
use ns_base::{Refusal, SimTime, refuse};
use ns_compiler::Workflow;
use ns_device::{Compilation, Device, EstimateMark, ModelFileSettings, ModelLibrary};
use ns_neuron::step::Waits;
use ns_program::{Inspection, TensorInfo, Verdict, occurrence};
use ns_view::terminal::table;

/// A model file, with the choices that the user made for it.
pub struct ModelFileReport<'a> {
    pub inspection: &'a Inspection,
    pub settings: &'a ModelFileSettings,
    /// One call on an instance.
    pub call: Option<(OneCall, &'a str)>,
    pub values: Option<ModelValues>,
}

impl ModelFileReport<'_> {
    pub fn text(&self) -> String {
        let mut out = describe(self.inspection);
        if let Some((run, instance)) = &self.call {
            out.push_str(&timed(run, instance, self.settings));
        }
        out + &self.values.as_ref().map(ModelValues::text).unwrap_or_default()
    }

    /// The object that `--json` prints. Fails when a value has no JSON form.
    pub fn json(&self) -> Result<String, Refusal> {
        let device = self.call.as_ref().map(|(run, _)| JsonRun::of(run, self.settings));
        let values = self.values.as_ref().map(ModelValues::json).unwrap_or_default();
        let json = InspectJson { inspection: self.inspection, device, values };
        Ok(serde_json::to_string_pretty(&json).map_err(|e| refuse!("{e}"))? + "\n")
    }
}

/// One call of a model file on a simulated core.
pub struct OneCall {
    compiled: Compilation,
    /// From the first instruction to the last, on the core.
    core: SimTime,
    /// The time when nothing else waits: host, link and core, one after the other.
    call: SimTime,
    notes: Vec<String>,
}

impl OneCall {
    /// Compiles a model for a core of an instance and simulates one call. Fails when it cannot be compiled.
    pub fn of(models: &ModelLibrary, model: &str, batch: Option<u32>, instance: &str) -> Result<Self, Refusal> {
        let device = Device::of_instance(instance)?.with_models(models);
        let compiled = device.compilation(model, batch, Workflow::Trace)?;
        let step = device.step(&compiled, Workflow::Trace)?;
        let removed = compiled.removed().map(|removed| removed.sentence("the program"));
        let notes = compiled.notes.iter().cloned().chain(removed).collect();
        Ok(Self { compiled, core: step.window, call: step.time(Waits::ForEachResult), notes })
    }
}

fn describe(found: &Inspection) -> String {
    let tensor = |t: &TensorInfo| {
        let size = |(i, d): (usize, &u64)| t.open.get(&i).map_or_else(|| d.to_string(), |name| format!("{name}={d}"));
        let sizes: Vec<String> = t.shape.iter().enumerate().map(size).collect();
        format!("{} {}[{}]", t.name, t.dtype, sizes.join(","))
    };
    let list = |tensors: &[TensorInfo]| tensors.iter().map(tensor).collect::<Vec<_>>().join("\n              ");
    let mut out = format!(
        "format        {}\nproducer      {}\ninputs        {}\noutputs       {}\nparameters    {}\nbuffers       {}\nFLOPs         {} in matrix products\n",
        found.format,
        if found.producer.is_empty() { "not stated" } else { &found.producer },
        list(&found.inputs),
        list(&found.outputs),
        format_count(found.parameters),
        format_count(found.buffers),
        format_count(found.flops),
    );
    if found.verdict == Verdict::Partial {
        out.push_str("partially read: see the notes\n");
    }
    for d in &found.open_dimensions {
        let range = match (d.min, d.max) {
            (Some(min), Some(max)) => format!(", {min} to {max}"),
            (Some(min), None) => format!(", {min} or more"),
            _ => String::new(),
        };
        let chosen = if d.is_chosen { "as given" } else { "as exported; --dim sets it" };
        let _ = writeln!(out, "open          {} = {} ({chosen}{range})", d.name, d.used);
    }
    let mut ops: Vec<(&String, &u64)> = found.ops.iter().collect();
    ops.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let rows: Vec<Vec<String>> = ops.into_iter().map(|(name, n)| vec![name.clone(), n.to_string()]).collect();
    let _ = write!(out, "\n{}", table(&["Operator", ">Count"], &rows));
    if !found.modules.is_empty() {
        let _ = writeln!(out, "\nmodules ({}):", found.modules.len());
        for module in found.modules.iter().take(MOST_MODULES) {
            let _ = writeln!(out, "  {module}");
        }
        if found.modules.len() > MOST_MODULES {
            let _ = writeln!(out, "  ... --json lists all of them");
        }
    }
    for u in &found.unsupported {
        let why = if u.why.is_empty() { String::new() } else { format!(": {}", u.why) };
        let _ = writeln!(out, "without a known meaning: {} ({}){why}", u.op, occurrence(u.count, &u.first));
    }
    for note in &found.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

/// Most modules that are listed on a terminal.
const MOST_MODULES: usize = 20;

fn timed(run: &OneCall, instance: &str, settings: &ModelFileSettings) -> String {
    let mark = EstimateMark::of(&run.compiled.estimated_ops);
    let ms = |t: SimTime| format!("{}{:.3}", mark.map_or("", EstimateMark::before_time), t.to_ms_f64());
    let reason = mark.map_or_else(String::new, |mark| format!(" ({})", mark.note()));
    let mut out = format!(
        "\none call on a simulated core of {instance}: {} ms on the core, {} ms with the runtime and transfers{reason}\n",
        ms(run.core),
        ms(run.call),
    );
    for estimated in &run.compiled.estimated_ops {
        let assumed = settings.assumed.get(&estimated.op);
        let place = assumed.map_or_else(String::new, |s| format!(" as {}, as assumed", s.name()));
        let _ = writeln!(out, "placed by an estimate{place}: {estimated}");
    }
    for note in &run.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

#[derive(Serialize)]
struct InspectJson<'a> {
    #[serde(flatten)]
    inspection: &'a Inspection,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<JsonRun>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<ModelValueJson>,
}

#[derive(Serialize)]
struct JsonRun {
    core_ms: f64,
    call_ms: f64,
    model_flops: u64,
    estimates: BTreeMap<String, u64>,
    /// How many of them have an estimated cost, and how many none that is known: with those, the times are the least.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<EstimateMark>,
    /// How the user placed operators with `--assume`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    assumed: BTreeMap<String, String>,
    notes: Vec<String>,
}

impl JsonRun {
    fn of(run: &OneCall, settings: &ModelFileSettings) -> Self {
        Self {
            core_ms: run.core.to_ms_f64(),
            call_ms: run.call.to_ms_f64(),
            model_flops: run.compiled.executable.model_flops,
            estimate: EstimateMark::of(&run.compiled.estimated_ops),
            estimates: run.compiled.estimated_ops.iter().map(|op| (op.op.clone(), op.count)).collect(),
            assumed: settings.assumed.iter().map(|(op, policy)| (op.clone(), policy.name().to_owned())).collect(),
            notes: run.notes.clone(),
        }
    }
}
