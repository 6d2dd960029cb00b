//! `neuronscope numerics`

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::model_values::{Comparison, read_arrays};
use super::text;
use crate::args::NumericsArgs;
use crate::driver::Driver;
use crate::file::FileSource;
use crate::model_args::ModelFileFlags;
use crate::model_file;
use crate::output::write;
use ns_device::{OperatorKernels, casts_of};
use ns_neuron::numerics::checked_instance;
use ns_program::eval::Arithmetic;
use ns_program::{ImportedModel, results};
use ns_readers::write_npz;
use ns_session::studies::{StudyReports, StudySpec};
use ns_session::{BatchRule, ModelFileSettings, NumericsReport, NumericsSpec, Rounding};
use ns_view::document::Document;
use ns_view::terminal;

pub(super) fn run(args: NumericsArgs) -> Result<()> {
    let mut spec = NumericsSpec::default();
    args.options.put_into(&mut spec, &[])?;
    spec.model = args.file.model_file.clone().unwrap_or(spec.model);
    if model_file::names_a_file(&spec.model) {
        return of_file(spec, &args);
    }
    args.file_flags.refuse_without_a_file(&spec.model)?;
    if args.arrays.inputs.is_some() {
        bail!("--inputs and --expect are about a model file, and {} is not one", spec.model);
    }
    tell(spec, &args)
}

/// Compares the values of a core with the reference's: those of a model of the zoo, or of a file, for random inputs.
pub(super) fn of_drawn(
    driver: &mut Driver,
    file_flags: &ModelFileFlags,
    spec: NumericsSpec,
) -> Result<(NumericsReport, Document)> {
    let id = file_flags.model(driver, &spec.model)?;
    let result = driver.study(StudySpec::Numerics(NumericsSpec { model: id, ..spec.clone() }))?;
    let StudyReports::Numerics(report) = result.reports else { bail!("the session returned no comparison") };
    Ok((NumericsReport { spec, ..*report }, result.document))
}

/// Prints what a session says of drawn inputs.
fn tell(spec: NumericsSpec, args: &NumericsArgs) -> Result<()> {
    let (report, document) = of_drawn(&mut Driver::new(), &args.file_flags, spec)?;
    let said = if args.json { report.to_json()? } else { terminal::document(&document) };
    text::print(said.as_bytes())?;
    let failed = report.outputs.iter().filter(|o| !o.passed).count();
    if failed > 0 {
        bail!("{failed} of {} outputs are not within the tolerance", report.outputs.len());
    }
    Ok(())
}

/// Compares a model file's values with its framework's, or the values of a core with those without casts.
fn of_file(spec: NumericsSpec, args: &NumericsArgs) -> Result<()> {
    let path = spec.model.as_str();
    let settings = args.file_flags.settings()?;
    let kernels = OperatorKernels::of(&settings.assumed).context("--assume")?;
    if spec.rounding == Rounding::Stochastic {
        bail!(
            "--rounding stochastic: values of a model file are always rounded to the nearest; leave the flag out, or compare a model of the zoo"
        );
    }
    if args.arrays.inputs.is_none() {
        return tell(spec, args);
    }
    checked_instance(&spec)?;
    let (imported, bytes) = with_batch(path, settings, spec.batch_size)?;
    if let (Some(arrays), Some(to)) = (&args.arrays.inputs, &args.results) {
        let arrays = read_arrays(arrays)?;
        let outside = kernels.outside();
        let arithmetic = Arithmetic { casts: casts_of(&spec.options), outside: Some(&outside) };
        let values = results(&imported, &bytes, &arrays, arithmetic).with_context(|| path.to_owned())?;
        let named = (0..).zip(&values).map(|(n, value)| (format!("out{n}"), value));
        return write(to, write_npz(named));
    }
    let names_casts = ["auto_cast", "auto_cast_type"].iter().any(|key| args.options.text(key).is_some());
    let casts = names_casts.then(|| casts_of(&spec.options));
    let tolerance = args.options.text("tolerance").map(|_| spec.tolerance);
    let compared = Comparison::of(&imported, &bytes, &args.arrays, tolerance, casts, &kernels)?;
    let Some(compared) = compared else { bail!("{path}: --inputs needs --expect FILE.npz, or --results FILE.npz") };
    let said = if args.json {
        let mut json =
            serde_json::json!({ "model": path, "format": imported.inspection.format, "values": compared.json() });
        if casts.is_some() {
            json["options"] = spec.options.to_string().into();
        }
        serde_json::to_string_pretty(&json)? + "\n"
    } else {
        compared.describe()
    };
    text::print(said.as_bytes())?;
    compared.verdict()
}

/// A model file at a batch size, with every decision made.
fn with_batch(
    path: &str,
    mut settings: ModelFileSettings,
    batch_size: Option<u32>,
) -> Result<(ImportedModel, FileSource)> {
    let (mut imported, bytes) = model_file::read(Path::new(path), &settings)?;
    if let Some(batch_size) = batch_size.map(u64::from) {
        match BatchRule::of(&imported) {
            BatchRule::Open { dimension, .. } => {
                settings.dims.insert(dimension, batch_size);
                (imported, _) = model_file::read(Path::new(path), &settings)?;
            }
            rule if rule.own() == batch_size => {}
            BatchRule::Derived { exported } => {
                imported = imported.at_batch(exported, batch_size).with_context(|| path.to_owned())?;
            }
            BatchRule::Fixed { size } => {
                bail!("{path}: --batch-size {batch_size}: the file's batch size is fixed at {size}")
            }
        }
    }
    model_file::check_decided(&imported.inspection, &settings).with_context(|| path.to_owned())?;
    Ok((imported, bytes))
}
