//! `neuronscope customop`

use anyhow::{Result, bail};

use super::text;
use crate::customop_args::{CustomOpArgs, PrintArg, WorkloadArg};
use crate::host;
use crate::kernel_file;
use crate::remarks::{with_remarks, write_profile};
use ns_base::units::{format_count, format_ns, format_share, format_times};
use ns_capture::build_customop_profile;
use ns_fidelity::{custom_op_beside, published_steps_per_s};
use ns_kernel::{BUILT_IN, Diagnostic, KernelDtype, Role, Severity, ShapeFile, built_in, compile};
use ns_machine::cost::{CostTable, GPSIMD_PROCESSORS};
use ns_neuron::gpsimd::{CustomOpReport, CustomOpSpec, StepReport, Workload, customop_json, run_with_processors};

pub(super) fn run(args: CustomOpArgs) -> Result<()> {
    if args.list {
        let rows: Vec<Vec<String>> =
            BUILT_IN.iter().map(|k| vec![k.name.to_owned(), k.description.to_owned()]).collect();
        return text::print(text::table(&["Kernel", "What it does"], &rows).as_bytes());
    }
    let kernels =
        args.kernel.iter().chain(&args.files).map(|name| Kernel::of(name, &args)).collect::<Result<Vec<_>>>()?;
    if args.cores.is_some() && !kernels.iter().any(|kernel| kernel.spec.multicore) {
        host::say("note: --cores has no effect: the kernel runs on one processor; --multicore runs it on all");
    }
    let specs = specs_of(&kernels, &args)?;
    if args.print == PrintArg::Tutorial && args.workload == WorkloadArg::Training {
        bail!("--print tutorial prints the lines of inference.py; leave --workload training out");
    }
    if args.source {
        return specs.first().map_or(Ok(()), |spec| text::print(spec.source.as_bytes()));
    }
    kernels.iter().try_for_each(|kernel| kernel.check_shapes(&args))?;
    let costs = CostTable::neuroncore_v2();
    let (mut reports, mut remarks) = (Vec::with_capacity(specs.len()), Vec::new());
    for spec in &specs {
        let (report, processors) = run_with_processors(spec, &costs)?;
        if let (Some(path), 0) = (&args.output, reports.len()) {
            let profile = build_customop_profile(&spec.name, &processors);
            remarks = write_profile(path, &profile, args.export)?;
        }
        reports.push(report);
    }
    let out = match (args.json, &specs[..], &reports[..]) {
        (true, specs, reports) => customop_json(&specs.iter().zip(reports).collect::<Vec<_>>(), published_steps_per_s)?,
        (false, _, reports) if args.print == PrintArg::Tutorial => reports.iter().map(as_tutorial).collect(),
        (false, [spec], [report]) => describe(spec, report),
        (false, specs, reports) => side_by_side(specs, reports),
    };
    let out = if args.json { with_remarks(out.into_bytes(), &remarks)? } else { out.into_bytes() };
    text::print(&out)?;
    // When several element types are compared, one that the kernel does not take is a result, not an error.
    let runs = |name: &str| args.dtype.len() > 1 && reports.iter().any(|r| r.complete && r.kernel == name);
    let faulty = reports.iter().filter(|r| r.complete || !runs(&r.kernel));
    let faults: Vec<String> = faulty.filter_map(|r| Some(format!("{}: {}", r.kernel, r.fault()?))).collect();
    if faults.is_empty() { Ok(()) } else { bail!("{}", faults.join("\n")) }
}

/// Every kernel with every value of the constant, every number of processors and every element type.
fn specs_of(kernels: &[Kernel], args: &CustomOpArgs) -> Result<Vec<CustomOpSpec>> {
    let (constant, settings) = match args.set.as_deref().map(|s| s.split_once('=')) {
        None => ("", vec![""]),
        Some(Some((constant, values))) => (constant.trim(), values.split(',').map(str::trim).collect()),
        Some(None) => bail!("--set: write NAME=VALUES, such as buffer_size=128,512,1024"),
    };
    let mut specs = Vec::new();
    for Kernel { spec: base, .. } in kernels {
        for value in &settings {
            let with = if constant.is_empty() { base.clone() } else { base.with_constant(constant, value)? };
            for cores in args.cores.as_deref().unwrap_or(&[GPSIMD_PROCESSORS]) {
                let of = |dtype: &KernelDtype| CustomOpSpec { cores: *cores, dtype: *dtype, ..with.clone() };
                specs.extend(args.dtype.iter().map(of));
            }
        }
    }
    Ok(specs)
}

