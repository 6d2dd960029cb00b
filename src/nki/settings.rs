//! Settings: every combination of the values of constants.

use ns_base::{Refusal, refuse};

/// One combination, each setting as `NAME=VALUE`.
pub type Settings = Vec<String>;

/// Cases up to which each one's limits are removed: what bounds each of many settings is not asked.
pub const WITH_LIMITS: usize = 8;

/// The combinations of parts `NAME=VALUES`, at most this many.
///
/// # Errors
/// When a part is not `NAME=VALUES`, or there are too many.
pub fn combinations<'a>(parts: impl IntoIterator<Item = &'a str>, most: usize) -> Result<Vec<Settings>, Refusal> {
    let mut all: Vec<Settings> = vec![Vec::new()];
    let parts: Vec<String> = parts.into_iter().flat_map(of_dictionary).collect();
    for part in &parts {
        let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let pair = part.split_once('=').map(|(name, values)| (name.trim(), values)).filter(|(name, _)| is_name(name));
        let Some((name, values)) = pair else {
            return Err(
                refuse!("'{part}' is not a setting").advise("write NAME=VALUES, such as TILES_IN_BLOCK_M=1,2,4,8")
            );
        };
        let values: Vec<&str> = values_of(values).map(str::trim).filter(|value| !value.is_empty()).collect();
        if values.is_empty() {
            return Err(refuse!("{name} has no value").advise(format!("write {name}=1,2")));
        }
        if let Some(wrong) = values.iter().find(|value| is_several(value)) {
            let advice = format!("write --set {name}=1,2 for values, and --set again for another constant");
            return Err(refuse!("'{wrong}' is no single value of {name}").advise(advice));
        }
        let with = |settings: &Settings, value: &str| [settings.as_slice(), &[format!("{name}={value}")]].concat();
        all = all.iter().flat_map(|settings| values.iter().map(|value| with(settings, value))).collect();
        if all.len() > most {
            return Err(refuse!("{} combinations are too many", all.len()).advise(format!("give at most {most}")));
        }
    }
    Ok(all)
}

/// What looks like more than one value: numbers beside each other, or another setting.
fn is_several(value: &str) -> bool {
    let numbers = || value.split_whitespace().filter(|word| word.parse::<f64>().is_ok()).count();
    let names =
        || value.split_once('=').is_some_and(|(name, _)| name.trim().chars().all(|c| c.is_alphanumeric() || c == '_'));
    numbers() > 1 || names()
}

/// The parts of a dictionary of Python, `{'A': [1, 2], 'B': 3}`; any other text is one part.
fn of_dictionary(part: &str) -> Vec<String> {
    let Some(inside) = part.trim().strip_prefix('{').and_then(|part| part.strip_suffix('}')) else {
        return vec![part.to_owned()];
    };
    let entry = |entry: &str| {
        let (name, values) = entry.split_once(':')?;
        let values = values.trim();
        let listed = ['[', '('].into_iter().zip([']', ')']);
        let inner = listed.filter_map(|(open, close)| values.strip_prefix(open)?.strip_suffix(close)).next();
        Some(format!("{}={}", name.trim().trim_matches(['\'', '"']), inner.unwrap_or(values)))
    };
    values_of(inside)
        .filter(|text| !text.trim().is_empty())
        .map(|text| entry(text).unwrap_or(text.to_owned()))
        .collect()
}

/// The values of a part: a comma within brackets or quotes belongs to one.
fn values_of(text: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut quote) = (0u32, None);
    text.split(move |c: char| {
        match (c, quote) {
            (_, Some(open)) => quote = quote.filter(|_| c != open),
            ('"' | '\'', None) => quote = Some(c),
            ('(' | '[' | '{', None) => depth += 1,
            (')' | ']' | '}', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0 && quote.is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_a_case() {
        assert_eq!(combinations([], 9), Ok(vec![Vec::new()]));
        assert_eq!(combinations(["A=(1, 2),[3,4],'a,b'"], 9).unwrap(), [["A=(1, 2)"], ["A=[3,4]"], ["A='a,b'"]]);
        assert_eq!(combinations(["A=1,2", "B = x"], 9).unwrap(), [["A=1", "B=x"], ["A=2", "B=x"]]);
        for wrong in ["A", "A=", "=1", "a b=1"] {
            assert!(combinations([wrong], 9).is_err(), "{wrong}");
        }
        assert!(combinations(["A=1,2,3", "B=1,2,3,4"], 9).unwrap_err().to_string().contains("at most 9"));
    }
}
