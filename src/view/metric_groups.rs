//! The group of a summary metric, derived from its name.

/// Groups in the order of a table.
pub const GROUPS: [&str; 8] =
    ["Time", "Arithmetic", "Memory", "DMA", "Tensor engine", "Vector engine", "Scalar engine", "GpSimd engine"];

/// The group of a metric of the summary: `hbm_read_bytes` is in `Memory`.
pub fn group_of(metric: &str) -> &'static str {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|p| metric.starts_with(p));
    match () {
        () if starts(&["tensor_engine", "matmul_instruction"]) => "Tensor engine",
        () if starts(&["vector_engine"]) => "Vector engine",
        () if starts(&["scalar_engine", "activate_"]) => "Scalar engine",
        () if starts(&["gpsimd_"]) => "GpSimd engine",
        () if starts(&["dma_"]) => "DMA",
        () if starts(&["hbm_", "spill_", "mbu_", "sbuf_", "psum_"]) || metric.contains("_queue_bytes") => "Memory",
        () if starts(&["total_", "ns_per_layer"]) => "Time",
        () => "Arithmetic",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_is_one_of_the_list() {
        for (metric, group) in [
            ("total_time", "Time"),
            ("ns_per_layer", "Time"),
            ("mfu_estimated_percent", "Arithmetic"),
            ("peak_flops_bandwidth_ratio", "Arithmetic"),
            ("weight_queue_bytes", "Memory"),
            ("mbu_estimated_percent", "Memory"),
            ("dma_transfer_average_bytes", "DMA"),
            ("activate_instruction_count", "Scalar engine"),
            ("matmul_instruction_count", "Tensor engine"),
            ("gpsimd_engine_active_time", "GpSimd engine"),
        ] {
            assert_eq!(group_of(metric), group, "{metric}");
            assert!(GROUPS.contains(&group));
        }
    }
}
