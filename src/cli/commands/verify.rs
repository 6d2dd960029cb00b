//! `neuronscope verify --cases FILE`

use anyhow::{Context, Result};

use super::text;
use crate::experiment_args::VerifyArgs;
use crate::file;
use ns_experiment::verify::{CaseVerdict, verify_cases};

pub(super) fn run(args: VerifyArgs) -> Result<()> {
    let shown = args.cases.display();
    let cases = file::read_text(&args.cases)?;
    let verdicts = verify_cases(&cases, args.rules).with_context(|| format!("{shown}: is not a file of cases"))?;
    if args.json {
        return text::print_json(&verdicts);
    }
    let plain = |value: &serde_json::Value| match value {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let row = |v: &CaseVerdict| vec![plain(&v.id), plain(&v.code), plain(&v.error)];
    let rows: Vec<Vec<String>> = verdicts.iter().map(row).collect();
    text::print(text::table(&["Case", "Code", "Error"], &rows).as_bytes())
}
