//! Names of the properties of VHLO's operations. They are the attributes of StableHLO's operations and are all stored, in the order of
//! their names: an absent one is an attribute that says so.

/// Names of an operation's properties, by its name without the version, and its version. `None` for an operation whose properties
/// are not read.
pub(super) fn names(operation: &str, version: u32) -> &'static [&'static str] {
    match (operation, version) {
        ("constant", _) => &["value"],
        ("iota" | "dynamic_iota", _) => &["iota_dimension"],
        ("batch_norm_grad" | "batch_norm_inference" | "batch_norm_training", _) => &["epsilon", "feature_index"],
        ("broadcast", _) => &["broadcast_sizes"],
        ("broadcast_in_dim" | "dynamic_broadcast_in_dim", _) => &["broadcast_dimensions"],
        ("call", _) => &["callee"],
        ("compare", _) => &["compare_type", "comparison_direction"],
        ("composite", _) => &["composite_attributes", "decomposition", "name"],
        ("concatenate" | "get_dimension_size" | "set_dimension_size", _) => &["dimension"],
        ("convolution" | "dynamic_conv", 1) | ("convolution", _) => CONVOLUTION,
        ("dynamic_conv", _) => DYNAMIC_CONVOLUTION,
        ("custom_call", _) => &["api_version", "backend_config", "call_target_name", "called_computations"],
        ("dot_general", 1) => DOT,
        ("dot_general", _) => DOT_WITH_ALGORITHM,
        ("dynamic_slice", _) => &["slice_sizes"],
        ("fft", _) => &["fft_length", "fft_type"],
        ("func", _) => &["arg_attrs", "function_type", "res_attrs", "sym_name"],
        ("gather", 1) => &[
            "collapsed_slice_dims",
            "index_vector_dim",
            "indices_are_sorted",
            "offset_dims",
            "slice_sizes",
            "start_index_map",
        ],
        ("dynamic_gather", 1) => {
            &["collapsed_slice_dims", "index_vector_dim", "indices_are_sorted", "offset_dims", "start_index_map"]
        }
        ("gather", _) => GATHER,
        ("dynamic_gather", _) => DYNAMIC_GATHER,
        ("get_tuple_element", _) => &["index"],
        ("map" | "reduce" | "reverse", _) => &["dimensions"],
        ("pad", _) => &["edge_padding_high", "edge_padding_low", "interior_padding"],
        ("reduce_precision", _) => &["exponent_bits", "mantissa_bits"],
        ("reduce_window", _) => {
            &["base_dilations", "padding", "window_dilations", "window_dimensions", "window_strides"]
        }
        ("rng", _) => &["rng_distribution"],
        ("rng_bit_generator", _) => &["rng_algorithm"],
        ("scatter", 1) => &[
            "index_vector_dim",
            "indices_are_sorted",
            "inserted_window_dims",
            "scatter_dims_to_operand_dims",
            "unique_indices",
            "update_window_dims",
        ],
        ("scatter", _) => SCATTER,
        ("select_and_scatter", _) => &["padding", "window_dimensions", "window_strides"],
        ("slice", _) => &["limit_indices", "start_indices", "strides"],
        ("sort", _) => &["dimension", "is_stable"],
        ("transpose", _) => &["permutation"],
        _ => &[],
    }
}

const CONVOLUTION: &[&str] = &[
    "batch_group_count",
    "feature_group_count",
    "input_batch_dimension",
    "input_feature_dimension",
    "input_spatial_dimensions",
    "kernel_input_feature_dimension",
    "kernel_output_feature_dimension",
    "kernel_spatial_dimensions",
    "lhs_dilation",
    "output_batch_dimension",
    "output_feature_dimension",
    "output_spatial_dimensions",
    "padding",
    "precision_config",
    "rhs_dilation",
    "window_reversal",
    "window_strides",
];

/// The padding is an operand.
const DYNAMIC_CONVOLUTION: &[&str] = &[
    "batch_group_count",
    "feature_group_count",
    "input_batch_dimension",
    "input_feature_dimension",
    "input_spatial_dimensions",
    "kernel_input_feature_dimension",
    "kernel_output_feature_dimension",
    "kernel_spatial_dimensions",
    "lhs_dilation",
    "output_batch_dimension",
    "output_feature_dimension",
    "output_spatial_dimensions",
    "precision_config",
    "rhs_dilation",
    "window_reversal",
    "window_strides",
];

const DOT: &[&str] = &[
    "lhs_batching_dimensions",
    "lhs_contracting_dimensions",
    "precision_config",
    "rhs_batching_dimensions",
    "rhs_contracting_dimensions",
];

const DOT_WITH_ALGORITHM: &[&str] = &[
    "accumulation_type",
    "allow_imprecise_accumulation",
    "lhs_batching_dimensions",
    "lhs_component_count",
    "lhs_contracting_dimensions",
    "lhs_precision_type",
    "num_primitive_operations",
    "precision_config",
    "rhs_batching_dimensions",
    "rhs_component_count",
    "rhs_contracting_dimensions",
    "rhs_precision_type",
];

const GATHER: &[&str] = &[
    "collapsed_slice_dims",
    "index_vector_dim",
    "indices_are_sorted",
    "offset_dims",
    "operand_batching_dims",
    "slice_sizes",
    "start_index_map",
    "start_indices_batching_dims",
];

/// The sizes of the slices are an operand.
const DYNAMIC_GATHER: &[&str] = &[
    "collapsed_slice_dims",
    "index_vector_dim",
    "indices_are_sorted",
    "offset_dims",
    "operand_batching_dims",
    "start_index_map",
    "start_indices_batching_dims",
];

const SCATTER: &[&str] = &[
    "index_vector_dim",
    "indices_are_sorted",
    "input_batching_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "scatter_indices_batching_dims",
    "unique_indices",
    "update_window_dims",
];

/// Splits `add_v1` into `add` and 1.
pub(super) fn name_and_version(name: &str) -> (&str, u32) {
    name.rsplit_once("_v").and_then(|(name, v)| Some((name, v.parse().ok()?))).unwrap_or((name, 1))
}

#[cfg(test)]
mod tests {
    use super::{name_and_version, names};

    #[test]
    fn properties_are_in_the_order_of_their_names() {
        let operations = [
            "batch_norm_inference",
            "compare",
            "composite",
            "convolution",
            "custom_call",
            "dot_general",
            "dynamic_conv",
            "dynamic_gather",
            "fft",
            "func",
            "gather",
            "pad",
            "reduce_precision",
            "reduce_window",
            "scatter",
            "select_and_scatter",
            "slice",
            "sort",
        ];
        for (operation, version) in operations.iter().flat_map(|o| [(o, 1), (o, 2)]) {
            let found = names(operation, version);
            assert!(found.len() > 1 && found.is_sorted(), "{operation} {version}: {found:?}");
        }
        assert_eq!(name_and_version("dot_general_v2"), ("dot_general", 2));
    }
}
