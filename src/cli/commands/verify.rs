//! `neuronscope verify --cases FILE`

use anyhow::Result;

use crate::experiment_args::VerifyArgs;
use crate::file;
use crate::shell::Shell;
use ns_session::reports::CaseVerification;
use ns_view::terminal;

pub(super) fn run(shell: &Shell, args: VerifyArgs) -> Result<()> {
    let mut verification = CaseVerification::default();
    args.options.put_into(&mut verification, &[])?;
    let place = args.cases.display().to_string();
    let verdicts = verification.run(&place, &file::read_text(shell, &args.cases)?)?;
    let document = verification.document(&place, &verdicts);
    let page = args.page.save(shell, None, &document);
    if args.json {
        shell.print_json(&verdicts)?;
    } else {
        shell.print_lines(&terminal::document(&document))?;
    }
    page
}
