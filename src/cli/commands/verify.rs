//! `neuronscope verify --cases FILE`

use anyhow::Result;

use crate::experiment_args::VerifyArgs;
use crate::file;
use crate::shell::Shell;
use ns_session::reports::CaseVerification;

pub(super) fn run(shell: &Shell, args: VerifyArgs) -> Result<()> {
    let mut verification = CaseVerification::default();
    args.options.put_into(&mut verification, &[])?;
    let verdicts = verification.run(&args.cases.display().to_string(), &file::read_text(shell, &args.cases)?)?;
    if args.json { shell.print_json(&verdicts) } else { shell.print(CaseVerification::table(&verdicts).as_bytes()) }
}
