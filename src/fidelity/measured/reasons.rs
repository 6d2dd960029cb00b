//! Why a cost stays although a measurement is more than a tenth away from it.

/// A reason for rows whose text begins so and whose metric is this (any, where it is empty).
struct Reason {
    what: &'static str,
    metric: &'static str,
    text: &'static str,
}

const fn reason(what: &'static str, metric: &'static str, text: &'static str) -> Reason {
    Reason { what, metric, text }
}

/// The first that fits a row is its reason.
const REASONS: &[Reason] = &[
    reason(
        "MATMUL",
        "interval_median",
        "64 products in a row, 12 us; the array of Inf2 and Trn1 sustains 7/8 of this rate for longer (80.3 TFLOPS, below)",
    ),
    reason(
        "LDWEIGHTS",
        "",
        "products hide it; with 83 ns a product and its load would not fit into the 140 ns of the profiling tutorial",
    ),
    reason("ACTIVATE", "", "the profiling tutorial's tanh takes 159 ns in all, which the cost follows"),
    reason(
        "ScalarE fp32 instr fit",
        "",
        "3.3 elements a cycle of the published clock; profiles of ACTIVATE (above) give one, as the guide does",
    ),
    reason(
        "VectorE fp32",
        "",
        "2.3 times the rate that the cost table gives for fp32; no source has it in an instruction's own profile",
    ),
    reason(
        "DMA element",
        "",
        "one engine alone; sixteen together reach 17 B/ns each (272 GB/s) and each takes 43 ns more for a descriptor (below)",
    ),
    reason(
        "dependent HBM load",
        "",
        "its address comes from the load before, through a descriptor made by software; loads of compiled models have fixed addresses",
    ),
    reason("DMA read 128 part x 256 B, data", "", "a single copy; the cost follows the kernels of the two rows above"),
    reason("DMA write 128 B", "", "writes are posted; the model writes no rows this short"),
    reason("DMA copy", "", "device memory is read and written; the model copies nothing within it"),
    reason(
        "stride-2 store",
        "",
        "packets of single elements that the compiler fixes, 11 ns each; the model emits none",
    ),
    reason(
        "vector_add 25600 fp32, one row",
        "",
        "with the descriptor engine's shortest rows; 575 to 914 ns in other profiles of Trn2",
    ),
    reason(
        "GEMM",
        "",
        "from a rate of a whole kernel; five loads of the profiling tutorial give 500 ns, from which its windows follow",
    ),
    reason("memory_write 4 GiB", "", "an older release; the same test sustains 274.8 GB/s in a later one (above)"),
    reason("d2h 64 MiB", "", "no output of the published models is this large"),
    reason("d2h", "", "fitted: one rate for both directions of a call, between the two that were measured"),
    reason("h2d 1 GiB", "", "no input of the published models is this large"),
    reason("h2d", "", "fitted: one rate for both directions of a call, between the two that were measured"),
];

/// The reason for a row, if one is known.
pub(super) fn reason_of(what: &str, metric: &str) -> Option<&'static str> {
    let fits = |r: &&Reason| what.starts_with(r.what) && (r.metric.is_empty() || r.metric == metric);
    REASONS.iter().find(fits).map(|r| r.text)
}
