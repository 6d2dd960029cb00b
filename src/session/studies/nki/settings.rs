//! Settings: every combination of the values of constants.

/// Most combinations of one run.
pub(super) const MOST_CASES: usize = 256;

/// One combination, each setting as `NAME=VALUE`.
pub(super) type Settings = Vec<String>;

/// The combinations of `NAME=VALUES; NAME=VALUES`.
///
/// # Errors
/// When a part is not `NAME=VALUES`, or there are too many.
pub(super) fn combinations(text: &str) -> Result<Vec<Settings>, String> {
    let mut all: Vec<Settings> = vec![Vec::new()];
    for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let found = part.split_once('=').map(|(name, values)| (name.trim(), values)).filter(|(name, _)| is_name(name));
        let (name, values) = found.ok_or("set: write NAME=VALUES, such as TILES_IN_BLOCK_M=1,2,4,8")?;
        let values: Vec<&str> = values.split(',').map(str::trim).filter(|value| !value.is_empty()).collect();
        if values.is_empty() {
            return Err(format!("set: {name} has no value; write {name}=1,2"));
        }
        let with = |settings: &Settings, value: &str| [settings.as_slice(), &[format!("{name}={value}")]].concat();
        all = all.iter().flat_map(|settings| values.iter().map(|value| with(settings, value))).collect();
        if all.len() > MOST_CASES {
            return Err(format!("set: {} combinations are too many; give at most {MOST_CASES}", all.len()));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_a_case() {
        assert_eq!(combinations(""), Ok(vec![Vec::new()]));
        let all = combinations("A=1,2; B = x").unwrap();
        assert_eq!(all, [["A=1", "B=x"], ["A=2", "B=x"]]);
        for wrong in ["A", "A=", "=1", "a b=1"] {
            assert!(combinations(wrong).unwrap_err().starts_with("set: "), "{wrong}");
        }
        let many = (0..300).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        assert!(combinations(&format!("A={many}")).unwrap_err().contains("at most 256"));
    }
}