/// A kernel, and the files of its shape functions.
struct Kernel {
    spec: CustomOpSpec,
    shapes: Vec<String>,
}

impl Kernel {
    fn of(name: &str, args: &CustomOpArgs) -> Result<Self> {
        let (mut spec, mut shapes) = match built_in(name) {
            Some(kernel) => {
                (CustomOpSpec::new(kernel.name, kernel.source, args.multicore.unwrap_or(kernel.multicore)), Vec::new())
            }
            None => {
                let file = kernel_file::open(name)?;
                (CustomOpSpec::new(&file.path, &file.source, args.multicore.unwrap_or(file.multicore)), file.shapes)
            }
        };
        spec.layers.clone_from(&args.layers);
        spec.batch = args.batch;
        spec.workload = args.workload.into();
        spec.input.clone_from(&args.input);
        spec.fill = args.fill.into();
        spec.seed = args.seed;
        spec.reference.clone_from(&args.reference);
        shapes.extend(args.shape.iter().cloned());
        Ok(Self { spec, shapes })
    }

    /// Runs the shape functions on the shapes of every call.
    fn check_shapes(&self, args: &CustomOpArgs) -> Result<()> {
        // A kernel that does not compile has its own errors.
        let Ok(program) = compile(&self.spec.source) else { return Ok(()) };
        self.spec.check()?;
        let in_network = self.spec.hidden().map(|width| vec![self.spec.batch, width]);
        let calls: Vec<Vec<u64>> = in_network.chain(self.spec.input.clone()).collect();
        let is_training = self.spec.workload == Workload::Training;
        let roles = if is_training { &[Role::Forward, Role::Backward][..] } else { &[Role::Forward] };
        for path in &self.shapes {
            let place = |d: &Diagnostic| format!("{path}:{}:{}: error: {}", d.pos.line, d.pos.column, d.problem);
            let mut problems = Vec::new();
            match ShapeFile::compile(&kernel_file::read(path)?) {
                Err(found) => problems.extend(found.iter().map(place)),
                Ok(file) => {
                    for kernel in roles.iter().filter_map(|role| program.kernel(*role)) {
                        for (dims, dtype) in calls.iter().flat_map(|dims| args.dtype.iter().map(move |d| (dims, d))) {
                            let Ok(of) = dtype.scalar() else { continue };
                            let inputs = vec![dims.clone(); kernel.inputs()];
                            problems.extend(file.problems(kernel.name(), &inputs, of).iter().map(place));
                        }
                    }
                }
            }
            problems.dedup();
            if !problems.is_empty() {
                bail!("{}", problems.join("\n"));
            }
        }
        Ok(())
    }
}

/// What the tutorial's `inference.py` prints; nothing for a kernel that does not finish.
fn as_tutorial(report: &CustomOpReport) -> String {
    report.iterations_per_s.map_or_else(String::new, |rate| {
        format!("Inf throughput (iter/sec): {rate}\n----------End Inference ---------------\n")
    })
}

/// Kernels as steps: the gain of each over the previous one, and where its time goes. One with a fault has no times here.
fn side_by_side(specs: &[CustomOpSpec], reports: &[CustomOpReport]) -> String {
    let mut rows = Vec::new();
    let mut before: Option<f64> = None;
    for (spec, report) in specs.iter().zip(reports) {
        let number = |x: Option<f64>, digits: usize| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.digits$}"));
        let rate = report.comparable_rate();
        let gain = rate.zip(before).map(|(now, before)| now / before);
        rows.push(vec![
            spec.name.clone(),
            report.cores.to_string(),
            report.dtype.to_string(),
            number(rate, 3),
            number(published_steps_per_s(spec), 3),
            gain.map_or_else(String::new, |g| format_times(g, 2)),
            number(report.comparable_ns_per_element(), 2),
            report.bound_by.unwrap_or("-").to_owned(),
            report.largest_part().to_owned(),
            report.problem(),
        ]);
        before = rate.or(before);
    }
    let headings = [
        "Kernel",
        ">Processors",
        "Elements",
        ">Iterations/s",
        ">AWS",
        ">Gain",
        ">ns per element",
        "Bound by",
        "Operator spends most on",
        "Problem",
    ];
    text::table(&headings, &rows)
}

