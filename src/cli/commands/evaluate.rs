//! `neuronscope evaluate`

use anyhow::Result;

use crate::args::EvaluateArgs;
use crate::file;
use crate::shell::Shell;
use ns_session::reports::Evaluation;
use ns_view::terminal;

pub(super) fn run(shell: &Shell, args: EvaluateArgs) -> Result<()> {
    let Some(path) = &args.file else { return shell.print(Evaluation::known().as_bytes()) };
    let mut evaluation = Evaluation::default();
    args.options.put_into(&mut evaluation, &[])?;
    let document = evaluation.run(&path.display().to_string(), &file::read(shell, path)?)?;
    let page = args.page.save(shell, None, &document);
    shell.print_lines(&terminal::document(&document))?;
    page
}
