//! `neuronscope evaluate`

use anyhow::Result;

use super::text;
use crate::args::EvaluateArgs;
use crate::file;
use ns_session::reports::Evaluation;
use ns_view::terminal;

pub(super) fn run(args: EvaluateArgs) -> Result<()> {
    let Some(path) = &args.file else { return text::print(Evaluation::known().as_bytes()) };
    let mut evaluation = Evaluation::default();
    args.options.put_into(&mut evaluation, &[])?;
    let document = evaluation.run(&path.display().to_string(), &file::read(path)?)?;
    let page = args.page.save(None, &document);
    text::print_lines(&terminal::document(&document))?;
    page
}
