//! Reads a module with the sizes that the user gave. If its operations contradict each other with them, it tries others: it uses them where
//! the user gave none, and names them where he did.

use std::collections::BTreeMap;

use super::convert::{Converter, MOST_CONVERSIONS};
use super::failure::{Cause, MlirFailure};
use super::open_sizes::OpenSizes;
use super::syntax::Module;
use ns_base::refuse;
use ns_program::{ImportError, ImportOptions, Program, prune, verify};

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
    let MlirFailure { error, cause } = match with_sizes(module, source, &options.dims, 1, MOST_CONVERSIONS) {
        Ok(found) => return Ok(found),
        Err(failure) => failure,
    };
    if !module.is_open || cause == Cause::File {
        return Err(error);
    }
    let main = Converter::new(module, source, 0).main()?;
    let Ok(sizes) = OpenSizes::of(module, main, &options.dims, TRIED[TRIED.len() - 1]) else { return Err(error) };
    if sizes.dimensions.iter().any(|d| !d.is_chosen) {
        let found =
            TRIED[1..].iter().find_map(|&size| with_sizes(module, source, &options.dims, size, MOST_TRIED).ok());
        return found.ok_or(error);
    }
    if cause == Cause::Sizes {
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
            let what = format!("{}{}", error.place, error.refusal);
            return Err(refuse_size(&dimension.name, dimension.used, &works, &what));
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
) -> Result<(Program, OpenSizes), MlirFailure> {
    let converter = Converter::new(module, source, most_conversions);
    let main = converter.main()?;
    let sizes = OpenSizes::of(module, main, requested, other)?;
    let program = prune(converter.program(main, &sizes)?);
    verify(&program).map_err(|error| MlirFailure { error, cause: Cause::Contradiction })?;
    Ok((program, sizes))
}

/// The error for a size with which a model does not work, although it leaves the size open: it names numbers that work, and what does not fit.
fn refuse_size(name: &str, asked: u64, works: &[u64], what: &str) -> ImportError {
    let one = works.first().map_or(1, |n| *n);
    let instead = format!(
        "give --dim {name}={one}, or export the model again with this size taken from its input, as in x.shape[0]"
    );
    ImportError::from(match works {
        [one, other, ..] => refuse!(
            instead = instead,
            "the model does not work with {name}={asked}; it does with {name}={one} and {name}={other} ({what})"
        ),
        _ => refuse!(
            instead = instead,
            "the model works only with {name}={one}, not with {name}={asked}: its operations are written for a size of {one} ({what})"
        ),
    })
}
