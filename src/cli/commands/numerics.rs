//! `neuronscope numerics`

use anyhow::{Context as _, Result, anyhow, bail};

use super::model_values::{read_arrays, read_both};
use crate::args::NumericsArgs;
use crate::driver::Driver;
use crate::file::read_text;
use crate::model_args::ModelFileFlags;
use crate::model_file;
use crate::option_args::said_of_flag;
use crate::output::write;
use crate::shell::Shell;
use ns_readers::write_npz;
use ns_session::options::Options as _;
use ns_session::reports::{ModelValues, model_results};
use ns_session::studies::{NumericsStudy, StudyReports, StudySpec};
use ns_session::{NumericsReport, OperatorKernels, Rounding, casts_of, checked_instance};
use ns_view::document::Document;
use ns_view::terminal;

pub(super) fn run(shell: &Shell, args: NumericsArgs) -> Result<()> {
    let mut study = NumericsStudy::default();
    args.options.put_into(&mut study, &[])?;
    if let Some(path) = &args.dataset {
        let text = read_text(shell, path)?;
        study.set_text("dataset", &text).map_err(|e| anyhow!("{}: {e}", path.display()))?;
    }
    if study.is_answered {
        return tell_of_answers(shell, study, &args);
    }
    let spec = &mut study.compared;
    spec.model = args.file.model_file.clone().unwrap_or_else(|| spec.model.clone());
    if model_file::names_a_file(&spec.model) {
        return of_file(shell, study, &args);
    }
    args.file_flags.refuse_without_a_file(&spec.model)?;
    if args.arrays.inputs.is_some() {
        bail!("--inputs and --expect are about a model file, and {} is not one", spec.model);
    }
    tell(shell, study, &args)
}

/// Compares the values of a core with the reference's: those of a model of the zoo, or of a file, for random inputs or records.
pub(super) fn of_drawn(
    driver: &mut Driver<'_>,
    file_flags: &ModelFileFlags,
    mut study: NumericsStudy,
) -> Result<(NumericsReport, Document)> {
    let spec = study.compared.clone();
    study.compared.model = file_flags.model(driver, &spec.model)?;
    let result = driver.study(StudySpec::Numerics(study)).map_err(|e| said_of_flag::<NumericsStudy>(&e))?;
    let StudyReports::Numerics(report) = result.reports else { bail!("the session returned no comparison") };
    Ok((NumericsReport { spec, ..*report }, result.document))
}

/// Prints what metrics say of answers that were made elsewhere.
fn tell_of_answers(shell: &Shell, study: NumericsStudy, args: &NumericsArgs) -> Result<()> {
    if args.json {
        bail!("--json has the comparison of two computations, and answers are not computed; leave it or --answers out");
    }
    let spec = StudySpec::Numerics(study);
    let result = Driver::new(shell).study(spec.clone()).map_err(|e| said_of_flag::<NumericsStudy>(&e))?;
    let page = args.page.save(shell, Some(&spec), &result.document);
    shell.print_lines(&terminal::document(&result.document))?;
    page
}

/// Prints what a session says of a study.
fn tell(shell: &Shell, study: NumericsStudy, args: &NumericsArgs) -> Result<()> {
    let (report, document) = of_drawn(&mut Driver::new(shell), &args.file_flags, study.clone())?;
    // A link holds no file.
    let linked = (!model_file::names_a_file(&study.compared.model)).then_some(StudySpec::Numerics(study));
    let page = args.page.save(shell, linked.as_ref(), &document);
    let said = if args.json { report.to_json()? } else { terminal::document(&document) };
    shell.print(said.as_bytes())?;
    page?;
    let failed = report.outputs.iter().filter(|o| !o.passed).count();
    if failed > 0 {
        bail!("{failed} of {} outputs are not within the tolerance", report.outputs.len());
    }
    Ok(())
}

/// Compares a model file's values with its framework's, or the values of a core with those without casts.
fn of_file(shell: &Shell, study: NumericsStudy, args: &NumericsArgs) -> Result<()> {
    let spec = &study.compared;
    let path = spec.model.as_str();
    let settings = args.file_flags.settings(shell)?;
    let kernels = OperatorKernels::of(&settings.assumed).context("--assume")?;
    if args.arrays.inputs.is_none() {
        return tell(shell, study, args);
    }
    if args.page.html.is_some() {
        bail!("--html has no page of arrays; leave it out, or leave --inputs out for random inputs");
    }
    if spec.rounding == Rounding::Stochastic {
        bail!(
            "--rounding stochastic: values of a model file are always rounded to the nearest; leave the flag out, or compare a model of the zoo"
        );
    }
    checked_instance(spec)?;
    let (imported, bytes) = model_file::read_at_batch(shell, path, &settings, spec.batch_size)?;
    if let (Some(arrays), Some(to)) = (&args.arrays.inputs, &args.results) {
        let arrays = read_arrays(shell, arrays)?;
        let casts = casts_of(&spec.options);
        let values = model_results((&imported, &bytes), &arrays, casts, &kernels).with_context(|| path.to_owned())?;
        let named = (0..).zip(&values).map(|(n, value)| (format!("out{n}"), value));
        return write(shell, to, write_npz(named));
    }
    let names_casts = ["auto_cast", "auto_cast_type"].iter().any(|key| args.options.text(key).is_some());
    let casts = names_casts.then(|| casts_of(&spec.options));
    let tolerance = args.options.text("tolerance").map(|_| spec.tolerance);
    let Some([inputs, expected]) = read_both(shell, &args.arrays)? else {
        bail!("{path}: --inputs needs --expect FILE.npz, or --results FILE.npz")
    };
    let compared = ModelValues::of((&imported, &bytes), (&inputs, &expected), tolerance, casts, &kernels)?;
    let said = if args.json {
        let mut json =
            serde_json::json!({ "model": path, "format": imported.inspection.format, "values": compared.json() });
        if casts.is_some() {
            json["options"] = spec.options.to_string().into();
        }
        serde_json::to_string_pretty(&json)? + "\n"
    } else {
        compared.text()
    };
    shell.print(said.as_bytes())?;
    Ok(compared.verdict()?)
}
