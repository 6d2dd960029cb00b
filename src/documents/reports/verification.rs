//! Verdicts on a file of cases: `neuronscope verify`.

use indexmap::IndexMap;
use serde_json::Value;

use ns_base::{Refusal, refuse};
use ns_experiment::verify::{CaseVerdict, Rules, verify_cases};
use ns_forms::options::{Choice, Flag, Opt, Options, name_of_choice, names, opt};
use ns_forms::studies::{FieldKind, field};
use ns_view::document::{Block, Document};
use ns_view::table::Table;

/// By which rules cases are judged.
#[derive(Clone, Debug)]
pub struct CaseVerification {
    rules: Rules,
}

impl Default for CaseVerification {
    fn default() -> Self {
        Self { rules: Rules::Current }
    }
}

impl Options for CaseVerification {
    const OPTIONS: &'static [&'static [Opt<Self>]] = &[VERIFICATION_OPTIONS];
}

const RULES: [Choice<Rules>; 2] =
    [("mre", "Mean relative error", Rules::MeanRelativeError), ("current", "The rules in force", Rules::Current)];

#[rustfmt::skip]
const VERIFICATION_OPTIONS: &[Opt<CaseVerification>] = &[
    opt(field("rules", "Rules", "", "", FieldKind::Choice(&names(RULES))),
        Flag::new("rules", "RULES", "mre: the mean relative error of the suite's README; current: the rules in force").values(&names(RULES)),
        |v| name_of_choice(&RULES, v.rules), |v, given| given.choice(&RULES).map(|rules| v.rules = rules)),
];

impl CaseVerification {
    /// The verdicts on the cases of a file. Fails with the case that cannot be read.
    pub fn run(&self, file: &str, cases: &str) -> Result<Vec<CaseVerdict>, Refusal> {
        verify_cases(cases, self.rules).map_err(|e| refuse!("{file}: is not a file of cases: {e}"))
    }

    /// The verdicts on the cases of a file, and how many have each code.
    pub fn document(&self, file: &str, verdicts: &[CaseVerdict]) -> Document {
        let plain = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let table = Table::of(verdicts)
            .text("id", "Case", |v| plain(&v.id))
            .text("code", "Code", |v| plain(&v.code))
            .text("error", "Error", |v| plain(&v.error))
            .table();
        let mut counts: IndexMap<String, u64> = IndexMap::new();
        verdicts.iter().for_each(|v| *counts.entry(plain(&v.code)).or_default() += 1);
        let counts: Vec<String> = counts.into_iter().map(|(code, n)| format!("{n} {code}")).collect();
        let rules = name_of_choice(&RULES, self.rules);
        let table = Block::Table { title: "Verdicts".to_owned(), file: "verdicts".to_owned(), table };
        Document { title: format!("Cases of {file} by the rules {rules}: {}", counts.join(", ")), blocks: vec![table] }
    }
}
