//! Whether a slice meets a condition.

use std::cmp::Ordering;

use super::source::{Row, Source};
use super::syntax::{Column, Comparator, Condition, Literal};
use super::value::{QueryValue, number};
use crate::Grouping;
use ns_profile::Profile;

/// A condition with its cached answers.
#[derive(Debug)]
pub(super) enum Test {
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
    /// A shared text: the answer for each group, once it is known.
    Label {
        grouping: Box<Grouping>,
        known: Vec<Option<bool>>,
        check: Check,
    },
    Value {
        source: Source,
        check: Check,
    },
}

#[derive(Debug)]
pub(super) struct Check {
    how: Comparator,
    any_of: Vec<Literal>,
}

impl Test {
    pub(super) fn of(profile: &Profile, condition: &Condition) -> Self {
        let all = |parts: &[Condition]| parts.iter().map(|c| Self::of(profile, c)).collect();
        let leaf = |column: &Column, check: Check| match column {
            Column::Label(by) => {
                let grouping = Box::new(Grouping::new(profile, *by));
                let known = vec![None; grouping.len(profile)];
                Self::Label { grouping, known, check }
            }
            other => Self::Value { source: Source::of(profile, other), check },
        };
        match condition {
            Condition::All(parts) => Self::All(all(parts)),
            Condition::Any(parts) => Self::Any(all(parts)),
            Condition::Not(inner) => Self::Not(Box::new(Self::of(profile, inner))),
            Condition::Compare(column, how, value) => leaf(column, Check { how: *how, any_of: vec![value.clone()] }),
            Condition::In(column, values) => leaf(column, Check { how: Comparator::Equal, any_of: values.clone() }),
        }
    }

    pub(super) fn is_true(&mut self, row: &Row<'_>) -> bool {
        match self {
            Self::All(parts) => parts.iter_mut().all(|p| p.is_true(row)),
            Self::Any(parts) => parts.iter_mut().any(|p| p.is_true(row)),
            Self::Not(inner) => !inner.is_true(row),
            Self::Label { grouping, known, check } => {
                let group = row.group(grouping);
                let text = || QueryValue::Text(grouping.label(row.profile, group).to_owned());
                match known.get_mut(group as usize) {
                    Some(answer) => *answer.get_or_insert_with(|| check.is_true(&text())),
                    None => check.is_true(&text()),
                }
            }
            Self::Value { source, check } => check.is_true(&source.value(row)),
        }
    }
}

impl Check {
    /// No comparison is true for a missing value, except `!=` and `!~`.
    fn is_true(&self, value: &QueryValue) -> bool {
        let negative = matches!(self.how, Comparator::NotEqual | Comparator::ContainsNot);
        let matches = |literal: &Literal| match (self.how, value, literal) {
            (Comparator::Contains | Comparator::ContainsNot, value, Literal::Text(part)) => match value {
                QueryValue::Text(text) => Some(text.to_lowercase().contains(&part.to_lowercase())),
                QueryValue::Int(n) => Some(n.to_string().contains(part)),
                QueryValue::Real(_) | QueryValue::Missing => None,
            },
            (Comparator::Like, QueryValue::Text(text), Literal::Text(pattern)) => Some(is_like(text, pattern)),
            (Comparator::Like, ..) => None,
            (how, QueryValue::Text(text), Literal::Text(other)) => Some(holds(how, text.as_str().cmp(other.as_str()))),
            (how, value, Literal::Number(n)) => Some(holds(how, number(value)?.partial_cmp(n)?)),
            (how, QueryValue::Int(n), Literal::Text(other)) => {
                Some(holds(how, n.to_string().as_str().cmp(other.as_str())))
            }
            _ => None,
        };
        if negative {
            self.any_of
                .iter()
                .all(|l| matches(l).is_none_or(|m| if self.how == Comparator::ContainsNot { !m } else { m }))
        } else {
            self.any_of.iter().any(|l| matches(l) == Some(true))
        }
    }
}

/// Whether a text is as a pattern of SQL.
fn is_like(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) =
        (text.to_lowercase().chars().collect(), pattern.to_lowercase().chars().collect());
    // Where the last `%` stands, and up to where the text has been given to it.
    let (mut at, mut next, mut any) = (0, 0, None);
    while at < text.len() {
        match pattern.get(next) {
            Some('%') => {
                any = Some((next, at));
                next += 1;
            }
            Some(c) if *c == '_' || *c == text[at] => (at, next) = (at + 1, next + 1),
            _ => match &mut any {
                Some((percent, from)) => {
                    *from += 1;
                    (at, next) = (*from, *percent + 1);
                }
                None => return false,
            },
        }
    }
    pattern[next..].iter().all(|c| *c == '%')
}

fn holds(how: Comparator, order: Ordering) -> bool {
    match how {
        Comparator::Equal | Comparator::Contains | Comparator::ContainsNot | Comparator::Like => {
            order == Ordering::Equal
        }
        Comparator::NotEqual => order != Ordering::Equal,
        Comparator::Less => order == Ordering::Less,
        Comparator::AtMost => order != Ordering::Greater,
        Comparator::Greater => order == Ordering::Greater,
        Comparator::AtLeast => order != Ordering::Less,
    }
}

#[cfg(test)]
mod tests {
    use super::is_like;

    #[test]
    fn a_pattern_has_any_letters_and_single_ones() {
        for (pattern, is) in [
            ("aten%", true),
            ("%addmm%", true),
            ("%ADDMM", true),
            ("aten__addm_", true),
            ("addmm", false),
            ("%x%", false),
        ] {
            assert_eq!(is_like("aten__addmm", pattern), is, "{pattern}");
        }
        assert!(is_like("", "%") && !is_like("", "_") && is_like("aab", "%ab") && is_like("\u{c4}h", "\u{e4}_"));
    }
}
