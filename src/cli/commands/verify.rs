//! `neuronscope verify --cases FILE`

use anyhow::Result;

use super::text;
use crate::experiment_args::VerifyArgs;
use crate::file;
use ns_session::reports::CaseVerification;

pub(super) fn run(args: VerifyArgs) -> Result<()> {
    let mut verification = CaseVerification::default();
    args.options.put_into(&mut verification, &[])?;
    let verdicts = verification.run(&args.cases.display().to_string(), &file::read_text(&args.cases)?)?;
    if args.json { text::print_json(&verdicts) } else { text::print(CaseVerification::table(&verdicts).as_bytes()) }
}
