//! Metrics of a table of answers: `neuronscope evaluate`.

use ns_base::convert::f64_to_f32;
use ns_base::units::{format_count, format_figures};
use ns_base::{Refusal, refuse};
use ns_bench::comma_list;
use ns_bench::dataset::read_records;
use ns_bench::evaluate::{JudgedRecords, Metrics, metrics_to_text};
use ns_forms::options::{Flag, Opt, Options, opt};
use ns_forms::studies::{FieldKind, field};
use ns_view::document::{Block, Document};
use ns_view::table::Table;

/// Which metrics are computed, and from which columns.
#[derive(Clone, Debug)]
pub struct Evaluation {
    pub(crate) metrics: Vec<String>,
    /// The user's own metrics, as they were written.
    pub(crate) registered: Vec<String>,
    /// The column of the targets; empty for the last one.
    pub(crate) target: String,
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

    /// The metrics of the answers in a file: outputs and the right answer of each record. Fails with the record that cannot be read or
    /// judged.
    pub fn run(&self, file: &str, bytes: &[u8]) -> Result<Document, Refusal> {
        let target = Some(self.target.as_str()).filter(|name| !name.is_empty());
        let all = read_records(file, bytes)?;
        if let Some(first) = all.diagnostics.items().first() {
            return Err(refuse!(
                "{file}: cannot be evaluated: {}",
                first.first_example.replace("; it is left out", "")
            ));
        }
        let judged = JudgedRecords::new(file, all, &self.metrics, target)?;
        let records = &judged.records;
        let outputs: Vec<Vec<f32>> =
            records.iter().map(|output| output.iter().map(|x| f64_to_f32(*x)).collect()).collect();
        let rows = judged.judge(&self.own_metrics()?, outputs.iter().map(Vec::as_slice));
        let rows = rows.map_err(|e| e.within(|what| format!("{file}: {what}")))?;
        let table = Table::of(&rows)
            .text("metric", "Metric", |(name, _)| *name)
            .text("value", "Value", |(_, value)| value.map(format_figures))
            .table();
        let count = |n: u64, what: &str| format!("{} {what}{}", format_count(n), if n == 1 { "" } else { "s" });
        let size = format!("{} of {}", count(records.count, "record"), count(records.elements(), "output"));
        let table = Block::Table { title: "How good the answers are".to_owned(), file: "metrics".to_owned(), table };
        Ok(Document { title: format!("Answers in {file}: {size}"), blocks: vec![table] })
    }
}
