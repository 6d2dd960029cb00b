//! `neuronscope inspect`

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::text;
use crate::base::units::format_count;
use crate::bench::{BroughtRun, Device};
use crate::cli::inspect_args::InspectArgs;
use crate::cli::model_file::{self, DiskModel};
use crate::import::{Imported, Inspection, ResultComparison, TensorInfo, Verdict, compare, read_npz};

pub(super) fn run(args: InspectArgs) -> Result<()> {
    let (imported, bytes) = model_file::read(&args.model, &args.dims)?;
    let run = args.instance.as_deref().map(|instance| on_device(&imported, instance)).transpose()?;
    let compared = match (&args.inputs, &args.expect) {
        (Some(inputs), Some(expect)) => {
            let arrays =
                |path: &std::path::Path| read_npz(&DiskModel::open(path)?).with_context(|| path.display().to_string());
            let (inputs, expect) = (arrays(inputs)?, arrays(expect)?);
            Some(compare(&imported, &bytes, &inputs, &expect).map_err(anyhow::Error::msg)?)
        }
        _ => None,
    };
    let said = if args.json {
        let values = compared.iter().flatten().map(|c| JsonComparison::of(c, args.tolerance)).collect();
        let json = Json { inspection: &imported.inspection, device: run.as_ref().map(JsonRun::of), values };
        serde_json::to_string_pretty(&json)? + "\n"
    } else {
        let mut out = describe(&imported.inspection);
        if let Some(run) = &run {
            out.push_str(&timed(run, args.instance.as_deref().unwrap_or_default()));
        }
        for c in compared.iter().flatten() {
            let result = if c.relative_error <= args.tolerance { "PASS" } else { "FAIL" };
            let _ = writeln!(out, "result {} {}: {result}, relative error {:.3e}", c.index, c.ty, c.relative_error);
        }
        out
    };
    text::print(said.as_bytes())?;
    let failed =
        compared.iter().flatten().filter(|c| c.relative_error.is_nan() || c.relative_error > args.tolerance).count();
    if failed > 0 {
        bail!("{failed} results differ by more than the tolerance of {}", args.tolerance);
    }
    Ok(())
}

fn on_device(imported: &Imported, instance: &str) -> Result<BroughtRun> {
    let device = Device::of_instance(instance).map_err(anyhow::Error::msg)?;
    device.run_program(&imported.program, &BTreeMap::new()).map_err(anyhow::Error::msg)
}

fn describe(found: &Inspection) -> String {
    let tensor = |t: &TensorInfo| {
        let size = |(i, d): (usize, &u64)| t.open.get(&i).map_or_else(|| d.to_string(), |name| format!("{name}={d}"));
        let sizes: Vec<String> = t.shape.iter().enumerate().map(size).collect();
        format!("{} {}[{}]", t.name, t.dtype, sizes.join(","))
    };
    let list = |tensors: &[TensorInfo]| tensors.iter().map(tensor).collect::<Vec<_>>().join("\n              ");
    let mut out = format!(
        "format        {}\nproducer      {}\ninputs        {}\noutputs       {}\nparameters    {}\nbuffers       {}\nFLOPs         {} of products\n",
        found.format,
        if found.producer.is_empty() { "not said" } else { &found.producer },
        list(&found.inputs),
        list(&found.outputs),
        format_count(found.parameters),
        format_count(found.buffers),
        format_count(found.flops),
    );
    if found.verdict == Verdict::Partial {
        out.push_str("partly read: see the notes\n");
    }
    for d in &found.open_dimensions {
        let range = match (d.min, d.max) {
            (Some(min), Some(max)) => format!(", {min} to {max}"),
            (Some(min), None) => format!(", {min} or more"),
            _ => String::new(),
        };
        let chosen = if d.is_chosen { "as asked for" } else { "as exported; --dim sets it" };
        let _ = writeln!(out, "open          {} = {} ({chosen}{range})", d.name, d.used);
    }
    let mut ops: Vec<(&String, &u64)> = found.ops.iter().collect();
    ops.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let rows: Vec<Vec<String>> = ops.into_iter().map(|(name, n)| vec![name.clone(), n.to_string()]).collect();
    let _ = write!(out, "\n{}", text::table(&["Operator", ">Count"], &rows));
    if !found.modules.is_empty() {
        let _ = writeln!(out, "\nmodules ({}):", found.modules.len());
        for module in found.modules.iter().take(MOST_MODULES) {
            let _ = writeln!(out, "  {module}");
        }
        if found.modules.len() > MOST_MODULES {
            let _ = writeln!(out, "  ... --json has all of them");
        }
    }
    for u in &found.unsupported {
        let _ = writeln!(out, "without a known meaning: {} ({} times, first at {})", u.op, u.count, u.first);
    }
    for note in &found.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

/// Modules that are listed on a terminal.
const MOST_MODULES: usize = 20;

fn timed(run: &BroughtRun, instance: &str) -> String {
    let ms = |t: crate::base::SimTime| t.to_ms_f64();
    let mut out = format!(
        "\none call on a simulated core of {instance}: {:.3} ms on the core, {:.3} ms with the runtime and transfers\n",
        ms(run.window),
        ms(run.call_time()),
    );
    for (op, (count, first)) in &run.estimates {
        let _ = writeln!(out, "placed by an estimate: {op} ({count} times, first at {first})");
    }
    for note in &run.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

/// What `--json` prints.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    inspection: &'a Inspection,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<JsonRun>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<JsonComparison>,
}

#[derive(Serialize)]
struct JsonRun {
    core_ms: f64,
    call_ms: f64,
    model_flops: u64,
    estimates: BTreeMap<String, u64>,
    notes: Vec<String>,
}

impl JsonRun {
    fn of(run: &BroughtRun) -> Self {
        Self {
            core_ms: run.window.to_ms_f64(),
            call_ms: run.call_time().to_ms_f64(),
            model_flops: run.executable.model_flops,
            estimates: run.estimates.iter().map(|(op, (count, _))| (op.clone(), *count)).collect(),
            notes: run.notes.clone(),
        }
    }
}

#[derive(Serialize)]
struct JsonComparison {
    index: usize,
    shape: String,
    relative_error: Option<f64>,
    max_abs_error: Option<f64>,
    passed: bool,
}

impl JsonComparison {
    fn of(c: &ResultComparison, tolerance: f64) -> Self {
        let finite = |v: f64| v.is_finite().then_some(v);
        Self {
            index: c.index,
            shape: c.ty.clone(),
            relative_error: finite(c.relative_error),
            max_abs_error: finite(c.max_abs_error),
            passed: c.relative_error <= tolerance,
        }
    }
}
