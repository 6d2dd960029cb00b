//! Lists of counts as people type them: `1,2,4`, `1-10`, `1-4,8,16`; and as Python writes them: `[1, 2]`, `range(1, 10)`.

use ns_base::{Refusal, refuse, without_underscores};
use std::borrow::Cow;

/// The most entries one list may have once its ranges are spelled out.
pub const MAX_LIST_ENTRIES: usize = 4_096;

/// Stands in a list of copies for as many as fit on the instance; written `max`.
pub const AS_MANY_AS_FIT: u32 = u32::MAX;

const MAX: &str = "max";

/// Reads a list of copies: as [`parse_list`], in which `max` stands for as many as fit. Fails as [`parse_list`].
pub fn parse_copies(field: &str, text: &str) -> Result<Vec<u32>, Refusal> {
    parse_entries(field, text, |entry| entry.eq_ignore_ascii_case(MAX).then_some(AS_MANY_AS_FIT))
}

/// A list of copies as [`parse_copies`] reads it.
pub fn copies_text(copies: &[u32]) -> String {
    let one = |n: &u32| if *n == AS_MANY_AS_FIT { MAX.to_owned() } else { n.to_string() };
    copies.iter().map(one).collect::<Vec<_>>().join(",")
}

/// A list in Python's notation as people type it: `[1, 2]`, `(1, 2)`, `['a', 'b']`, `range(1, 10)`, `list(range(1, 10))`. A Python range
/// ends before its last number; it is returned as the closed range `1-9`, or spelled out when it has a step. Other texts stay as they are.
pub fn plain_list(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let inside = |open: &str, close: char| text.strip_prefix(open).and_then(|t| t.strip_suffix(close)).map(str::trim);
    if let Some(inner) = inside("list(", ')') {
        return plain_list(inner);
    }
    if let Some(range) = inside("range(", ')').and_then(python_range) {
        return Cow::Owned(range);
    }
    let Some(listed) = inside("[", ']').or_else(|| inside("(", ')')) else { return Cow::Borrowed(text) };
    // Python allows a comma after the last entry.
    let entries = listed.strip_suffix(',').unwrap_or(listed).split(',').map(unquoted);
    Cow::Owned(entries.collect::<Vec<_>>().join(","))
}

/// An entry without spaces around it and without its quotes.
fn unquoted(entry: &str) -> &str {
    let entry = entry.trim();
    let inside = |quote: char| entry.strip_prefix(quote).and_then(|entry| entry.strip_suffix(quote));
    inside('\'').or_else(|| inside('"')).unwrap_or(entry)
}

/// `1, 10` as `1-9`; `1, 10, 3` as `1,4,7`. `None` for a range that Python would refuse or that is empty.
fn python_range(arguments: &str) -> Option<String> {
    let numbers: Option<Vec<u32>> = arguments.split(',').map(|n| without_underscores(n.trim()).parse().ok()).collect();
    let (first, end, step) = match numbers?[..] {
        [end] => (0, end, 1),
        [first, end] => (first, end, 1),
        [first, end, step] if step > 0 => (first, end, step),
        _ => return None,
    };
    if first >= end {
        return None;
    }
    if step == 1 {
        return Some(format!("{first}-{}", end - 1));
    }
    // One more than a list may have, so that a longer one is refused and not cut.
    let counts: Vec<u32> = (first..end).step_by(step as usize).take(MAX_LIST_ENTRIES + 1).collect();
    Some(comma_list(&counts))
}

/// Reads a list of counts: numbers and closed ranges separated by commas, spaces allowed around each; also a Python list in
/// its brackets. Order is kept; a repeated count is kept once, at its first place. An error names the field, the entry and what to
/// write instead. Zero is refused: every list in a benchmark counts something.
pub fn parse_list(field: &str, text: &str) -> Result<Vec<u32>, Refusal> {
    parse_entries(field, text, |_| None)
}

/// A list whose entries may also be words.
fn parse_entries(field: &str, text: &str, word: impl Fn(&str) -> Option<u32>) -> Result<Vec<u32>, Refusal> {
    let mut counts = Vec::new();
    for (i, entry) in plain_list(text).split(',').map(str::trim).enumerate() {
        if entry.is_empty() {
            return Err(refuse!(
                "{field}: entry {} of '{text}' is empty; write counts and ranges separated by commas, such as 1,2,4 or 1-10",
                i + 1
            ));
        }
        let (low, high) = match word(entry) {
            Some(count) => (count, count),
            None => parse_entry(field, entry)?,
        };
        for count in low..=high {
            // Checked before the range is spelled out, because 1-4294967295 must be refused.
            if counts.len() == MAX_LIST_ENTRIES {
                return Err(refuse!("{field}: the list has more than {MAX_LIST_ENTRIES} entries; shorten its ranges"));
            }
            if !counts.contains(&count) {
                counts.push(count);
            }
        }
    }
    Ok(counts)
}

