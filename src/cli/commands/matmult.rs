//! `neuronscope matmult`

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::compile::write_artifact;
use crate::driver::Driver;
use crate::file::read_text;
use crate::interrupt::{self, InterruptError};
use crate::matmult_args::MatmultArgs;
use crate::option_args::said_of_flag;
use crate::shell::Shell;
use ns_bench::matmult::{MatmultCase, MatmultReport, matmult_csv};
use ns_bench::{Artifact, CompileTask};
use ns_session::studies::{MatmultStudy, StudyReports, StudySpec, matmult_reports_json, matmult_text};

pub(super) fn run(shell: &Shell, args: &MatmultArgs) -> Result<()> {
    let (mut config, notes) = args.config()?;
    let mut driver = Driver::new(shell);
    if let Some(model) = &config.model
        && let Some(opened) = args.file_flags.open(&mut driver, model)?
    {
        if args.options.text("batch_size").is_none() {
            config.batch_sizes = vec![u32::try_from(opened.batch.own()).unwrap_or(u32::MAX)];
        }
        config.model = Some(opened.id);
    } else if config.model.is_none() {
        args.file_flags.refuse_without_a_file("the layer")?;
    }
    let cases = config.cases().map_err(|e| said_of_flag::<MatmultStudy>(&e))?;
    notes.iter().for_each(|note| shell.note(note));
    let folder = args.compiler_workdir.as_deref().map(Path::to_string_lossy);
    let tasks: Vec<CompileTask> = match &folder {
        Some(folder) => cases.iter().map(|case| case.compile_task(folder)).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    if config.run.skip_compilation {
        tasks.iter().zip(&cases).try_for_each(|(task, case)| check_compiled(shell, task, case))?;
    }
    interrupt::listen(shell)?;
    let is_compiled = config.run.skip_compilation;
    let study = StudySpec::Matmult(MatmultStudy { config, ..MatmultStudy::default() });
    let result = driver.study(study.clone())?;
    let StudyReports::Matmult(reports) = result.reports else {
        return Err(InterruptError(format!("stopped after 0 of {} cases", cases.len())).into());
    };
    for (task, _) in tasks.iter().zip(&reports).filter(|(_, report)| report.error.is_none() && !is_compiled) {
        let file = write_artifact(shell, task, driver.models())?;
        shell.say(&format!("the artifact is in {file}; --skip_compilation finds it"));
    }
    let page = args.page.save(shell, Some(&study), &result.document);
    print(shell, &reports, args, cases.len() > 1)?;
    page?;
    if reports.len() < cases.len() {
        return Err(InterruptError(format!("stopped after {} of {} cases", reports.len(), cases.len())).into());
    }
    let first = reports.iter().find_map(|r| r.error.as_deref());
    match first {
        Some(error) if reports.iter().all(|r| r.error.is_some()) => bail!("no case could run: {error}"),
        _ => Ok(()),
    }
}

/// Whether the folder holds the artifact of a case.
fn check_compiled(shell: &Shell, task: &CompileTask, case: &MatmultCase) -> Result<()> {
    let (file, label) = (task.file_name(), case.label());
    let Ok(text) = read_text(shell, Path::new(&file)) else {
        bail!(
            "--skip_compilation: {label} was never compiled: there is no {file}; run the command once without --skip_compilation"
        )
    };
    let artifact: Artifact = serde_json::from_str(&text)
        .with_context(|| format!("{file}: is not an artifact; remove it and compile again"))?;
    if artifact.model != case.specification() || artifact.batch_size != case.batch_size {
        bail!(
            "{file}: is the artifact of {} at batch size {}; remove it and compile again",
            artifact.model,
            artifact.batch_size
        );
    }
    Ok(())
}

fn print(shell: &Shell, reports: &[MatmultReport], args: &MatmultArgs, is_sweep: bool) -> Result<()> {
    let out = if args.json {
        matmult_reports_json(reports)?
    } else if args.csv {
        matmult_csv(reports)?
    } else {
        matmult_text(reports, is_sweep, args.verbose)
    };
    shell.print(out.as_bytes())
}
