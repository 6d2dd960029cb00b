//! `neuronscope profile`

use std::path::Path;

use anyhow::{Result, bail};

use super::analysis::analyse;
use super::compile::write_artifact;
use super::{profile_call, profile_log, profile_outputs};
use crate::driver::Driver;
use crate::file::read_text;
use crate::output;
use crate::profile_args::{ProfileArgs, ProfileType};
use crate::remarks::with_remarks;
use crate::run_date;
use crate::shell::Shell;
use crate::source;
use ns_analysis::Instances;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_count, format_ns, format_plugin_share};
use ns_bench::{Artifact, CompileConfig, Verbosity};
use ns_session::{
    AnalysisRequest, Answer, ExportKind, ExportedFile, JobResult, Message, ModelSpec, OperatorKind, ProfileInfo,
    ProfileKey, ProfileQuestion, ProfileSpec, Question, Reply, WriteFormat, summary_text,
};
use ns_view::terminal;

pub(super) fn run(shell: &Shell, args: ProfileArgs) -> Result<()> {
    if args.call.profile_type == ProfileType::Trace {
        return profile_call::trace(shell, &args);
    }
    // A folder of runs has each by its time; a file has the same bytes from the same command.
    let is_folder = |path: &std::path::PathBuf| output::is_folder(path, args.output.export);
    let now = || args.output.output.as_ref().filter(|path| is_folder(path)).and_then(|_| run_date::seconds("now").ok());
    let run_start_s = args.output.run_date.or_else(now);
    let mut driver = run_start_s.map_or_else(|| Driver::new(shell), |start_s| Driver::starting_at(shell, start_s));
    profile_call::notes(&args.call).iter().for_each(|line| driver.say(line));
    let spec = profile_spec(&mut driver, &args)?;
    let kept = args.compiler_workdir.as_deref().map(|folder| (folder, spec.clone()));
    let info = source::simulate(&mut driver, spec)?;
    if let Some((folder, spec)) = kept {
        keep_artifact(&mut driver, folder, &spec)?;
    }
    let output = &args.output;
    if let Some(path) = &output.output {
        write_trace(&mut driver, info.profile, output.export, path)?;
    }
    if output.verbosity > Verbosity::Silent {
        let run = export(&mut driver, info.profile, ExportKind::Trace(WriteFormat::NeuronPlugin))?;
        let written = output.output.as_deref().and_then(|path| profile_log::folder(path, output.export));
        profile_log::lines(&run, written.as_deref())?.iter().for_each(|line| driver.say(line));
    }
    if let Some(path) = &output.page.html {
        write_page(&mut driver, info.profile, &output.page.live, path)?;
    }
    if output.json {
        let kind = if output.summary { ExportKind::SummaryJson } else { ExportKind::ProfileJson };
        let json = export(&mut driver, info.profile, kind)?;
        return shell.print(&with_remarks(json, driver.remarks())?);
    }
    let mut out = if output.summary { summary(&mut driver, &info)? } else { tables(&mut driver, &info)? };
    if output.outputs {
        out.push_str(&profile_outputs::describe(&mut driver, &args)?);
    }
    shell.print(out.as_bytes())
}

/// Writes the artifact of the model into a folder, unless an earlier run did.
fn keep_artifact(driver: &mut Driver<'_>, folder: &Path, spec: &ProfileSpec) -> Result<()> {
    let default = spec.model.parse::<ModelSpec>().ok().and_then(|m| u32::try_from(m.info().default_batch_size).ok());
    let config = CompileConfig {
        model: spec.model.clone(),
        instance_type: spec.instance.clone(),
        batch_sizes: vec![spec.batch_size.or(default).unwrap_or(1)],
        options: spec.options,
        models_dir: folder.display().to_string(),
        ..CompileConfig::default()
    };
    let Some(task) = config.plan()?.tasks.into_iter().next() else { return Ok(()) };
    let file = task.file_name();
    let found =
        read_text(driver.shell, Path::new(&file)).ok().and_then(|text| serde_json::from_str::<Artifact>(&text).ok());
    if found.is_some_and(|artifact| artifact.model == spec.model) {
        driver.say(&format!("note: the program was compiled before: {file}"));
        return Ok(());
    }
    let file = write_artifact(driver.shell, &task, driver.models())?;
    driver.say(&format!("note: the artifact is in {file}; the next run finds it"));
    Ok(())
}

