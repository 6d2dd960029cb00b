//! The table of operators: the families of each domain, and the look-up by name.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::onnx::messages::OnnxNode;
use crate::onnx::site::{Failure, Results, Site};
use ns_base::refuse;
use ns_program::OperatorKind;

use super::{activation, back, elementwise, generate, index, layout, list, microsoft, normalise, pad, pool, product};
use super::{quantise, recurrent, reduce, regions, resize, rotary, spectral};

/// Gives the results of a node.
type Translate = fn(&mut Site<'_, '_>) -> Results;

/// A name, the kind of work, and the function that gives the results of a node.
pub(super) type Operator = (&'static str, OperatorKind, Translate);

/// The families of each domain. Where two have a name, the first applies.
const DOMAINS: [(&str, &[&[Operator]]); 2] = [
    (
        "",
        &[
            elementwise::OPS,
            activation::OPS,
            layout::OPS,
            generate::OPS,
            index::OPS,
            reduce::OPS,
            product::OPS,
            normalise::OPS,
            pool::OPS,
            recurrent::OPS,
            quantise::OPS,
            list::OPS,
            spectral::OPS,
            regions::OPS,
            back::OPS,
            pad::OPS,
            resize::OPS,
            rotary::OPS,
        ],
    ),
    ("com.microsoft", &[microsoft::OPS, quantise::OPS, activation::OPS]),
];

/// Each operator behind its domain.
fn rows() -> impl Iterator<Item = (&'static str, &'static Operator)> {
    let of_domain = |(domain, families): &(&'static str, &'static [&'static [Operator]])| {
        let domain = *domain;
        families.iter().copied().flatten().map(move |row| (domain, row))
    };
    DOMAINS.iter().flat_map(of_domain)
}

/// Names of all operators, and their kinds of work.
pub(crate) fn operators() -> impl Iterator<Item = (&'static str, OperatorKind)> {
    static NAMES: LazyLock<Vec<(String, OperatorKind)>> =
        LazyLock::new(|| rows().map(|(domain, (name, kind, _))| (in_domain(domain, name), *kind)).collect());
    NAMES.iter().map(|(name, kind)| (name.as_str(), *kind))
}

fn in_domain(domain: &str, name: &str) -> String {
    if domain.is_empty() { name.to_owned() } else { format!("{domain}.{name}") }
}

/// The name of a node's operator, with its domain if it is not ONNX's own.
pub(in crate::onnx) fn full_name(node: &OnnxNode) -> String {
    in_domain(&node.domain, &node.op)
}

static BY_NAME: LazyLock<FxHashMap<(&str, &str), Translate>> = LazyLock::new(|| {
    let mut by_name = FxHashMap::default();
    for (domain, (name, _, translate)) in rows() {
        by_name.entry((domain, *name)).or_insert(*translate);
    }
    by_name
});

/// The results of a node.
pub(in crate::onnx) fn run(site: &mut Site<'_, '_>) -> Results {
    let (domain, name) = (site.node.domain.as_str(), site.node.op.as_str());
    if domain == "com.microsoft.nchwc" {
        return Err(Failure::of(refuse!(
            instead = "save the model with graph_optimization_level ORT_ENABLE_EXTENDED or lower",
            "{name} works on the blocked layout that onnxruntime uses on one kind of processor"
        )));
    }
    if domain.is_empty() && is_of_text(name) {
        let instead = "export the model without its preparation of text";
        return Err(Failure::of(refuse!(instead = instead, "{name} works with text, which no NeuronCore has")));
    }
    BY_NAME.get(&(domain, name)).map_or(Err(Failure::Unknown), |translate| translate(site))
}

/// Whether an operator reads or writes text.
fn is_of_text(name: &str) -> bool {
    name.starts_with("String") || name.starts_with("Regex") || name == "TfIdfVectorizer"
}
