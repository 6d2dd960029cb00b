//! `neuronscope customop`

use anyhow::{Result, bail};

use super::text;
use crate::customop_args::{CustomOpArgs, PrintArg};
use crate::driver::Driver;
use crate::host;
use crate::kernel_file::{self, KernelFile};
use crate::option_args::said_of_flag;
use crate::remarks::{with_remarks, write_profile};
use ns_base::units::{format_ns, format_times};
use ns_fidelity::{custom_op_beside, published_steps_per_s};
use ns_kernel::{BUILT_IN, Diagnostic, KernelDtype, Role, Severity, ShapeFile, built_in, compile};
use ns_neuron::gpsimd::{CustomOpReport, CustomOpSpec, DiagnosticLine, Workload, customop_json};
use ns_session::studies::{CustomopStudy, StudyReports, StudySpec};
use ns_view::document::Document;
use ns_view::terminal::document;

pub(super) fn run(args: CustomOpArgs) -> Result<()> {
    if args.list {
        let rows: Vec<Vec<String>> =
            BUILT_IN.iter().map(|k| vec![k.name.to_owned(), k.description.to_owned()]).collect();
        return text::print(text::table(&["Kernel", "What it does"], &rows).as_bytes());
    }
    let mut study = CustomopStudy::default();
    args.options.put_into(&mut study, &[])?;
    let names = args.kernel.iter().chain(&args.files);
    let kernels = names.map(|name| Kernel::of(name, &args, &study)).collect::<Result<Vec<_>>>()?;
    let specs: Vec<CustomOpSpec> = kernels.iter().flat_map(|kernel| kernel.specs.clone()).collect();
    if args.options.text("cores").is_some() && !specs.iter().any(|spec| spec.multicore) {
        host::say("note: --cores has no effect: the kernel runs on one processor; --multicore runs it on all");
    }
    if args.print == PrintArg::Tutorial && study.workload == Workload::Training {
        bail!("--print tutorial prints the lines of inference.py; leave --workload training out");
    }
    if args.source {
        return specs.first().map_or(Ok(()), |spec| text::print(spec.source.as_bytes()));
    }
    if args.page.html.is_some() && kernels.len() > 1 {
        bail!("--html writes one kernel with its options; name one");
    }
    kernels.iter().try_for_each(Kernel::check_shapes)?;
    let (mut driver, mut reports, mut remarks) = (Driver::new(), Vec::with_capacity(specs.len()), Vec::new());
    let mut single = Document::default();
    for kernel in &kernels {
        let result = driver.study(StudySpec::Customop(kernel.study.clone()));
        let result = result.map_err(|e| said_of_flag::<CustomopStudy>(&e))?;
        let StudyReports::Customop { reports: own, timeline } = result.reports else { continue };
        if let (Some(path), [], Some(profile)) = (&args.output, &reports[..], &timeline) {
            remarks = write_profile(path, profile, args.export)?;
        }
        reports.extend(own.into_iter().map(|(_, report)| report));
        args.page.save(Some(&StudySpec::Customop(kernel.study.clone())), &result.document)?;
        single = result.document;
    }
    let out = match (args.json, &specs[..], &reports[..]) {
        (true, specs, reports) => customop_json(&specs.iter().zip(reports).collect::<Vec<_>>(), published_steps_per_s)?,
        (false, _, reports) if args.print == PrintArg::Tutorial => reports.iter().map(as_tutorial).collect(),
        (false, [spec], [report]) => describe(spec, report, &single),
        (false, specs, reports) => side_by_side(specs, reports),
    };
    let out = if args.json { with_remarks(out.into_bytes(), &remarks)? } else { out.into_bytes() };
    text::print(&out)?;
    // When several element types are compared, one that the kernel does not take is a result, not an error.
    let runs = |name: &str| study.dtypes.len() > 1 && reports.iter().any(|r| r.complete && r.kernel == name);
    let faulty = reports.iter().filter(|r| r.complete || !runs(&r.kernel));
    let faults: Vec<String> = faulty.filter_map(|r| Some(format!("{}: {}", r.kernel, r.fault()?))).collect();
    if faults.is_empty() { Ok(()) } else { bail!("{}", faults.join("\n")) }
}

/// A kernel as the study runs it, its runs, and the files of its shape functions.
struct Kernel {
    study: CustomopStudy,
    specs: Vec<CustomOpSpec>,
    shapes: Vec<String>,
}

impl Kernel {
    fn of(name: &str, args: &CustomOpArgs, study: &CustomopStudy) -> Result<Self> {
        let file = match built_in(name) {
            Some(kernel) => KernelFile::of(kernel),
            None => kernel_file::open(name)?,
        };
        let (kernel, source, multicore) = (file.path, file.source, args.multicore.unwrap_or(file.multicore));
        let study = CustomopStudy { kernel, source, multicore, ..study.clone() };
        let specs = study.specs().map_err(|e| said_of_flag::<CustomopStudy>(&e))?;
        Ok(Self { study, specs, shapes: [file.shapes, args.shape.clone()].concat() })
    }

    /// Runs the shape functions on the shapes of every call.
    fn check_shapes(&self) -> Result<()> {
        for (spec, path) in self.specs.iter().flat_map(|spec| self.shapes.iter().map(move |path| (spec, path))) {
            spec.check()?;
            // A kernel that does not compile has its own errors, and so has one that does not take the elements.
            let (Ok(program), Ok(of)) = (compile(&spec.source), spec.dtype.scalar()) else { continue };
            let in_network = spec.hidden().map(|width| vec![spec.batch, width]);
            let calls: Vec<Vec<u64>> = in_network.chain(spec.input.clone()).collect();
            let is_training = spec.workload == Workload::Training;
            let roles = if is_training { &[Role::Forward, Role::Backward][..] } else { &[Role::Forward] };
            let mut problems = match ShapeFile::compile(&kernel_file::read(path)?) {
                Err(found) => found,
                Ok(file) => {
                    let kernels = roles.iter().filter_map(|role| program.kernel(*role));
                    let each = kernels
                        .flat_map(|kernel| calls.iter().map(move |dims| (kernel, vec![dims.clone(); kernel.inputs()])));
                    each.flat_map(|(kernel, inputs)| file.problems(kernel.name(), &inputs, of)).collect()
                }
            };
            problems.dedup();
            if !problems.is_empty() {
                let place = |d: &Diagnostic| format!("{path}:{}:{}: error: {}", d.pos.line, d.pos.column, d.problem);
                bail!("{}", problems.iter().map(place).collect::<Vec<_>>().join("\n"));
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

/// The figures in words, the errors as compilers print them, and the document of the study.
fn describe(spec: &CustomOpSpec, report: &CustomOpReport, of: &Document) -> String {
    let line = |d: &DiagnosticLine| {
        let severity = if d.severity == Severity::Error { "error" } else { "warning" };
        format!("{}:{}:{}: {severity}: {} [{}]\n", spec.name, d.line, d.column, d.message, d.code)
    };
    let errors: String = report.diagnostics.iter().map(line).collect();
    headline(spec, report) + &errors + "\n" + &document(of)
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
