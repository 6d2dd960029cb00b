//! The answer for a model file of the user in words: whether it runs, and what is known of it.

use ns_base::convert::usize_to_f64;
use ns_base::units::{format_large, format_plural, format_whole_share};
use ns_bench::Report;
use ns_device::{BatchRule, EstimateMark, OpenedModel};

/// Operators that are named; the others are counted.
const MOST_NAMED: usize = 3;

/// How the runs of a model went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelRuns {
    pub finished: usize,
    pub all: usize,
    /// The reason of the first that failed.
    pub failure: Option<String>,
    /// The mark of the times, if they hold guesses.
    pub mark: Option<EstimateMark>,
}

impl ModelRuns {
    pub fn of(reports: &[&Report]) -> Self {
        Self {
            finished: reports.iter().filter(|r| r.is_finished()).count(),
            all: reports.len(),
            failure: reports.iter().find_map(|r| r.error.clone()),
            mark: reports.iter().find_map(|r| r.estimate),
        }
    }

    /// Whether it runs. What has an operator without a known cost is not said to run.
    pub fn text(&self) -> String {
        let Self { finished, all, failure, mark } = self;
        match (finished, failure, mark.filter(|mark| mark.unknown > 0)) {
            (0, Some(reason), _) => format!("It does not run: {reason}"),
            (0, None, _) => "It has not run yet.".to_owned(),
            (n, _, Some(mark)) => format!(
                "Whether it runs is not known: {}. The times of {n} of {all} configurations are the least that they can be.",
                mark.note()
            ),
            (n, ..) if n == all => "It runs on every instance and with every batch size of this list.".to_owned(),
            (n, Some(reason), _) => {
                let share = format_whole_share(usize_to_f64(*n) / usize_to_f64(*all) * 100.0);
                format!("It runs in {n} of {all} configurations ({share}). The first of the others: {reason}")
            }
            (n, None, _) => format!("It runs in {n} of {all} configurations."),
        }
    }
}

/// What a model file says about itself: parameters, batch, operators without a known meaning.
pub fn model_facts(opened: &OpenedModel) -> String {
    let batch = match &opened.batch {
        BatchRule::Open { dimension, .. } => format!("its batch is open ({dimension})"),
        BatchRule::Derived { exported } => {
            format!("exported for batch {exported}; other batches follow from its graph")
        }
        BatchRule::Fixed { size } => format!("it was exported for batch {size}"),
    };
    let parameters = match opened.inspection.parameters {
        0 => "No parameters".to_owned(),
        1 => "1 parameter".to_owned(),
        n => format!("{} parameters", format_large(n, "")),
    };
    let mut text = format!("{parameters}, {batch}.");
    let unknown = &opened.inspection.unsupported;
    unknown.iter().take(MOST_NAMED).for_each(|op| text.push_str(&format!(" {}", op.sentence())));
    if let Some(others) = unknown.len().checked_sub(MOST_NAMED).filter(|n| *n > 0) {
        text.push_str(&format!(" The same holds for {}.", format_plural(others as u64, "more operator")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_program::{Inspection, UnsupportedOp};

    fn report(estimate: Option<EstimateMark>) -> Report {
        Report { status: "finished".into(), estimate, ..Report::default() }
    }

    #[test]
    fn a_model_with_an_unknown_operator_is_not_said_to_run() {
        let text = |mark| ModelRuns::of(&[&report(mark), &report(mark)]).text();
        assert_eq!(text(None), "It runs on every instance and with every batch size of this list.");
        let guessed = EstimateMark { unknown: 0, estimated: 3 };
        assert_eq!(text(Some(guessed)), text(None));
        let unknown = EstimateMark { unknown: 2, estimated: 0 };
        assert_eq!(
            text(Some(unknown)),
            "Whether it runs is not known: 2 operators without a known cost. The times of 2 of 2 configurations are the \
             least that they can be."
        );
        let failed = Report { error: Some("it does not fit".into()), ..Report::default() };
        assert_eq!(ModelRuns::of(&[&failed]).text(), "It does not run: it does not fit");
        assert_eq!(
            ModelRuns::of(&[&report(None), &failed]).text(),
            "It runs in 1 of 2 configurations (50 %). The first of the others: it does not fit"
        );
    }

    #[test]
    fn facts_name_what_is_unknown_and_count_what_can_be_read() {
        let op = |op: &str, why: &str| UnsupportedOp { op: op.into(), count: 1, why: why.into(), ..Default::default() };
        let facts = |parameters, unsupported| {
            let inspection = Inspection { parameters, unsupported, ..Inspection::default() };
            model_facts(&OpenedModel { id: String::new(), inspection, batch: BatchRule::Fixed { size: 1 } })
        };
        assert_eq!(facts(0, Vec::new()), "No parameters, it was exported for batch 1.");
        assert_eq!(facts(72, Vec::new()), "72 parameters, it was exported for batch 1.");
        let unknown = vec![op("FrobnicateV7", ""), op("aten::add", "its size is open")];
        assert_eq!(
            facts(25_557_032, unknown),
            "25.6 M parameters, it was exported for batch 1. FrobnicateV7 has no known meaning. aten::add is not read here: \
             its size is open."
        );
        let many = ["a", "b", "c", "d", "e"].map(|name| op(name, "")).to_vec();
        assert!(facts(5, many).ends_with("c has no known meaning. The same holds for 2 more operators."));
    }
}
