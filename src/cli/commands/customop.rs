//! `neuronscope customop`

use anyhow::{Result, bail};

use crate::customop_args::{CustomOpArgs, PrintArg};
use crate::driver::Driver;
use crate::kernel_file::{self, KernelFile};
use crate::option_args::said_of_flag;
use crate::remarks::{with_remarks, write_profile};
use crate::shell::Shell;
use ns_session::studies::{
    CustomOpSpec, CustomopStudy, StudyReports, StudySpec, Workload, check_shapes, customop_reports_json, customop_text,
    customop_tutorial_text,
};
use ns_session::{BUILT_IN, built_in};
use ns_view::document::Document;
use ns_view::terminal;

pub(super) fn run(shell: &Shell, args: CustomOpArgs) -> Result<()> {
    if args.list {
        let rows: Vec<Vec<String>> =
            BUILT_IN.iter().map(|k| vec![k.name.to_owned(), k.description.to_owned()]).collect();
        return shell.print(terminal::table(&["Kernel", "What it does"], &rows).as_bytes());
    }
    let mut study = CustomopStudy::default();
    args.options.put_into(&mut study, &[])?;
    let names = args.kernel.iter().chain(&args.files);
    let kernels = names.map(|name| Kernel::of(shell, name, &args, &study)).collect::<Result<Vec<_>>>()?;
    let specs: Vec<CustomOpSpec> = kernels.iter().flat_map(|kernel| kernel.specs.clone()).collect();
    if args.options.text("cores").is_some() && !specs.iter().any(|spec| spec.multicore) {
        shell.note("--cores has no effect: the kernel runs on one processor; --multicore runs it on all");
    }
    if args.print == PrintArg::Tutorial && study.workload == Workload::Training {
        bail!("--print tutorial prints the lines of inference.py; leave --workload training out");
    }
    if args.source {
        return specs.first().map_or(Ok(()), |spec| shell.print(spec.source.as_bytes()));
    }
    if args.page.html.is_some() && kernels.len() > 1 {
        bail!("--html writes one kernel with its options; name one");
    }
    kernels.iter().try_for_each(|kernel| kernel.check_shapes(shell))?;
    let (mut driver, mut reports, mut remarks) = (Driver::new(shell), Vec::with_capacity(specs.len()), Vec::new());
    let (mut single, mut page) = (Document::default(), Ok(()));
    for kernel in &kernels {
        let result = driver.study(StudySpec::Customop(kernel.study.clone()));
        let result = result.map_err(|e| said_of_flag::<CustomopStudy>(&e))?;
        let StudyReports::Customop { reports: own, timeline } = result.reports else { continue };
        if let (Some(path), [], Some(profile)) = (&args.output, &reports[..], &timeline) {
            remarks = write_profile(shell, path, profile, args.export)?;
        }
        reports.extend(own.into_iter().map(|(_, report)| report));
        page = page.and(args.page.save(shell, Some(&StudySpec::Customop(kernel.study.clone())), &result.document));
        single = result.document;
    }
    let out = if args.json {
        customop_reports_json(&specs.iter().zip(&reports).collect::<Vec<_>>())?
    } else if args.print == PrintArg::Tutorial {
        reports.iter().map(customop_tutorial_text).collect()
    } else {
        customop_text(&specs, &reports, &single)
    };
    let out = if args.json { with_remarks(out.into_bytes(), &remarks)? } else { out.into_bytes() };
    shell.print(&out)?;
    page?;
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
    fn of(shell: &Shell, name: &str, args: &CustomOpArgs, study: &CustomopStudy) -> Result<Self> {
        let file = match built_in(name) {
            Some(kernel) => KernelFile::of(kernel),
            None => kernel_file::open(shell, name)?,
        };
        let (kernel, source, multicore) = (file.path, file.source, args.multicore.unwrap_or(file.multicore));
        let study = CustomopStudy { kernel, source, multicore, ..study.clone() };
        let specs = study.specs().map_err(|e| said_of_flag::<CustomopStudy>(&e))?;
        Ok(Self { study, specs, shapes: [file.shapes, args.shape.clone()].concat() })
    }

    /// Runs the shape functions on the shapes of every call.
    fn check_shapes(&self, shell: &Shell) -> Result<()> {
        for (spec, path) in self.specs.iter().flat_map(|spec| self.shapes.iter().map(move |path| (spec, path))) {
            check_shapes(spec, path, &kernel_file::read(shell, path)?)?;
        }
        Ok(())
    }
}
