//! A filter of reports: `n_models=4 latency_ms_p99<5 bert`: conditions on any key, and words that some value contains.

use super::columns::{ReportCells, column_title};
use ns_base::stats::round_to;
use ns_base::{Refusal, refuse};
use ns_bench::REPORT_KEYS;
use ns_view::table::{Cell, ColumnKind};
use ns_view::text::contains_ignoring_case;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    AtMost,
    AtLeast,
    Not,
    Below,
    Above,
    Is,
}

/// Longer signs first: `<=` is not `<` with a value of `=...`.
const OPERATORS: [(&str, Operator); 6] = [
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("!=", Operator::Not),
    ("<", Operator::Below),
    (">", Operator::Above),
    ("=", Operator::Is),
];

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Condition(&'static str, Operator, String),
    Word(String),
}

/// A filter; every term must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    terms: Vec<Term>,
}

impl Filter {
    /// Reads a filter; terms are separated by spaces. Terms that cannot be understood are left out and reported.
    pub fn parse(text: &str) -> (Self, Vec<Refusal>) {
        let (mut terms, mut wrong) = (Vec::new(), Vec::new());
        for term in text.split_whitespace() {
            match parse_term(term) {
                Ok(term) => terms.push(term),
                Err(error) => wrong.push(error),
            }
        }
        (Self { terms }, wrong)
    }

    /// Whether a report passes the filter.
    pub fn accepts(&self, row: &ReportCells) -> bool {
        self.terms.iter().all(|term| match term {
            Term::Word(word) => {
                REPORT_KEYS.iter().any(|key| text_of(row.get(key)).is_some_and(|t| contains_ignoring_case(&t, word)))
            }
            Term::Condition(key, operator, value) => holds(row.get(key), *operator, value),
        })
    }
}

fn parse_term(term: &str) -> Result<Term, Refusal> {
    let Some((sign, operator)) = OPERATORS.iter().find(|(sign, _)| term.contains(sign)) else {
        return Ok(Term::Word(term.to_owned()));
    };
    let (key, value) = term.split_once(sign).unwrap_or((term, ""));
    let Some(known) = key_of(key) else {
        // `matmult:n=64` is part of a name, not a condition.
        if key.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            return Ok(Term::Word(term.to_owned()));
        }
        return Err(refuse!("'{key}' is not a column; write a name such as models, batch, p99 or throughput"));
    };
    if !matches!(operator, Operator::Is | Operator::Not) && value.parse::<f64>().is_err() {
        return Err(refuse!("'{term}' compares with '{value}', which is not a number"));
    }
    Ok(Term::Condition(known, *operator, value.to_owned()))
}

/// The key for a name: the key itself, the column's title without the unit, or a short name.
fn key_of(name: &str) -> Option<&'static str> {
    const SHORT: [(&str, &str); 5] = [
        ("throughput", "throughput_avg"),
        ("workers", "workers_per_model"),
        ("cost", "cost_per_1m_inf"),
        ("error", "status"),
        ("dtype", "compiler_args"),
    ];
    let letters = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let key = |known: &str| REPORT_KEYS.iter().copied().find(|k| *k == known);
    let wanted = letters(name);
    let is_head = |k: &&&str| letters(column_title(k).split(" (").next().unwrap_or_default()) == wanted;
    key(name)
        .or_else(|| REPORT_KEYS.iter().find(is_head).copied())
        .or_else(|| SHORT.iter().find(|(short, _)| *short == wanted).and_then(|(_, known)| key(known)))
}

fn text_of(cell: &Cell) -> Option<String> {
    (*cell != Cell::Missing).then(|| cell.text(ColumnKind::Text))
}

fn holds(cell: &Cell, operator: Operator, value: &str) -> bool {
    let (number, wanted) = (cell.number(), value.parse::<f64>().ok());
    let is_equal = || match (number, wanted) {
        // Measures have more digits than anyone reads: equal is what rounds to the text.
        (Some(a), Some(b)) => round_to(a, value.split_once('.').map_or(0, |(_, decimals)| decimals.len())) == b,
        _ => text_of(cell).unwrap_or_default().eq_ignore_ascii_case(value),
    };
    let compares = |f: fn(&f64, &f64) -> bool| matches!((number, wanted), (Some(a), Some(b)) if f(&a, &b));
    match operator {
        Operator::Is => is_equal(),
        Operator::Not => !is_equal(),
        Operator::Below => compares(f64::lt),
        Operator::AtMost => compares(f64::le),
        Operator::Above => compares(f64::gt),
        Operator::AtLeast => compares(f64::ge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_bench::Report;

    fn row() -> ReportCells {
        ReportCells::of(&Report {
            model_name: "matmult:n=64".into(),
            n_models: 4,
            latency_ms_p99: Some(5.5043),
            status: "finished".into(),
            ..Report::default()
        })
    }

    #[test]
    fn columns_are_called_as_their_heads_say() {
        for text in ["p99<6", "p99>=5.5", "models=4", "Models=4", "Status=finished", "model=matmult:n=64"] {
            let (filter, wrong) = Filter::parse(text);
            assert!(wrong.is_empty() && filter.accepts(&row()), "{text}: {wrong:?}");
        }
        assert!(!Filter::parse("p99<5").0.accepts(&row()));
        assert!(!Filter::parse("throughput>1").0.accepts(&row()), "a value that is missing is not more than another");
    }

    #[test]
    fn conditions_and_words_hold_together() {
        let accepts = |text| {
            let (filter, wrong) = Filter::parse(text);
            assert!(wrong.is_empty(), "{wrong:?}");
            filter.accepts(&row())
        };
        assert!(accepts("p99=5.5") && accepts("p99=5.504") && !accepts("p99=5.6"));
        assert!(accepts("") && accepts("n_models=4 latency_ms_p99<5.6 MATMULT") && accepts("matmult:n=64"));
        assert!(
            accepts("n_models>=4")
                && accepts("n_models<=4.0")
                && accepts("status!=error")
                && accepts("status=Finished")
        );
        assert!(!accepts("n_models=4 latency_ms_p99<5.5") && !accepts("n_models>4") && !accepts("resnet"));
        assert!(
            !accepts("throughput_avg>0") && !accepts("throughput_avg<1"),
            "what is missing is neither large nor small"
        );
    }

    #[test]
    fn mistakes_are_named_and_the_rest_counts() {
        let (filter, wrong) = Filter::parse("modles=4 n_models>many n_models=5");
        let text: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        assert!(
            text[0].starts_with("'modles' is not a column") && text[1].contains("'many', which is not a number"),
            "{text:?}"
        );
        assert!(!filter.accepts(&row()));
    }
}
