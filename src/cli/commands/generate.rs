//! `neuronscope generate` and `neuronscope fit`

use anyhow::{Result, bail};

use super::text;
use crate::llm_args::{GenerateArgs, LlmArgs};
use crate::remarks::{Remark, with_remarks, write_profile};
use ns_session::studies::{LlmAnswer, token_profile};
use ns_view::terminal;

pub(super) fn run(args: GenerateArgs) -> Result<()> {
    if !args.llm.has_model() {
        bail!("no model is named; give --model llama-3-8b, or a config.json with --model-config");
    }
    let study = args.llm.study()?;
    let answer = study.generate()?;
    let remarks = match &args.trace {
        Some(path) => write_profile(path, &token_profile(&study.request()?)?, args.trace_export)?,
        None => Vec::new(),
    };
    print(answer, args.llm.json, &remarks)
}

pub(super) fn run_fit(args: LlmArgs) -> Result<()> {
    print(args.study()?.fit(args.has_model())?, args.json, &[])
}

fn print(answer: LlmAnswer, json: bool, remarks: &[Remark]) -> Result<()> {
    if json {
        text::print(&with_remarks(answer.json.into_bytes(), remarks)?)
    } else {
        text::print_lines(&terminal::document(&answer.document))
    }
}
