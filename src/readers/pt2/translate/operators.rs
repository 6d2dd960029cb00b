//! The aten operators: the tables of all families.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::call::{Call, CallOutcome, OpResult, Row, Translate};
use super::{
    algebra, arrange, attention, binary, create, diagonal, encoder, grouped, index, linear_systems, loss, margin, norm,
    order, pool, product, quantise, random, recurrent, reduce, scatter, shape, special, spectral, unary,
};
use ns_program::OperatorKind;

const FAMILIES: [&[Row]; 25] = [
    shape::OPS,
    arrange::OPS,
    unary::OPS,
    binary::OPS,
    product::OPS,
    grouped::OPS,
    norm::OPS,
    attention::OPS,
    encoder::OPS,
    reduce::OPS,
    pool::OPS,
    index::OPS,
    create::OPS,
    recurrent::OPS,
    loss::OPS,
    diagonal::OPS,
    algebra::OPS,
    linear_systems::OPS,
    margin::OPS,
    order::OPS,
    special::OPS,
    spectral::OPS,
    scatter::OPS,
    quantise::OPS,
    random::OPS,
];

fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.into_iter().flatten()
}

/// All aten operators that are known, each with its kind of work.
pub fn operators() -> impl Iterator<Item = (&'static str, OperatorKind)> {
    rows().flat_map(|(names, kind, _)| names.iter().map(|name| (*name, *kind)))
}

static BY_NAME: LazyLock<FxHashMap<&str, Translate>> =
    LazyLock::new(|| rows().flat_map(|(names, _, translate)| names.iter().map(|name| (*name, *translate))).collect());

/// The result of an aten operation. Fails when its arguments do not fit.
pub fn known(call: &mut Call<'_, '_, '_>) -> CallOutcome {
    match BY_NAME.get(call.op) {
        Some(translate) => translate(call),
        None => Ok(OpResult::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::operators;

    #[test]
    fn an_operator_has_one_row() {
        let mut seen = FxHashSet::default();
        let twice: Vec<&str> = operators().map(|(name, _)| name).filter(|name| !seen.insert(*name)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
