//! User-defined metrics: a formula over the counts and rates of a two-class classification.

use super::Confusion;
use super::metric::{METRICS, Metric};
use crate::host_step::arithmetic::{Language, Operator, Term, parse};
use ns_base::convert::u64_to_f64;
use ns_base::{Refusal, refuse};

/// Short names of the rates, as the formulas of the table use them.
const SHORT: [(&str, &str); 8] = [
    ("TPR", "TruePositiveRate"),
    ("TNR", "TrueNegativeRate"),
    ("PPV", "PositivePredictiveValue"),
    ("NPV", "NegativePredictiveValue"),
    ("FNR", "FalseNegativeRate"),
    ("FPR", "FalsePositiveRate"),
    ("FDR", "FalseDiscoveryRate"),
    ("FOR", "FalseOmissionRate"),
];

/// A formula: `(TPR + TNR) / 2`, `2*TP / (2*TP + FP + FN)`.
#[derive(Clone)]
pub struct Formula(Term<Leaf>);

/// The meaning of a name in a formula.
#[derive(Clone)]
enum Leaf {
    Count(fn(&Confusion) -> u64),
    Rate(fn(&Confusion) -> Option<f64>),
}

/// Counts, rates and the square root.
struct CountsAndRates;

impl Language for CountsAndRates {
    type Value = Leaf;

    fn value(&self, name: &str, _index: Option<usize>) -> Option<Leaf> {
        named(name)
    }

    fn functions(&self) -> &[(&'static str, usize)] {
        &[("sqrt", 1)]
    }

    fn has_methods(&self) -> bool {
        false
    }

    fn known(&self) -> String {
        "TP, FP, TN, FN, N or a rate such as TPR".to_owned()
    }
}

impl Formula {
    /// Reads a formula: numbers, TP, FP, TN, FN, N, rates by their full or short names, `+ - * / **`, brackets and `sqrt`. An error
    /// says what cannot be read, and where.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let terms = parse(text, 0, &CountsAndRates)?;
        let missing = || refuse!("'{text}': something is missing at character 1");
        terms.into_iter().next().map(Self).ok_or_else(missing)
    }

    /// Its value; `None` if it divides by zero or has no real value.
    pub fn value(&self, counts: &Confusion) -> Option<f64> {
        value(&self.0, counts).filter(|v| v.is_finite())
    }
}

fn value(term: &Term<Leaf>, counts: &Confusion) -> Option<f64> {
    Some(match term {
        Term::Number(n) => *n,
        Term::Value(Leaf::Count(of)) => u64_to_f64(of(counts)),
        Term::Value(Leaf::Rate(of)) => of(counts)?,
        Term::Negative(inner) => -value(inner, counts)?,
        Term::Call(_, arguments) => libm::sqrt(value(arguments.first()?, counts)?),
        Term::Of(a, operator, b) => {
            let (a, b) = (value(a, counts)?, value(b, counts)?);
            match operator {
                Operator::Plus => a + b,
                Operator::Minus => a - b,
                Operator::Times => a * b,
                Operator::Over => a / b,
                Operator::Power => libm::pow(a, b),
            }
        }
    })
}

fn named(name: &str) -> Option<Leaf> {
    let count: Option<fn(&Confusion) -> u64> = match name.to_ascii_uppercase().as_str() {
        "TP" => Some(|c| c.tp),
        "FP" => Some(|c| c.fp),
        "TN" => Some(|c| c.tn),
        "FN" => Some(|c| c.fn_),
        "N" => Some(|c| c.tp + c.fp + c.tn + c.fn_),
        _ => None,
    };
    if let Some(count) = count {
        return Some(Leaf::Count(count));
    }
    let long = SHORT.iter().find(|(short, _)| short.eq_ignore_ascii_case(name)).map_or(name, |(_, long)| long);
    METRICS.iter().find_map(|m| match m.metric {
        Metric::Rate(of)
            if m.name.eq_ignore_ascii_case(long) || m.aliases.iter().any(|a| a.eq_ignore_ascii_case(long)) =>
        {
            Some(Leaf::Rate(of))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts() -> Confusion {
        Confusion { tp: 6, fp: 2, tn: 3, fn_: 1 }
    }

    #[test]
    fn formulas_are_computed_as_people_write_them() {
        let value = |text: &str| Formula::parse(text).unwrap().value(&counts());
        assert_eq!(value("(TP + TN) / N"), Some(0.75));
        assert_eq!(value("2*TP/(2*TP+FP+FN)"), counts().f1_score());
        assert_eq!(value("(TPR + Specificity) / 2"), Some((6.0 / 7.0 + 0.6) / 2.0));
        assert_eq!((value("1 - 2 - 3"), value("TP ** 2 / 4")), (Some(-4.0), Some(9.0)));
        assert_eq!(value("-sqrt(tp - fp) * .5"), Some(-1.0));
        assert_eq!((value("1 / (TP - 6)"), value("sqrt(0 - 1)")), (None, None));
        assert_eq!(Formula::parse("TPR").unwrap().value(&Confusion::default()), None);
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let error = |text: &str| Formula::parse(text).err().unwrap().to_string();
        assert_eq!(
            error("TP + XY"),
            "'TP + XY': 'XY' is not known; use TP, FP, TN, FN, N or a rate such as TPR at character 8"
        );
        assert!(error("(TP").contains("a closing bracket is missing"));
        assert!(error("TP TN").contains("'T' is not expected here at character 4"));
        assert!(error("").contains("something is missing"));
        assert!(error("1..2").contains("not a number") && error("TP % 2").contains("'%' is not expected here"));
        assert!(error(&"(".repeat(10_000)).contains("too deep") && error(&"-".repeat(10_000)).contains("too deep"));
        assert!(error("\u{e9}").contains("is not known"));
    }
}
