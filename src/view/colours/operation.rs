//! The operation that a name indicates: `%dot.7`, `aten__addmm_dot` and `volta_sgemm_128x64_nn` multiply matrices.

use std::borrow::Cow;

use ns_analysis::opcode::opcode;
use ns_profile::levels::wrappers;

/// Operations by the beginnings of names, in lower case.
const BEGINNINGS: [(&str, &str); 7] = [
    ("dma", "DMA"),
    ("memcpy", "copy"),
    ("memset", "copy"),
    ("nccl", "collective"),
    ("rccl", "collective"),
    // Matrix products of AMD's Tensile.
    ("cijk_", "dot"),
    ("fused", "fusion"),
];

/// Operations by a part of the name, in lower case; the first that matches. Convolutions come first: their kernels are also named for the
/// products and activations that they contain.
const PARTS: [(&str, &str); 39] = [
    ("dgrad", "dgrad"),
    ("bwd_data", "dgrad"),
    ("igemm_bwd", "dgrad"),
    ("wgrad", "wgrad"),
    ("bwd_weight", "wgrad"),
    ("wrw", "wgrad"),
    ("fprop", "convolution"),
    ("convol", "convolution"),
    ("sp3asm", "convolution"),
    ("igemm_fwd", "convolution"),
    ("implicit_gemm", "convolution"),
    ("winograd", "convolution"),
    ("scudnn", "convolution"),
    ("hcudnn", "convolution"),
    ("im2col", "convolution"),
    ("im2d2col", "convolution"),
    ("fft2d_", "convolution"),
    ("gemv", "dot"),
    ("allreduce", "collective"),
    ("all_reduce", "collective"),
    ("all-reduce", "collective"),
    ("allgather", "collective"),
    ("all_gather", "collective"),
    ("all-gather", "collective"),
    ("reduce_scatter", "collective"),
    ("reduce-scatter", "collective"),
    ("attention", "attention"),
    ("attn", "attention"),
    ("softmax", "softmax"),
    ("layer_norm", "normalisation"),
    ("layernorm", "normalisation"),
    ("rmsnorm", "normalisation"),
    ("batch_norm", "normalisation"),
    ("gemm", "dot"),
    ("matmul", "dot"),
    ("addmm", "dot"),
    ("gelu", "gelu"),
    ("relu", "relu"),
    ("fusion", "fusion"),
];

/// Operations by whole names, in lower case.
const WHOLE: [(&str, &str); 10] = [
    ("mm", "dot"),
    ("bmm", "dot"),
    ("linear", "dot"),
    ("ldweights", "dot"),
    ("feed-forward", "dot"),
    ("head", "dot"),
    ("mul", "multiply"),
    ("sub", "subtract"),
    ("div", "divide"),
    ("input", "parameter"),
];

/// The operation of a name; `None` for names that only surround operations (modules, steps, rows that say that a unit was busy)
/// or that stand for idle time.
pub fn operation_of(name: &str) -> Option<Cow<'_, str>> {
    if is_around_operations(name) {
        return None;
    }
    // `aten__layer_norm_add` is the name of the `add` in a layer norm, and `%dot.7 = f32[8]{0} dot(%a, %b)` the whole text of a `dot`.
    let in_aten = || name.strip_prefix("aten__")?.rsplit_once('_').map(|(_, instruction)| instruction);
    let operation = match in_hlo(name).or_else(in_aten) {
        Some(instruction) if !instruction.is_empty() => opcode(instruction),
        _ => {
            let operation = opcode(name);
            let start = if operation.starts_with("aten::") { 6 } else { 0 };
            part(operation, |text| text[start..].trim_matches('_'))
        }
    };
    if operation.is_empty() {
        return Some(Cow::Borrowed(name));
    }
    let small = operation.to_ascii_lowercase();
    let known = WHOLE.iter().find(|(whole, _)| small == *whole);
    let known = known.or_else(|| BEGINNINGS.iter().find(|(beginning, _)| small.starts_with(beginning)));
    let known = known.or_else(|| PARTS.iter().find(|(part, _)| small.contains(part)));
    match known {
        Some((_, kind)) => Some(Cow::Borrowed(kind)),
        None if small.contains("conv") && !small.contains("convert") => Some(Cow::Borrowed("convolution")),
        None => Some(operation),
    }
}

