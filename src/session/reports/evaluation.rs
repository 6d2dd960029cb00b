//! Metrics of a table of answers: `neuronscope evaluate`.

use crate::options::{Flag, Opt, Options, opt};
use crate::studies::{FieldKind, field};
use ns_base::units::format_figures;
use ns_base::{Refusal, refuse};
use ns_bench::comma_list;
use ns_bench::evaluate::{Metrics, Record, metrics_to_text, read_answers};

/// Which metrics are computed, and from which columns.
#[derive(Clone, Debug)]
pub struct Evaluation {
    metrics: Vec<String>,
    /// The user's own metrics, as they were written.
    registered: Vec<String>,
    /// The column of the targets; empty for the last one.
    target: String,
}

/// What stands between the user's own metrics.
const BETWEEN: &str = ";";

impl Default for Evaluation {
    fn default() -> Self {
        Self { metrics: vec!["Accuracy".to_owned()], registered: Vec::new(), target: String::new() }
    }
}

impl Options for Evaluation {
    const OPTIONS: &'static [&'static [Opt<Self>]] = &[EVALUATION_OPTIONS];
}

#[rustfmt::skip]
const EVALUATION_OPTIONS: &[Opt<Evaluation>] = &[
    opt(field("metrics", "Metrics", "", "", FieldKind::Line),
        Flag::new("metrics", "METRICS", "Metrics, separated by commas; topk_3 for the best three").list(),
        |e| comma_list(&e.metrics), |e, given| { e.metrics = given.text.split(',').map(str::to_owned).collect(); Ok(()) }),
    opt(field("register", "Own metrics", "", "", FieldKind::Line),
        Flag::new("register", "NAME=FORMULA", "A metric of your own, as a formula over TP, FP, TN, FN, N and rates: balanced=(TPR+TNR)/2; or another name for a metric: best3=topk_3. May be given several times").each(BETWEEN),
        |e| e.registered.join(BETWEEN), |e, given| register(e, given.text).map_err(|error| format!("{}: {error}", given.name))),
    opt(field("eval_target_col", "Column of the target", "", "the last", FieldKind::Line),
        Flag::new("eval-target-col", "EVAL_TARGET_COL", "Column that holds the target [default: the last]"),
        |e| e.target.clone(), |e, given| { given.text.clone_into(&mut e.target); Ok(()) }),
];

fn register(evaluation: &mut Evaluation, texts: &str) -> Result<(), Refusal> {
    evaluation.registered = texts.split(BETWEEN).filter(|text| !text.is_empty()).map(str::to_owned).collect();
    evaluation.own_metrics().map(|_| ())
}

impl Evaluation {
    /// The metrics that there are, as text.
    pub fn known() -> String {
        metrics_to_text()
    }

    fn own_metrics(&self) -> Result<Metrics, Refusal> {
        let mut own = Metrics::default();
        self.registered.iter().try_for_each(|text| own.register(text)).map(|()| own)
    }

    /// A line for each metric of the answers in a file, a CSV table with a heading. Fails with the record that cannot be read or judged.
    pub fn run(&self, file: &str, table: &[u8]) -> Result<String, Refusal> {
        let target = Some(self.target.as_str()).filter(|name| !name.is_empty());
        let answers = read_answers(table, target).map_err(|e| refuse!("{file}: cannot be evaluated: {e}"))?;
        let records: Vec<Record> = answers.iter().map(|(output, target)| Record { output, target: *target }).collect();
        let own = self.own_metrics()?;
        let line = |name: &String| {
            let value = own.evaluate(name, &records).map_err(|e| refuse!("{file}: {name}: {e}"))?;
            Ok(format!("{name} {}\n", value.map_or_else(|| "N/A".to_owned(), format_figures)))
        };
        self.metrics.iter().map(line).collect()
    }
}
