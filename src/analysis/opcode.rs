//! The operation that a name is an instance of: `%dot.7` and `dot.12` are `dot`. And the short form of a name.
//!
//! Compilers number their instructions, and names of C++ kernels include template arguments and parameters, so one
//! operation has hundreds of names. Shares of the time are computed by operation, so names are reduced to it first.

use std::borrow::Cow;

use crate::signature::{Signature, argument_text};

/// Most template arguments in a short name. Chosen: tile sizes and the functor come first.
const MOST_ARGUMENTS: usize = 3;

/// The operation of a name: without the `%` of HLO; of a C++ kernel only the function, without its namespace; of another
/// C++ function its path, without template arguments and parameters; without numbers at the end after `.`, `_` or `#`, and
/// without `.kd` and `.clone`. A name that would become empty stays whole.
#[must_use]
pub fn opcode(name: &str) -> Cow<'_, str> {
    match Signature::of(name) {
        None => Cow::Borrowed(bare(name)),
        Some(signature) => match signature.operation() {
            Cow::Borrowed(function) => Cow::Borrowed(bare(function)),
            Cow::Owned(function) => Cow::Owned(bare(&function).to_owned()),
        },
    }
}

/// A name as it is shown where room is scarce: of a C++ kernel the function and those template arguments that tell its
/// instances apart, `vectorized_elementwise_kernel‹4, gelu›`. Any other name is returned as it is.
#[must_use]
pub fn short_name(name: &str) -> Cow<'_, str> {
    let Some(signature) = Signature::of(name).filter(|s| s.has_type) else { return Cow::Borrowed(name) };
    let function = signature.operation();
    let arguments: Vec<String> =
        signature.arguments.into_iter().filter_map(argument_text).take(MOST_ARGUMENTS).collect();
    if arguments.is_empty() {
        return function;
    }
    Cow::Owned(format!("{function}\u{2039}{}\u{203a}", arguments.join(", ")))
}

fn bare(name: &str) -> &str {
    let bare = without_suffixes(name.strip_prefix('%').unwrap_or(name).trim_end());
    if bare.is_empty() { name } else { bare }
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
    use super::{opcode, short_name};

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
            ("void cudnn::detail::dgrad_engine<float, 512, 6>(int, int)", "dgrad_engine"),
            ("void at::native::(anonymous namespace)::multi_tensor<4>(int)", "multi_tensor"),
            (
                "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float>(cublasGemv<(int)3>)",
                "gemvx::kernel",
            ),
            ("std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector::push_back"),
            ("alloc::vec::Vec<T,A>::push", "alloc::vec::Vec::push"),
            ("at::native::add_kernel(at::TensorIteratorBase&)", "at::native::add_kernel"),
            ("foo::Task::operator()(int)", "foo::Task::operator()"),
            (
                "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
                "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
            ),
            ("Receive mojo::Page message (12 bytes)", "Receive mojo::Page message (12 bytes)"),
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

    #[test]
    fn short_names_keep_what_tells_instances_apart() {
        for (name, short) in [
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, \
                 at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() \
                 const::{lambda(float)#1}, at::detail::Array<char*, 2> >(int, at::native::GeluCUDAKernelImpl(...))",
                "vectorized_elementwise_kernel\u{2039}4, gelu\u{203a}",
            ),
            (
                "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int, float const*, int)",
                "dgrad_engine\u{2039}512, 6, 5\u{203a}",
            ),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, \
                 at::native::binary_internal::MulFunctor<float> >, at::detail::Array<char*, 3> >(int)",
                "vectorized_elementwise_kernel\u{2039}4, mul\u{203a}",
            ),
            (
                "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, \
                 at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, \
                 float)#1}>, unsigned int, float, 4> >(int)",
                "reduce_kernel\u{2039}512, 1, sum\u{203a}",
            ),
            (
                "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_nt_align4>(P)",
                "cutlass::Kernel\u{2039}cutlass_80_tensorop_s1688gemm_128x64_nt_align4\u{203a}",
            ),
            ("void fft<(int)8, (bool)1, float2>(float2*)", "fft\u{2039}8\u{203a}"),
            ("void softmax_warp_forward<float, float>(float*)", "softmax_warp_forward"),
            ("aten::mm", "aten::mm"),
            ("std::vector<int>::push_back(int const&)", "std::vector<int>::push_back(int const&)"),
            ("void unbalanced<a::b(", "void unbalanced<a::b("),
        ] {
            assert_eq!(short_name(name), short, "of {name}");
        }
    }
}
