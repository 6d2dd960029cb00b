//! Reads a module with the sizes that were asked for and, if its operations contradict each other with them, finds sizes that work: for
//! sizes that nobody asked for, to use them; for others, to name them.

use std::collections::BTreeMap;

use super::convert::{Converter, MOST_CONVERSIONS};
use super::error::StableHloError;
use super::open_sizes::OpenSizes;
use super::syntax::Module;
use crate::program::{Program, prune, verify};
use crate::{ImportError, ImportErrorKind, ImportOptions};

/// Sizes that are tried, smallest first.
const TRIED: [u64; 21] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 32, 64, 128, 256, 512];

/// Most functions that are converted for one trial.
const MOST_TRIED: u32 = MOST_CONVERSIONS / 10;

/// The program of a module, and its sizes.
pub(super) fn program_of(
    module: &Module<'_>,
    source: &str,
    options: &ImportOptions,
) -> Result<(Program, OpenSizes), ImportError> {
    let error = match with_sizes(module, source, &options.dims, 1, MOST_CONVERSIONS) {
        Ok(found) => return Ok(found),
        Err(error) if module.is_open && is_about_sizes(&error) => error,
        Err(error) => return Err(error),
    };
    let main = Converter::new(module, source, 0).main()?;
    let Ok(sizes) = OpenSizes::of(module, main, &options.dims, TRIED[TRIED.len() - 1]) else { return Err(error) };
    if sizes.dimensions.iter().any(|d| !d.is_chosen) {
        let found =
            TRIED[1..].iter().find_map(|&size| with_sizes(module, source, &options.dims, size, MOST_TRIED).ok());
        return found.ok_or(error);
    }
    if matches!(*error.kind, ImportErrorKind::StableHlo(StableHloError::NoSize { .. } | StableHloError::Refused(_))) {
        return Err(error);
    }
    for dimension in &sizes.dimensions {
        let is_working = |size: u64| {
            let mut dims = options.dims.clone();
            dims.insert(dimension.name.clone(), size);
            with_sizes(module, source, &dims, 1, MOST_TRIED).is_ok()
        };
        let mut works: Vec<u64> = TRIED.into_iter().filter(|&size| is_working(size)).take(2).collect();
        // A model for multiples of 12 works with one of the numbers that are tried, and is not written for this one.
        if let [one] = works[..] {
            works.extend([2 * one, 3 * one].into_iter().find(|&size| is_working(size)));
        }
        if !works.is_empty() {
            let what = format!("{}{}", error.place, error.kind);
            let (name, asked) = (dimension.name.clone(), dimension.used);
            return Err(ImportError::of_file(StableHloError::Contradicts { name, asked, works, what }));
        }
    }
    Err(error)
}

/// The program with the sizes that were requested, and `other` for all others.
fn with_sizes(
    module: &Module<'_>,
    source: &str,
    requested: &BTreeMap<String, u64>,
    other: u64,
    most_conversions: u32,
) -> Result<(Program, OpenSizes), ImportError> {
    let converter = Converter::new(module, source, most_conversions);
    let main = converter.main()?;
    let sizes = OpenSizes::of(module, main, requested, other).map_err(ImportError::of_file)?;
    let program = prune(converter.program(main, &sizes)?);
    verify(&program)?;
    Ok((program, sizes))
}

/// Whether other sizes may avoid an error.
fn is_about_sizes(error: &ImportError) -> bool {
    use StableHloError as E;
    match &*error.kind {
        ImportErrorKind::Program(_) => true,
        ImportErrorKind::StableHlo(error) => {
            matches!(error, E::OpenSize(_) | E::OpenResult { .. } | E::NoSize { .. } | E::Refused(_))
        }
        _ => false,
    }
}
