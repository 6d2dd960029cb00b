//! `neuronscope validate FILE.csv`

use anyhow::{Context, Result};

use super::nki;
use crate::args::ValidateArgs;
use crate::driver::Driver;
use crate::file;
use crate::shell::Shell;
use ns_session::studies::{FidelityStudy, FigureAnswer, FigureTable, StudySpec, calibrated};
use ns_view::document::Document;
use ns_view::terminal;

pub(super) fn run(shell: &Shell, args: ValidateArgs) -> Result<()> {
    let place = args.file.display().to_string();
    let study = match FidelityStudy::is_shipped(&place) && !args.file.exists() {
        true => FidelityStudy { table: place.clone(), rows: String::new() },
        false => FidelityStudy {
            table: args.file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            rows: String::from_utf8_lossy(&file::read(shell, &args.file)?).into_owned(),
        },
    };
    let table = FigureTable::of(&study).with_context(|| place.clone())?;
    if args.calibrate {
        return shell.print(calibrated(&table).with_context(|| place)?.as_bytes());
    }
    if let FigureTable::Kernels(rows) = table {
        let answer = FigureAnswer::of_kernels(nki::compare(shell, &args.file, &rows)?);
        return tell(shell, &args, None, &answer.document(&study.file()), || shell.print_json(&answer));
    }
    let spec = StudySpec::Fidelity(study);
    let result = Driver::new(shell).study(spec.clone())?;
    let json = result.files.first().map_or("", |file| file.text.as_str());
    tell(shell, &args, Some(&spec), &result.document, || shell.print(json.as_bytes()))
}

/// Prints the comparison as the flags say; a page that cannot be written takes nothing from what is printed.
fn tell(
    shell: &Shell,
    args: &ValidateArgs,
    study: Option<&StudySpec>,
    document: &Document,
    print_json: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let page = args.page.save(shell, study, document);
    if args.json {
        print_json()?;
    } else {
        shell.print_lines(&terminal::document(document))?;
    }
    page
}
