//! The operation that a name is an instance of: `%dot.7` and `dot.12` are `dot`.
//!
//! Compilers number their instructions, and names of C++ kernels include template arguments and parameters, so one
//! operation has hundreds of names. Shares of the time are computed by operation, so names are reduced to it first.

/// The operation of a name, which is a part of it: without the `%` of HLO; only the function of a C++ signature; without
/// numbers at the end after `.`, `_` or `#`, and without `.kd` and `.clone`. A name that would become empty stays whole.
#[must_use]
pub fn opcode(name: &str) -> &str {
    let function = if is_signature(name) { function_of(name) } else { name };
    let bare = function.strip_prefix('%').unwrap_or(function);
    let bare = without_suffixes(bare.trim_end());
    if bare.is_empty() { name } else { bare }
}

/// Whether a name is a C++ function with template arguments or parameters. Python's `file.py(12): f` is not one.
fn is_signature(name: &str) -> bool {
    (name.starts_with("void ") || name.contains("::")) && name.contains(['<', '('])
}

/// `void a::b<int>(float*)` is `a::b`.
fn function_of(name: &str) -> &str {
    const ANONYMOUS: &str = "(anonymous namespace)";
    let name = name.strip_prefix("void ").unwrap_or(name);
    let mut from = 0;
    while let Some(at) = name[from..].find(['<', '(']) {
        let at = from + at;
        if !name[at..].starts_with(ANONYMOUS) {
            return &name[..at];
        }
        from = at + ANONYMOUS.len();
    }
    name
}

fn without_suffixes(mut name: &str) -> &str {
    loop {
        let shorter = name.strip_suffix(".kd").or_else(|| name.strip_suffix(".clone")).unwrap_or(name);
        let digits = shorter.trim_end_matches(|c: char| c.is_ascii_digit());
        let shorter = match digits.strip_suffix(['.', '_', '#']) {
            Some(without) if digits.len() < shorter.len() && !without.is_empty() => without,
            _ => shorter,
        };
        if shorter.len() == name.len() {
            return name;
        }
        name = shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::opcode;

    #[test]
    fn instances_of_one_operation_have_one_name() {
        for (name, operation) in [
            ("%dot.7", "dot"),
            ("dot.12.clone.3", "dot"),
            ("fused_19", "fused"),
            ("loop_reduce_fusion_3.kd", "loop_reduce_fusion"),
            ("ProfilerStep#6", "ProfilerStep"),
            ("aten::mm", "aten::mm"),
            ("aten::_softmax", "aten::_softmax"),
            ("void cudnn::detail::dgrad_engine<float, 512, 6>(int, int)", "cudnn::detail::dgrad_engine"),
            (
                "void at::native::(anonymous namespace)::multi_tensor<4>(int)",
                "at::native::(anonymous namespace)::multi_tensor",
            ),
            (
                "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
                "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
            ),
            ("threading.py(1032): _bootstrap", "threading.py(1032): _bootstrap"),
            ("<built-in function next>", "<built-in function next>"),
            ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"),
            ("volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn"),
            ("12", "12"),
            ("_3", "_3"),
            ("", ""),
        ] {
            assert_eq!(opcode(name), operation, "of {name}");
        }
    }
}