/// A list as [`parse_list`] reads it, and as links and commands write it.
pub fn comma_list<T: ToString>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Reads performance levels: as [`parse_list`], with 0 allowed. An error names the field, the entry and what to write instead; a
/// level above 3 is refused by [`crate::BenchConfig::validate`].
pub fn parse_levels(field: &str, text: &str) -> Result<Vec<u8>, Refusal> {
    let mut levels = Vec::new();
    for entry in plain_list(text).split(',').map(str::trim) {
        let bad = || refuse!("{field}: '{entry}' is not a whole number from 0 (most accurate) to 3 (fastest)");
        let number = |text: &str| text.trim().parse::<u8>().map_err(|_| bad());
        let (low, high) = match entry.split_once('-') {
            Some((low, high)) => (number(low)?, number(high)?),
            None => (number(entry)?, number(entry)?),
        };
        if low > high {
            return Err(refuse!("{field}: the range {low}-{high} runs backwards; write {high}-{low}"));
        }
        for level in low..=high {
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
    }
    Ok(levels)
}

fn parse_entry(field: &str, entry: &str) -> Result<(u32, u32), Refusal> {
    // A leading dash is a negative number, not a range.
    let dash = entry.char_indices().skip(1).find(|(_, c)| *c == '-').map(|(at, _)| at);
    let Some(dash) = dash else {
        let count = parse_count(field, entry)?;
        return Ok((count, count));
    };
    let (low, high) = (parse_count(field, &entry[..dash])?, parse_count(field, &entry[dash + 1..])?);
    if low > high {
        return Err(refuse!("{field}: the range {low}-{high} runs backwards; write {high}-{low}"));
    }
    Ok((low, high))
}

fn parse_count(field: &str, text: &str) -> Result<u32, Refusal> {
    match without_underscores(text.trim()).parse::<u32>() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(refuse!(
            "{field}: '{entry}' is not a whole number from 1 to {max}; write counts and ranges separated by commas, such as 1,2,4 or 1-10",
            max = u32::MAX,
            entry = text.trim()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_ranges_and_mixes_keep_their_order() {
        assert_eq!(parse_list("n_models", "1,2,4"), Ok(vec![1, 2, 4]));
        assert_eq!(parse_list("n_models", "1-10").map(|l| l.len()), Ok(10));
        assert_eq!(parse_list("n_models", " 16 , 1 - 3,2"), Ok(vec![16, 1, 2, 3]));
    }

    #[test]
    fn copies_may_be_as_many_as_fit() {
        let copies = parse_copies("n_models", "1, max").unwrap();
        assert_eq!(copies, [1, AS_MANY_AS_FIT]);
        assert_eq!((copies_text(&copies), parse_copies("n_models", "[1, 2]")), ("1,max".to_owned(), Ok(vec![1, 2])));
        assert!(parse_list("batch_sizes", "max").is_err() && parse_copies("n_models", "maximum").is_err());
    }

    #[test]
    fn lists_of_python_mean_what_they_mean_there() {
        let list = |text| parse_list("n_models", text);
        assert_eq!(list("[1, 2, 4]"), Ok(vec![1, 2, 4]));
        assert_eq!((list("(16,)"), list(" [8] ")), (Ok(vec![16]), Ok(vec![8])));
        assert_eq!(list("list(range(1, 10))"), Ok((1..10).collect()));
        assert_eq!(list("range(1, 17, 5)"), Ok(vec![1, 6, 11, 16]));
        assert_eq!(parse_levels("performance_levels", "[0, 3]"), Ok(vec![0, 3]));
        assert_eq!(parse_levels("performance_levels", "range(4)"), Ok(vec![0, 1, 2, 3]));
        let message = |text| list(text).unwrap_err().to_string();
        assert!(message("[1, 2").contains("'[1' is not a whole number"), "{}", message("[1, 2"));
        assert!(message("[]").contains("entry 1 of '[]' is empty"), "{}", message("[]"));
        assert!(message("range(1, 4000000000, 2)").contains("more than 4096"));
        assert!(message("range(5, 5)").contains("not a whole number"));
    }

    #[test]
    fn levels_begin_at_zero() {
        assert_eq!(parse_levels("performance_levels", "0-2, 3,1"), Ok(vec![0, 1, 2, 3]));
        let message = |text| parse_levels("performance_levels", text).unwrap_err().to_string();
        assert!(message("fast").contains("'fast'") && message("").contains("''") && message("-1").contains("'-1'"));
        assert!(message("3-1").contains("write 1-3"));
    }

    #[test]
    fn wrong_entries_are_named() {
        let message = |text| parse_list("batch_sizes", text).unwrap_err().to_string();
        assert!(message("1,,2").contains("entry 2 of '1,,2' is empty"));
        assert!(message("").contains("entry 1"));
        assert!(message("0").contains("'0' is not a whole number from 1"));
        assert!(message("-3").contains("'-3'"));
        assert!(message("1,two").contains("'two'"));
        assert!(message("4294967296").contains("'4294967296'"));
        assert!(message("1.5").contains("'1.5'"));
        assert!(message("8-2").contains("write 2-8"));
        assert!(message("1-").contains("''"));
        assert!(message("1-4294967295").contains("more than 4096"));
    }
}
