//! What a person typed into a form, checked: each message says what is wrong and what would be right.

use std::fmt::Display;
use std::str::FromStr;

/// Bounds of a number, both allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds<T> {
    /// Smallest.
    pub min: T,
    /// Largest.
    pub max: T,
}

/// A number within bounds.
///
/// # Errors
/// A sentence for the field, when the text is no such number.
pub fn number<T: FromStr + PartialOrd + Display>(text: &str, bounds: &Bounds<T>) -> Result<T, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("Enter a number from {} to {}.", bounds.min, bounds.max));
    }
    let Ok(value) = text.parse::<T>() else {
        return Err(format!("'{text}' is not a number this field takes; use {} to {}.", bounds.min, bounds.max));
    };
    // Written so that NaN is refused.
    if value >= bounds.min && value <= bounds.max {
        Ok(value)
    } else {
        Err(format!("{text} is out of range; use {} to {}.", bounds.min, bounds.max))
    }
}

/// Numbers separated by commas or spaces, each within bounds. An empty text is an empty list.
///
/// # Errors
/// A sentence for the field, naming the first entry that is wrong.
pub fn list<T: FromStr + PartialOrd + Display>(text: &str, bounds: &Bounds<T>) -> Result<Vec<T>, String> {
    let entries = text.split([',', ' ', ';']).map(str::trim).filter(|e| !e.is_empty());
    let values: Vec<T> = entries.map(|e| number(e, bounds)).collect::<Result<_, _>>()?;
    for (i, value) in values.iter().enumerate() {
        if values[..i].contains(value) {
            return Err(format!("{value} is there twice."));
        }
    }
    Ok(values)
}

/// Numbers as [`list`] reads them.
#[must_use]
pub fn print_list<T: Display>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    const B: Bounds<u32> = Bounds { min: 1, max: 64 };

    #[test]
    fn lists_are_read_as_people_write_them() {
        assert_eq!(list("1, 2 4", &B), Ok(vec![1, 2, 4]));
        assert_eq!(list(" ", &B), Ok(vec![]));
        assert_eq!(print_list(&[1, 2]), "1,2");
    }

    #[test]
    fn messages_name_the_entry_and_what_would_be_right() {
        assert_eq!(list("1,0", &B), Err("0 is out of range; use 1 to 64.".into()));
        assert_eq!(list("1,x", &B), Err("'x' is not a number this field takes; use 1 to 64.".into()));
        assert_eq!(list("2,2", &B), Err("2 is there twice.".into()));
        assert!(number::<f64>("NaN", &Bounds { min: 0.0, max: 1.0 }).is_err());
        assert!(number::<u32>("-1", &B).is_err() && number::<u32>("99999999999", &B).is_err());
    }
}