/// The facts and the operator tables.
fn tables(driver: &mut Driver<'_>, info: &ProfileInfo) -> Result<String> {
    let mut out = String::new();
    for (name, value) in &info.facts {
        out.push_str(&format!("{name}: {value}\n"));
    }
    for (kind, title) in [(OperatorKind::Framework, "Framework operators"), (OperatorKind::Hlo, "HLO operators")] {
        out.push_str(&format!("\n{title}\n"));
        out.extend(info.note_of_times.iter().map(|note| format!("{note}\n")));
        out.push_str(&operators(driver, info.profile, kind)?);
    }
    Ok(out)
}

/// Writes the timeline of a profile to a file.
pub(super) fn write_trace(
    driver: &mut Driver<'_>,
    profile: ProfileKey,
    format: WriteFormat,
    path: &Path,
) -> Result<()> {
    let file = exported(driver, profile, ExportKind::Trace(format))?;
    output::write_profile(driver.shell, path, file.bytes, format)?;
    driver.remark_left_out(&path.display().to_string(), &file.left_out);
    Ok(())
}

/// Writes the overview of a profile as a page that links to the one at `base`.
pub(super) fn write_page(driver: &mut Driver<'_>, profile: ProfileKey, base: &str, path: &Path) -> Result<()> {
    let message = driver.run(AnalysisRequest::Page(base.to_owned()).of(profile), None)?;
    let Some(Message::File(page)) = message else { bail!("the session returned no page") };
    output::write(driver.shell, path, page.bytes)
}

/// The run that the flags describe; a model file is opened. Fails when the model file cannot be opened.
pub(crate) fn profile_spec(driver: &mut Driver<'_>, args: &ProfileArgs) -> Result<ProfileSpec> {
    let spec = args.spec()?;
    let model = args.file_flags.model(driver, &args.training.model(&spec.model)?)?;
    Ok(ProfileSpec { model, ..spec })
}

/// An operator table of a NeuronCore with the plugin's columns.
pub(super) fn operators(driver: &mut Driver<'_>, profile: ProfileKey, kind: OperatorKind) -> Result<String> {
    let question = ProfileQuestion::Operators { kind, range: None, level: None, instances: Instances::Merged };
    let Some(Message::Answer(Reply::Operators(table))) = driver.run(question.of(profile), None)? else {
        bail!("the session returned no operator table");
    };
    let core = |n: Option<u32>| n.map_or_else(String::new, |n| n.to_string());
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|r| {
            vec![
                r.name.clone(),
                format_count(r.occurrences),
                core(r.device),
                core(r.core),
                format_count(r.time_ns),
                format_plugin_share(r.time_percent),
                format_ns(u64_to_f64(r.time_ns) / u64_to_f64(r.occurrences.max(1))),
            ]
        })
        .collect();
    let headings = ["Op Name", ">Occurrences", ">Neuron Device", ">NeuronCore", ">Time (ns)", ">Time %", ">Mean"];
    Ok(terminal::table(&headings, &rows))
}

fn summary(driver: &mut Driver<'_>, info: &ProfileInfo) -> Result<String> {
    match analyse(driver, info.profile, Question::Summary)? {
        Answer::Summary(Some(insights)) => Ok(summary_text(&insights, info.note_of_times.as_deref())),
        _ => bail!("the session returned no summary"),
    }
}

/// The profile that a request made. Fails when the session sent no result, which would be a fault of the session.
pub(crate) fn profile_info(message: Option<Message>) -> Result<ProfileInfo> {
    match message {
        Some(Message::Done(JobResult::Profile(info))) => Ok(*info),
        _ => bail!("the session returned no profile"),
    }
}

/// Exports a profile in a format.
pub(super) fn export(driver: &mut Driver<'_>, profile: ProfileKey, kind: ExportKind) -> Result<Vec<u8>> {
    Ok(exported(driver, profile, kind)?.bytes)
}

/// The same with what the format of the file cannot hold.
pub(super) fn exported(driver: &mut Driver<'_>, profile: ProfileKey, kind: ExportKind) -> Result<ExportedFile> {
    match driver.run(ProfileQuestion::Export { kind, marks: Vec::new() }.of(profile), None)? {
        Some(Message::File(file)) => Ok(file),
        _ => bail!("the session returned no export"),
    }
}
