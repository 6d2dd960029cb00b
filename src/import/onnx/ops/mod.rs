//! Operators of ONNX by name, each with the rules of the version it is called in.

mod activation;
mod elementwise;
mod generate;
mod index;
mod layout;
mod list;
mod microsoft;
mod normalise;
mod pad;
mod pool;
mod product;
mod quantise;
mod recurrent;
mod reduce;
mod resize;
mod window;

use super::messages::Node;
use super::site::{OpError, Results, Site};

/// The name of a node's operator with its domain, where it is not ONNX's own.
pub(super) fn full_name(node: &Node) -> String {
    if node.domain.is_empty() { node.op.clone() } else { format!("{}.{}", node.domain, node.op) }
}

/// What an operator gives; none when it is not known.
pub(super) fn run(site: &mut Site<'_, '_>) -> Option<Results> {
    let node = site.node;
    match (node.domain.as_str(), node.op.as_str()) {
        ("", name) => standard(site, name),
        ("com.microsoft", name) => microsoft::run(site, name),
        ("com.microsoft.nchwc", name) => Some(Err(OpError {
            what: format!("{name} works on the blocked layout that onnxruntime uses on one kind of processor"),
            instead: "save the model with graph_optimization_level ORT_ENABLE_EXTENDED or lower".to_owned(),
        })),
        _ => None,
    }
}

/// An operator of ONNX itself.
fn standard(site: &mut Site<'_, '_>, name: &str) -> Option<Results> {
    if is_of_text(name) {
        let what = format!("{name} works with text, which no NeuronCore has");
        return Some(Err(OpError { what, instead: "export the model without its preparation of text".to_owned() }));
    }
    elementwise::run(site, name)
        .or_else(|| activation::run(site, name))
        .or_else(|| layout::run(site, name))
        .or_else(|| generate::run(site, name))
        .or_else(|| index::run(site, name))
        .or_else(|| reduce::run(site, name))
        .or_else(|| product::run(site, name))
        .or_else(|| normalise::run(site, name))
        .or_else(|| pool::run(site, name))
        .or_else(|| recurrent::run(site, name))
        .or_else(|| quantise::run(site, name))
        .or_else(|| list::run(site, name))
        .or_else(|| match name {
            "Pad" => Some(pad::pad(site)),
            "Resize" | "Upsample" => Some(resize::resize(site)),
            _ => None,
        })
}

/// Whether an operator makes or takes text.
fn is_of_text(name: &str) -> bool {
    name.starts_with("String") || name.starts_with("Regex") || name == "TfIdfVectorizer"
}
