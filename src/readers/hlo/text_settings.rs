//! Settings of an instruction in HLO text: `dimensions={1,0}, to_apply=%add.3`.

use super::raw::Settings;
use super::text_types::{dim_labels, padding, window};
use crate::lexer::{Lexer, TokenKind, integers, unescaped};

/// A computation that an instruction calls, by name.
pub(super) struct Callee {
    pub name: String,
    /// Where it is named, as an offset in the text.
    pub at: usize,
}

/// Stores a setting; returns false if its value is not valid. Settings that do not affect the meaning are skipped.
pub(super) fn apply(
    settings: &mut Settings,
    opcode: &str,
    (key, value, at): (&str, &str, usize),
    callees: &mut Vec<Callee>,
) -> bool {
    let list = || integers(value);
    let one = || value.parse::<i64>().ok();
    let understood = match key {
        "dimensions" => set(&mut settings.dimensions, Some(list())),
        "iota_dimension" => set(&mut settings.dimensions, one().map(|d| vec![d])),
        "index" => set(&mut settings.tuple_index, one()),
        "window" => set(&mut settings.window, window(value)),
        "dim_labels" => set(&mut settings.convolution, dim_labels(value)),
        "feature_group_count" => set(&mut settings.feature_groups, one().map(Some)),
        "batch_group_count" => set(&mut settings.batch_groups, one().map(Some)),
        "slice" => set_slice(settings, value),
        "dynamic_slice_sizes" | "slice_sizes" => set(&mut settings.sizes, Some(list())),
        "padding" => set(&mut settings.padding, padding(value)),
        "epsilon" => set(&mut settings.epsilon, value.parse().ok()),
        "feature_index" => set(&mut settings.feature_index, one()),
        "custom_call_target" => set(&mut settings.target, Some(text(value))),
        "backend_config" => set(&mut settings.config, Some(text(value))),
        "direction" => set(&mut settings.direction, Some(value.to_owned())),
        "type" => set(&mut settings.is_total_order, Some(value == "TOTALORDER")),
        "is_stable" => set(&mut settings.is_stable, Some(value == "true")),
        "exponent_bits" => set(&mut settings.precision.0, one()),
        "mantissa_bits" => set(&mut settings.precision.1, one()),
        "fft_type" => set(&mut settings.fft_kind, Some(value.to_owned())),
        "fft_length" => set(&mut settings.fft_length, Some(list())),
        "distribution" => set(&mut settings.distribution, Some(value.to_owned())),
        "algorithm" if opcode == "rng-bit-generator" => set(&mut settings.algorithm, Some(value.to_owned())),
        "k" => set(&mut settings.k, one()),
        "largest" => set(&mut settings.is_smallest, Some(value == "false")),
        "to_apply"
        | "calls"
        | "condition"
        | "body"
        | "select"
        | "scatter"
        | "true_computation"
        | "false_computation"
        | "branch_computations"
        | "called_computations" => return call(key, value, at, callees),
        _ => return set_dimensions(settings, key, value),
    };
    understood.is_some()
}

fn set<T>(slot: &mut T, value: Option<T>) -> Option<()> {
    *slot = value?;
    Some(())
}

/// A text without its quotation marks, or as written.
fn text(value: &str) -> String {
    match value.strip_prefix('"').and_then(|v| v.strip_suffix('"')) {
        Some(inner) => unescaped(inner),
        None => value.to_owned(),
    }
}

/// Dimension numbers of products, gathers and scatters.
fn set_dimensions(settings: &mut Settings, key: &str, value: &str) -> bool {
    let unsigned = || integers(value).iter().map(|&d| u32::try_from(d).ok()).collect::<Option<Vec<u32>>>();
    let dot = &mut settings.dot;
    let index = &mut settings.index_dims;
    let understood = match key {
        "lhs_contracting_dims" => set(&mut dot.get_or_insert_default().lhs_contracting, unsigned()),
        "rhs_contracting_dims" => set(&mut dot.get_or_insert_default().rhs_contracting, unsigned()),
        "lhs_batch_dims" => set(&mut dot.get_or_insert_default().lhs_batch, unsigned()),
        "rhs_batch_dims" => set(&mut dot.get_or_insert_default().rhs_batch, unsigned()),
        "offset_dims" | "update_window_dims" => set(&mut index.window, Some(integers(value))),
        "collapsed_slice_dims" | "inserted_window_dims" => set(&mut index.dropped, Some(integers(value))),
        "start_index_map" | "scatter_dims_to_operand_dims" => set(&mut index.map, Some(integers(value))),
        "index_vector_dim" => set(&mut index.vector, value.parse().ok()),
        "operand_batching_dims" | "input_batching_dims" => set(&mut index.batch, Some(integers(value))),
        "start_indices_batching_dims" | "scatter_indices_batching_dims" => {
            set(&mut index.indices_batch, Some(integers(value)))
        }
        _ => Some(()),
    };
    understood.is_some()
}

/// `{[0:2], [1:16:2]}`.
fn set_slice(settings: &mut Settings, value: &str) -> Option<()> {
    for dim in value.trim_matches(['{', '}']).split_terminator(',') {
        let range = dim.trim().strip_prefix('[')?.strip_suffix(']')?;
        let numbers: Option<Vec<i64>> = range.split(':').map(|n| n.trim().parse().ok()).collect();
        let (start, limit, stride) = match numbers?[..] {
            [start, limit] => (start, limit, 1),
            [start, limit, stride] => (start, limit, stride),
            _ => return None,
        };
        settings.starts.push(start);
        settings.limits.push(limit);
        settings.strides.push(stride);
    }
    Some(())
}

/// Stores the computations that are called. A loop names its condition first; a window's select comes before its scatter.
fn call(key: &str, value: &str, at: usize, callees: &mut Vec<Callee>) -> bool {
    let mut lexer = Lexer::new(value);
    let mut found = Vec::new();
    loop {
        let token = lexer.next();
        match token.kind {
            TokenKind::End => break,
            TokenKind::Word | TokenKind::Name => found.push(Callee { name: token.bare_name().to_owned(), at }),
            TokenKind::Sign('{' | '}' | ',') => {}
            _ => return false,
        }
    }
    if matches!(key, "condition" | "select" | "true_computation") {
        found.append(callees);
        *callees = found;
    } else {
        callees.append(&mut found);
    }
    true
}
