//! Metrics of a person's own: a formula over the counts and rates of a two-class classification.

use super::Confusion;
use super::metric::{METRICS, Metric};

/// Deeper formulas are nobody's.
const MOST_DEPTH: u32 = 64;

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
pub struct Formula(Term);

#[derive(Clone)]
enum Term {
    Number(f64),
    Count(fn(&Confusion) -> u64),
    Rate(fn(&Confusion) -> Option<f64>),
    Root(Box<Term>),
    Negative(Box<Term>),
    Of(Box<Term>, char, Box<Term>),
}

impl Formula {
    /// Reads a formula: numbers, TP, FP, TN, FN, N, rates by their names or short ones, `+ - * /`, brackets and `sqrt`.
    ///
    /// # Errors
    /// What can not be read, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0, depth: 0 };
        let term = reader.sum()?;
        match reader.peek() {
            None => Ok(Self(term)),
            Some(c) => Err(reader.wrong(&format!("'{c}' is too much"))),
        }
    }

    /// Its value; `None` where it divides by zero or has no real value.
    #[must_use]
    pub fn value(&self, counts: &Confusion) -> Option<f64> {
        self.0.value(counts).filter(|v| v.is_finite())
    }
}

impl Term {
    fn value(&self, counts: &Confusion) -> Option<f64> {
        Some(match self {
            Self::Number(n) => *n,
            Self::Count(of) => of(counts) as f64,
            Self::Rate(of) => of(counts)?,
            Self::Root(inner) => libm::sqrt(inner.value(counts)?),
            Self::Negative(inner) => -inner.value(counts)?,
            Self::Of(a, operator, b) => {
                let (a, b) = (a.value(counts)?, b.value(counts)?);
                match operator {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    _ => a / b,
                }
            }
        })
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        let skipped = rest.len() - rest.trim_start().len();
        self.at += skipped;
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn wrong(&self, problem: &str) -> String {
        format!(
            "'{}': {problem} at character {}",
            self.text,
            self.text.get(..self.at).map_or(0, |t| t.chars().count()) + 1
        )
    }

    fn sum(&mut self) -> Result<Term, String> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(self.wrong("the formula is too deep"));
        }
        let mut term = self.product()?;
        while let Some(operator) = self.peek().filter(|c| matches!(c, '+' | '-')) {
            self.at += 1;
            term = Term::Of(Box::new(term), operator, Box::new(self.product()?));
        }
        self.depth -= 1;
        Ok(term)
    }

    fn product(&mut self) -> Result<Term, String> {
        let mut term = self.factor()?;
        while let Some(operator) = self.peek().filter(|c| matches!(c, '*' | '/')) {
            self.at += 1;
            term = Term::Of(Box::new(term), operator, Box::new(self.factor()?));
        }
        Ok(term)
    }

    fn factor(&mut self) -> Result<Term, String> {
        match self.peek() {
            Some('-') => {
                self.at += 1;
                self.depth += 1;
                if self.depth > MOST_DEPTH {
                    return Err(self.wrong("the formula is too deep"));
                }
                let inner = self.factor()?;
                self.depth -= 1;
                Ok(Term::Negative(Box::new(inner)))
            }
            Some('(') => self.bracket(),
            Some(c) if c.is_ascii_digit() || c == '.' => {
                let text = self.word(|c| c.is_ascii_digit() || c == '.');
                text.parse().map(Term::Number).map_err(|_| self.wrong(&format!("'{text}' is no number")))
            }
            Some(c) if c.is_ascii_alphabetic() => {
                let name = self.word(|c| c.is_ascii_alphanumeric());
                if name.eq_ignore_ascii_case("sqrt") {
                    return Ok(Term::Root(Box::new(self.bracket()?)));
                }
                named(&name).ok_or_else(|| {
                    self.wrong(&format!("'{name}' is not known; use TP, FP, TN, FN, N or a rate such as TPR"))
                })
            }
            Some(c) => Err(self.wrong(&format!("'{c}' is not known"))),
            None => Err(self.wrong("something is missing")),
        }
    }

    fn bracket(&mut self) -> Result<Term, String> {
        if !self.take('(') {
            return Err(self.wrong("a bracket is missing"));
        }
        let inner = self.sum()?;
        if self.take(')') { Ok(inner) } else { Err(self.wrong("a closing bracket is missing")) }
    }

    fn word(&mut self, belongs: fn(char) -> bool) -> String {
        let word: String = self.rest().chars().take_while(|c| belongs(*c)).collect();
        self.at += word.len();
        word
    }
}

fn named(name: &str) -> Option<Term> {
    let count: Option<fn(&Confusion) -> u64> = match name.to_ascii_uppercase().as_str() {
        "TP" => Some(|c| c.tp),
        "FP" => Some(|c| c.fp),
        "TN" => Some(|c| c.tn),
        "FN" => Some(|c| c.fn_),
        "N" => Some(|c| c.tp + c.fp + c.tn + c.fn_),
        _ => None,
    };
    if let Some(count) = count {
        return Some(Term::Count(count));
    }
    let long = SHORT.iter().find(|(short, _)| short.eq_ignore_ascii_case(name)).map_or(name, |(_, long)| long);
    METRICS.iter().find_map(|m| match m.metric {
        Metric::Rate(of)
            if m.name.eq_ignore_ascii_case(long) || m.aliases.iter().any(|a| a.eq_ignore_ascii_case(long)) =>
        {
            Some(Term::Rate(of))
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
        assert_eq!(value("1 - 2 - 3"), Some(-4.0));
        assert_eq!(value("-sqrt(tp - fp) * .5"), Some(-1.0));
        assert_eq!((value("1 / (TP - 6)"), value("sqrt(0 - 1)")), (None, None));
        assert_eq!(Formula::parse("TPR").unwrap().value(&Confusion::default()), None);
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let error = |text: &str| Formula::parse(text).err().unwrap();
        assert_eq!(
            error("TP + XY"),
            "'TP + XY': 'XY' is not known; use TP, FP, TN, FN, N or a rate such as TPR at character 8"
        );
        assert!(error("(TP").contains("a closing bracket is missing"));
        assert!(error("TP TN").contains("'T' is too much at character 4"));
        assert!(error("").contains("something is missing"));
        assert!(error("1..2").contains("no number") && error("TP % 2").contains("'%' is too much"));
        assert!(error(&"(".repeat(10_000)).contains("too deep") && error(&"-".repeat(10_000)).contains("too deep"));
        assert!(error("\u{e9}").contains("is not known"));
    }
}