fn describe(spec: &CustomOpSpec, report: &CustomOpReport) -> String {
    let mut out = headline(spec, report);
    for d in &report.diagnostics {
        let severity = if d.severity == Severity::Error { "error" } else { "warning" };
        out.push_str(&format!("{}:{}:{}: {severity}: {} [{}]\n", spec.name, d.line, d.column, d.message, d.code));
    }
    if report.ns_per_element.is_some() {
        out.push_str(&where_time_goes(report));
        out.push_str(&steps(report));
        out.push_str(&annotated(spec, report));
        if report.fault().is_none() {
            out.push_str(&format!("\n{}\n", report.advice()));
        }
    }
    out
}

fn headline(spec: &CustomOpSpec, report: &CustomOpReport) -> String {
    let processors =
        if report.cores == 1 { "one processor".to_owned() } else { format!("{} processors", report.cores) };
    let widths: Vec<String> = spec.layers.iter().map(u64::to_string).collect();
    let workload = format!("{:?}", spec.workload).to_lowercase();
    let mut out =
        if spec.dtype == KernelDtype::Float32 { String::new() } else { format!("tensors of {}\n", spec.dtype) };
    out += &format!("{} on {processors}, {workload} of {}, batch {}\n", spec.name, widths.join("-"), spec.batch);
    if let (Some(rate), Some(step), Some(bound)) = (report.iterations_per_s, report.step_ns, report.bound_by) {
        out.push_str(&format!("{rate:.3} iterations/s: a step takes {}, bound by the {bound}", format_ns(step)));
        out.push_str(&report.step_in_words().map_or_else(String::new, |parts| format!(": {parts}")));
        out.push('\n');
        out.extend(custom_op_beside(spec, rate).map(|published| format!("{published}\n")));
    }
    if let Some(error) = report.max_abs_error {
        out.push_str(&format!("largest difference from the reference: {error}\n"));
    }
    out
}

fn where_time_goes(report: &CustomOpReport) -> String {
    let b = &report.breakdown_ns;
    let device = b.device_ns();
    let row = |name: &str, ns: f64| vec![name.to_owned(), format_ns(ns), format_share(100.0 * ns / device.max(1e-9))];
    let mut rows: Vec<Vec<String>> = b.parts().iter().filter(|p| p.1 > 0.0).map(|p| row(p.0, p.1)).collect();
    if b.host > 0.0 {
        rows.push(vec!["the host, at the same time".to_owned(), format_ns(b.host), String::new()]);
    }
    let mut out = format!("\n{}", text::table(&["Where the time goes", ">Time", ">Device"], &rows));
    if let Some(each) = report.ns_per_element {
        out.push_str(&format!("{each:.2} ns per element\n"));
    }
    out
}

/// A step of the network by itself: what `bench`, `profile` and the other commands say of it.
fn steps(report: &CustomOpReport) -> String {
    if report.steps.is_empty() {
        return String::new();
    }
    let row = |s: &StepReport| {
        let times = [s.host_ns, s.link_ns, s.device_ns, s.waited_ns, s.ahead_ns].map(format_ns);
        std::iter::once(s.workflow.name().to_owned()).chain(times).collect()
    };
    let rows: Vec<Vec<String>> = report.steps.iter().map(row).collect();
    let headings =
        ["The network's step, no batch to load", ">Host", ">Link", ">Device", ">Waited for", ">One step ahead"];
    format!("\n{}", text::table(&headings, &rows))
}

/// The source with count and time of every line.
fn annotated(spec: &CustomOpSpec, report: &CustomOpReport) -> String {
    let total: f64 = report.lines.iter().map(|l| l.time_ns).sum();
    let mut out = format!("\n{:>12} {:>10} {:>7}\n", "count", "time", "share");
    for (number, source) in spec.source.lines().enumerate() {
        let number = number + 1;
        let cost = report.lines.iter().find(|l| l.line == number);
        let (count, time, share) = cost.map_or_else(Default::default, |l| {
            (format_count(l.count), format_ns(l.time_ns), format_share(100.0 * l.time_ns / total.max(1e-9)))
        });
        let line = format!("{count:>12} {time:>10} {share:>7} {number:>4} | {source}");
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
