//! `neuronscope generate` and `neuronscope fit`

use anyhow::{Result, bail};

use crate::llm_args::{GenerateArgs, LlmArgs};
use crate::remarks::{Remark, with_remarks, write_profile};
use crate::shell::Shell;
use ns_session::studies::{LlmAnswer, LlmStudy, StudySpec, token_profile};
use ns_view::terminal;

pub(super) fn run(shell: &Shell, args: GenerateArgs) -> Result<()> {
    if !args.llm.has_model() {
        bail!("no model is named; give --model llama-3-8b, or a config.json with --model-config");
    }
    let study = args.llm.study(shell)?;
    let answer = LlmAnswer::generate(&study)?;
    let remarks = match &args.trace {
        Some(path) => write_profile(shell, path, &token_profile(&study.request()?)?, args.trace_export)?,
        None => Vec::new(),
    };
    print(shell, answer, study, &args.llm, &remarks)
}

pub(super) fn run_fit(shell: &Shell, args: LlmArgs) -> Result<()> {
    let study = args.study(shell)?;
    print(shell, LlmAnswer::fit(&study, args.has_model())?, study, &args, &[])
}

fn print(shell: &Shell, answer: LlmAnswer, study: LlmStudy, args: &LlmArgs, remarks: &[Remark]) -> Result<()> {
    let page = args.page.save(shell, Some(&StudySpec::Llm(study)), &answer.document);
    if args.json {
        shell.print(&with_remarks(answer.json.into_bytes(), remarks)?)?;
    } else {
        shell.print_lines(&terminal::document(&answer.document))?;
    }
    page
}
