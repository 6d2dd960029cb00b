//! `neuronscope validate FILE.csv`

use anyhow::{Context, Result};

use super::{nki, text};
use crate::args::ValidateArgs;
use crate::file;
use ns_session::reports::FigureTable;
use ns_view::terminal;

pub(super) fn run(args: ValidateArgs) -> Result<()> {
    let (place, bytes) = (args.file.display().to_string(), file::read(&args.file)?);
    let table = FigureTable::read(&place, &bytes)?;
    if args.calibrate {
        return text::print(table.calibrated().with_context(|| place)?.as_bytes());
    }
    let answer = table.predicted(|rows| nki::compare(&args.file, rows))?;
    let document = answer.document(&place);
    let page = args.page.save(None, &document);
    if args.json {
        text::print_json(&answer)?
    } else {
        text::print_lines(&terminal::document(&document))?
    }
    page
}
