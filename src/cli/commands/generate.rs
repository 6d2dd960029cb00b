//! `neuronscope generate` and `neuronscope fit`

use anyhow::{Result, bail};

use super::text;
use crate::llm_args::{GenerateArgs, LlmArgs};
use crate::remarks::{Remark, with_remarks, write_profile};
use ns_session::studies::{LlmAnswer, LlmStudy, StudySpec, token_profile};
use ns_view::terminal;

pub(super) fn run(args: GenerateArgs) -> Result<()> {
    if !args.llm.has_model() {
        bail!("no model is named; give --model llama-3-8b, or a config.json with --model-config");
    }
    let study = args.llm.study()?;
    let answer = LlmAnswer::generate(&study)?;
    let remarks = match &args.trace {
        Some(path) => write_profile(path, &token_profile(&study.request()?)?, args.trace_export)?,
        None => Vec::new(),
    };
    print(answer, study, &args.llm, &remarks)
}

pub(super) fn run_fit(args: LlmArgs) -> Result<()> {
    let study = args.study()?;
    print(LlmAnswer::fit(&study, args.has_model())?, study, &args, &[])
}

fn print(answer: LlmAnswer, study: LlmStudy, args: &LlmArgs, remarks: &[Remark]) -> Result<()> {
    let page = args.page.save(Some(&StudySpec::Llm(study)), &answer.document);
    if args.json {
        text::print(&with_remarks(answer.json.into_bytes(), remarks)?)?;
    } else {
        text::print_lines(&terminal::document(&answer.document))?;
    }
    page
}
