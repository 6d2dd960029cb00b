//! Compiler options that are swept: each listed cast with each listed type and optimisation level.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::config::list::comma_list;
use ns_compiler::{AutoCast, CastType, CompileOptions, OptLevel, UnknownOption};

/// Lists of compiler options. An empty list means the one value of [`CompileOptions`], where a list of one entry is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompileSweep {
    /// Which operations are cast.
    pub auto_casts: Vec<AutoCast>,
    pub auto_cast_types: Vec<CastType>,
    /// How hard the compiler tries.
    pub opt_levels: Vec<OptLevel>,
}

impl CompileSweep {
    /// Takes `--auto-cast` as typed: `matmult` or `none,matmult,all`. An error names the entry that does not exist, and the known
    /// ones.
    pub fn set_auto_casts(&mut self, base: &mut CompileOptions, text: &str) -> Result<(), UnknownOption> {
        put(text, &mut base.auto_cast, &mut self.auto_casts)
    }

    /// Takes `--auto-cast-type` as typed: `bf16` or `bf16,fp16`. Fails as [`Self::set_auto_casts`].
    pub fn set_auto_cast_types(&mut self, base: &mut CompileOptions, text: &str) -> Result<(), UnknownOption> {
        put(text, &mut base.auto_cast_type, &mut self.auto_cast_types)
    }

    /// Takes `-O` as typed: `2` or `1,2`. Fails as [`Self::set_auto_casts`].
    pub fn set_opt_levels(&mut self, base: &mut CompileOptions, text: &str) -> Result<(), UnknownOption> {
        put(text, &mut base.opt_level, &mut self.opt_levels)
    }

    /// How many compilations the lists make of each model, including those that give the same program.
    pub fn most(&self) -> u64 {
        let count = |n: usize| n.max(1) as u64;
        count(self.auto_casts.len()) * count(self.auto_cast_types.len()) * count(self.opt_levels.len())
    }

    /// Every combination once, casts outermost. Without a cast the type has no effect, so no cast makes only one combination.
    pub fn variants(&self, base: CompileOptions) -> Vec<CompileOptions> {
        let mut found: Vec<CompileOptions> = Vec::new();
        for auto_cast in or_base(&self.auto_casts, base.auto_cast) {
            for auto_cast_type in or_base(&self.auto_cast_types, base.auto_cast_type) {
                for opt_level in or_base(&self.opt_levels, base.opt_level) {
                    let options = CompileOptions { auto_cast, auto_cast_type, opt_level, ..base };
                    let flags = options.to_string();
                    if !found.iter().any(|f| f.to_string() == flags) {
                        found.push(options);
                    }
                }
            }
        }
        found
    }
}

/// The text of a list, or of the one value.
pub fn option_text<T: ToString>(list: &[T], base: T) -> String {
    if list.is_empty() { base.to_string() } else { comma_list(list) }
}

/// Flags of the compiler in a few words: `cast all bf16`, `cast none -O1`. `None` for the default ones.
pub(crate) fn short_flags(flags: &str) -> Option<String> {
    if flags == CompileOptions::default().to_string() {
        return None;
    }
    Some(
        flags
            .replace("--auto-cast-type ", "")
            .replace("--auto-cast ", "cast ")
            .replace(" -O2", "")
            .replace("--lnc", "lnc"),
    )
}

fn or_base<T: Copy>(list: &[T], base: T) -> Vec<T> {
    if list.is_empty() { vec![base] } else { list.to_vec() }
}

fn put<T>(text: &str, base: &mut T, list: &mut Vec<T>) -> Result<(), UnknownOption>
where
    T: Copy + PartialEq + FromStr<Err = UnknownOption>,
{
    let mut values: Vec<T> = Vec::new();
    for entry in text.split(',') {
        let value = entry.parse()?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    if let Some(first) = values.first() {
        *base = *first;
    }
    *list = if values.len() > 1 { values } else { Vec::new() };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_that_compile_the_same_come_once() {
        let (mut sweep, mut base) = (CompileSweep::default(), CompileOptions::default());
        sweep.set_auto_casts(&mut base, "none, matmult,all").unwrap();
        sweep.set_auto_cast_types(&mut base, "bf16,fp8_e4m3,bf16").unwrap();
        let flags: Vec<String> = sweep.variants(base).iter().map(ToString::to_string).collect();
        assert_eq!(
            flags,
            [
                "--auto-cast none -O2",
                "--auto-cast matmult --auto-cast-type bf16 -O2",
                "--auto-cast matmult --auto-cast-type fp8_e4m3 -O2",
                "--auto-cast all --auto-cast-type bf16 -O2",
                "--auto-cast all --auto-cast-type fp8_e4m3 -O2",
            ]
        );
        assert_eq!(option_text(&sweep.auto_casts, base.auto_cast), "none,matmult,all");
    }

    #[test]
    fn one_value_is_no_list_and_a_wrong_one_changes_nothing() {
        let (mut sweep, mut base) = (CompileSweep::default(), CompileOptions::default());
        sweep.set_opt_levels(&mut base, "1").unwrap();
        assert_eq!((sweep.opt_levels.len(), base.opt_level), (0, OptLevel::O1));
        let error = sweep.set_opt_levels(&mut base, "2,9").unwrap_err().to_string();
        assert!(error.contains("'9'") && error.contains("1, 2 or 3"), "{error}");
        assert!(sweep.set_auto_casts(&mut base, "").is_err());
        assert_eq!((sweep, base.opt_level), (CompileSweep::default(), OptLevel::O1));
    }
}