/// The operation in the text of an HLO instruction: between its shape, if it has one, and its operands.
fn in_hlo(name: &str) -> Option<&str> {
    let (_, value) = name.strip_prefix('%')?.split_once(" = ")?;
    let word = |(at, _)| value[..at].rsplit(' ').next().unwrap_or_default();
    // A shape has brackets, also around those of a tuple.
    let is_operation = |o: &&str| !o.is_empty() && o.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    value.match_indices('(').map(word).find(is_operation)
}

/// A part of a text, which stays borrowed if the text is.
fn part<'a>(text: Cow<'a, str>, part: impl for<'t> Fn(&'t str) -> &'t str) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(part(text)),
        Cow::Owned(text) => Cow::Owned(part(&text).to_owned()),
    }
}

fn is_around_operations(name: &str) -> bool {
    // `BertModel[model]`, and `nn.Module: Linear_0` of the PyTorch profiler.
    let is_module = name.starts_with("nn.Module: ") || (name.ends_with(']') && !name.contains([' ', '(', '<']));
    let is_row = name.ends_with(" Busy") || name.eq_ignore_ascii_case("idle") || name == "(nothing ran)";
    // Of a token, and of operators that no module called.
    let number = |c: char| c.is_ascii_digit() || "._".contains(c);
    let is_whole = matches!(name.trim_end_matches(number), "layer" | "SyncTensorsGraph" | "Tensor");
    name.is_empty() || is_module || is_row || is_whole || wrappers::by_name(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::operation_of;

    #[test]
    fn names_of_one_operation_are_alike() {
        for (name, kind) in [
            ("%dot.7", Some("dot")),
            ("aten__addmm_dot", Some("dot")),
            ("aten::addmm", Some("dot")),
            ("aten::mm", Some("dot")),
            ("MATMUL", Some("dot")),
            ("volta_sgemm_128x64_nn", Some("dot")),
            ("Cijk_Alik_Bljk_B_BS", Some("dot")),
            ("aten__layer_norm_add", Some("add")),
            ("aten::add_", Some("add")),
            ("add.12", Some("add")),
            ("DMA_DIRECT2D", Some("DMA")),
            ("Memcpy HtoD (Pageable -> Device)", Some("copy")),
            ("fused_19", Some("fusion")),
            ("loop_reduce_fusion_3", Some("fusion")),
            ("aten::convolution", Some("convolution")),
            ("%dot.7 = dot(%p4, %transpose.3)", Some("dot")),
            ("%fusion.2 = (f32[8]{0}, f32[8]{0:T(256)}) fusion(%p.1, %convolution.2)", Some("fusion")),
            ("%reduce-window.1 = f32[2,3]{1,0} reduce-window(%p), window={size=2}", Some("reduce-window")),
            ("void implicit_convolve_sgemm<float, float, 128>(int, float const*)", Some("convolution")),
            ("cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1", Some("convolution")),
            ("sm80_xmma_dgrad_implicit_gemm_indexed_tf32f32", Some("dgrad")),
            ("sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32", Some("wgrad")),
            ("miopenSp3AsmConv_v30_3_1_gfx9_fp32_f3x2_stride1", Some("convolution")),
            ("igemm_wrw_gtcx2_nhwc_fp32", Some("wgrad")),
            (
                "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float>(cublasGemv<(int)3>)",
                Some("dot"),
            ),
            ("LDWEIGHTS", Some("dot")),
            ("layer", None),
            ("SyncTensorsGraph.18", None),
            ("Tensor_1", None),
            ("convert.3", Some("convert")),
            ("RunTask", Some("RunTask")),
            ("__", Some("__")),
            ("BertModel[model]", None),
            ("nn.Module: Linear_0", None),
            ("Compute Busy", None),
            ("ProfilerStep#8", None),
            ("", None),
        ] {
            assert_eq!(operation_of(name).as_deref(), kind, "of {name}");
        }
    }
}
