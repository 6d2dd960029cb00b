//! `neuronscope inspect`

use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::inspect_picture;
use super::model_values::read_both;
use crate::driver::Driver;
use crate::inspect_args::InspectArgs;
use crate::model_file;
use crate::shell::Shell;
use ns_bench::{Parity, parity, parity_markdown, parse_list};
use ns_session::OperatorKernels;
use ns_session::reports::{ModelFileReport, ModelValues, OneCall};

pub(super) fn run(shell: &Shell, args: InspectArgs) -> Result<()> {
    let path =
        args.file.model_file.clone().or(args.model.clone()).context("name a model file or a model of the zoo")?;
    if let Some(zoo) = &args.beside {
        return beside(shell, zoo, &path, &args);
    }
    let is_file = model_file::names_a_file(&path);
    if !is_file || args.view.is_some() {
        return inspect_picture::run(shell, &args, &path, false);
    }
    if args.graph.is_some() {
        inspect_picture::run(shell, &args, &path, true)?;
    }
    let settings = args.file_flags.settings(shell)?;
    let (imported, bytes) = model_file::read_at_batch(shell, &path, &settings, args.batch)?;
    let call = args.instance.as_deref().map(|instance| -> Result<_> {
        let mut driver = Driver::new(shell);
        let model = args.file_flags.model(&mut driver, &path)?;
        Ok((OneCall::of(driver.models(), &model, args.batch, instance)?, instance))
    });
    let (arrays, kernels) = (read_both(shell, &args.arrays)?, OperatorKernels::of(&settings.assumed)?);
    let values = arrays.map(|[inputs, expected]| {
        ModelValues::of((&imported, &bytes), (&inputs, &expected), args.tolerance, None, &kernels)
    });
    let (call, values) = (call.transpose()?, values.transpose()?);
    let report = ModelFileReport { inspection: &imported.inspection, settings: &settings, call, values };
    shell.print(if args.json { report.json()? } else { report.text() }.as_bytes())?;
    Ok(report.values.map_or(Ok(()), |values| values.verdict())?)
}

/// The default instance: the smallest one with a second-generation NeuronCore.
const BESIDE_INSTANCE: &str = "inf2.xlarge";

/// The table of a file beside a model of the zoo. A note below the table names batch sizes that the file does not have.
fn beside(shell: &Shell, zoo: &str, path: &str, args: &InspectArgs) -> Result<()> {
    let mut driver = Driver::new(shell);
    let file = args.file_flags.model(&mut driver, path)?;
    let instance = args.instance.as_deref().unwrap_or(BESIDE_INSTANCE);
    let one = |n| parity(zoo, &file, instance, n, driver.models()).map_err(anyhow::Error::msg);
    let rows = parse_list("--batch-sizes", &args.batch_sizes)?.into_iter().map(one).collect::<Result<Vec<Parity>>>()?;
    let mut out = parity_markdown(&rows);
    for (n, error) in rows.iter().filter_map(|row| Some((row.batch_size, row.file_per_s.as_ref().err()?))) {
        let _ = writeln!(out, "batch {n}: {error}");
    }
    shell.print(out.as_bytes())
}
