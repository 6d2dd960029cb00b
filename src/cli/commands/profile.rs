//! `neuronscope profile`

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::text;
use crate::base::units::{format_count, format_ns};
use crate::cli::args::ProfileArgs;
use crate::cli::driver::Driver;
use crate::insight::Insights;
use crate::profile::formats::WriteFormat;
use crate::session::{Event, ExportKind, OperatorKind, ProfileInfo, ProfileKey, ProfileSpec, Request};

pub(super) fn run(args: ProfileArgs) -> Result<()> {
    let mut driver = Driver::new();
    let spec = profile_spec(&args);
    let events = driver.run(|job| Request::Profile { job, spec }, None)?;
    let info = profile_info(&events)?;
    if let Some(path) = &args.output {
        write_trace(&mut driver, info.profile, args.export, path)?;
    }
    if args.json {
        let kind = if args.summary { ExportKind::SummaryJson } else { ExportKind::ProfileJson };
        return text::print(&export(&mut driver, info.profile, kind)?);
    }
    if args.summary {
        return text::print(super::summary::describe(&insights(&mut driver, info.profile)?).as_bytes());
    }
    let mut out = String::new();
    for (name, value) in &info.facts {
        out.push_str(&format!("{name}: {value}\n"));
    }
    for (kind, title) in [(OperatorKind::Framework, "Framework operators"), (OperatorKind::Hlo, "HLO operators")] {
        out.push_str(&format!("\n{title}\n"));
        out.push_str(&operators(&mut driver, info.profile, kind)?);
    }
    text::print(out.as_bytes())
}

/// Writes the timeline of a profile to a file.
pub(super) fn write_trace(driver: &mut Driver, profile: ProfileKey, format: WriteFormat, path: &Path) -> Result<()> {
    let trace = export(driver, profile, ExportKind::Trace(format))?;
    fs::write(path, trace).with_context(|| format!("{}: can't be written", path.display()))
}

/// What the flags ask for.
pub(in crate::cli) fn profile_spec(args: &ProfileArgs) -> ProfileSpec {
    ProfileSpec {
        model: args.model.clone(),
        batch_size: args.batch_size,
        workflow: args.workflow.into(),
        seed: args.seed,
        instance: args.instance.clone(),
        options: args.compile.options(),
    }
}

/// An operator table of a NeuronCore with the plugin's columns.
///
/// # Errors
/// With the session's message.
pub(super) fn operators(driver: &mut Driver, profile: ProfileKey, kind: OperatorKind) -> Result<String> {
    let events = driver.run(|job| Request::Operators { job, profile, kind, range: None, level: None }, None)?;
    let Some(rows) = events.iter().find_map(|e| match e {
        Event::Operators { table, .. } => Some(&table.rows),
        _ => None,
    }) else {
        bail!("the session gave no operator table");
    };
    let core = |n: Option<u32>| n.map_or_else(String::new, |n| n.to_string());
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|r| {
            vec![
                r.name.clone(),
                format_count(r.occurrences),
                core(r.device),
                core(r.core),
                format_count(r.time_ns),
                format!("{:.2}%", r.time_percent),
                format_ns(r.time_ns as f64 / r.occurrences.max(1) as f64),
            ]
        })
        .collect();
    let headings = ["Op Name", ">Occurrences", ">Neuron Device", ">NeuronCore", ">Time (ns)", ">Time %", ">Mean"];
    Ok(text::table(&headings, &rows))
}

fn insights(driver: &mut Driver, profile: ProfileKey) -> Result<Insights> {
    let events = driver.run(|job| Request::Summary { job, profile }, None)?;
    let found = events.into_iter().find_map(|e| match e {
        Event::Summary { insights, .. } => insights,
        _ => None,
    });
    found.map(|i| *i).context("the session gave no summary")
}

/// The profile that a job made.
///
/// # Errors
/// When there is none, which would be a fault of the session.
pub(in crate::cli) fn profile_info(events: &[Event]) -> Result<ProfileInfo> {
    let found = events.iter().find_map(|e| match e {
        Event::ProfileReady { info, .. } => Some(info.as_ref().clone()),
        _ => None,
    });
    found.context("the session gave no profile")
}

/// What a profile is exported as.
///
/// # Errors
/// With the session's message.
pub(super) fn export(driver: &mut Driver, profile: ProfileKey, kind: ExportKind) -> Result<Vec<u8>> {
    let events = driver.run(|job| Request::Export { job, profile, kind, marks: Vec::new() }, None)?;
    let found = events.into_iter().find_map(|e| match e {
        Event::Exported { bytes, .. } => Some(bytes),
        _ => None,
    });
    found.context("the session exported nothing")
}
