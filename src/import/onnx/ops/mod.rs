//! Operators of ONNX by name, each with the rules of the version it is called in.

mod activation;
mod back;
mod elementwise;
mod generate;
mod grouped;
mod index;
mod layout;
mod list;
mod microsoft;
mod nbits;
mod normalise;
mod pad;
mod pool;
mod product;
mod quantise;
mod recurrent;
mod reduce;
mod regions;
mod resize;
mod rotary;
mod spectral;
mod window;

use super::messages::Node;
use super::site::{Failure, Results, Site};
use crate::OperatorKind;
use ns_base::refuse;

/// The name of a node's operator, with its domain if it is not ONNX's own.
pub(super) fn full_name(node: &Node) -> String {
    if node.domain.is_empty() { node.op.clone() } else { format!("{}.{}", node.domain, node.op) }
}

/// The results of an operator; `None` if it is unknown.
pub(super) fn run(site: &mut Site<'_, '_>) -> Option<Results> {
    let node = site.node;
    match (node.domain.as_str(), node.op.as_str()) {
        ("", name) => standard(site, name),
        ("com.microsoft", name) => microsoft::run(site, name),
        ("com.microsoft.nchwc", name) => Some(Err(blocked(name))),
        _ => None,
    }
}

/// The failure of an operator on a data layout of onnxruntime.
fn blocked(name: &str) -> Failure {
    Failure::of(refuse!(
        instead = "save the model with graph_optimization_level ORT_ENABLE_EXTENDED or lower",
        "{name} works on the blocked layout that onnxruntime uses on one kind of processor"
    ))
}

/// An operator of ONNX itself.
fn standard(site: &mut Site<'_, '_>, name: &str) -> Option<Results> {
    if is_of_text(name) {
        let instead = "export the model without its preparation of text";
        return Some(Err(Failure::of(refuse!(instead = instead, "{name} works with text, which no NeuronCore has"))));
    }
    FAMILIES.iter().find_map(|(_, family)| family(site, name))
}

type Family = fn(&mut Site<'_, '_>, &str) -> Option<Results>;

/// Families of operators, each with the kind of work of its operators.
const FAMILIES: [(OperatorKind, Family); 17] = [
    (OperatorKind::Elementwise, elementwise::run),
    (OperatorKind::Function, activation::run),
    (OperatorKind::Movement, layout::run),
    (OperatorKind::Creation, generate::run),
    (OperatorKind::Indexing, index::run),
    (OperatorKind::Reduction, reduce::run),
    (OperatorKind::Product, product::run),
    (OperatorKind::Norm, normalise::run),
    (OperatorKind::Window, pool::run),
    (OperatorKind::Recurrence, recurrent::run),
    (OperatorKind::Quantisation, quantise::run),
    (OperatorKind::Control, list::run),
    (OperatorKind::Product, spectral::run),
    (OperatorKind::Product, |site, name| (name == "RoiAlign").then(|| regions::roi_align(site))),
    (OperatorKind::Window, back::run),
    (OperatorKind::Creation, back::numbers),
    (OperatorKind::Movement, |site, name| match name {
        "Pad" => Some(pad::pad(site)),
        "Resize" | "Upsample" => Some(resize::resize(site)),
        "RotaryEmbedding" => Some(rotary::rotary(site, rotary::STANDARD)),
        _ => None,
    }),
];

/// The kind of work of an operator in a domain; `None` if it is unknown. The operator is tried without operands.
#[cfg(test)]
pub(crate) fn kind_of_operator(domain: &str, name: &str) -> Option<OperatorKind> {
    let (model, options) = (super::messages::Model::default(), crate::ImportOptions::default());
    let mut importer = super::importer::Importer::new(&model, &options);
    let node = Node { domain: domain.to_owned(), op: name.to_owned(), ..Node::default() };
    let mut site = Site { importer: &mut importer, node: &node, inputs: Vec::new(), opset: super::NEWEST_OPSET };
    if domain == "com.microsoft" {
        let shared = [(OperatorKind::Quantisation, quantise::run as Family), (OperatorKind::Function, activation::run)];
        let found = shared.iter().find(|(_, family)| family(&mut site, name).is_some()).map(|(kind, _)| *kind);
        // onnxruntime's own operators are products with additions.
        return microsoft::run(&mut site, name).map(|_| found.unwrap_or(OperatorKind::Product));
    }
    FAMILIES.iter().find(|(_, family)| family(&mut site, name).is_some()).map(|(kind, _)| *kind)
}

/// Whether an operator reads or writes text.
fn is_of_text(name: &str) -> bool {
    name.starts_with("String") || name.starts_with("Regex") || name == "TfIdfVectorizer"
}
