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

/// A frame of Python without the folders of its file.
fn python_frame(name: &str) -> Option<&str> {
    let line = name.find(".py(").filter(|at| name[*at..].contains("): "))?;
    name[..line].rfind(['/', '\\']).map(|at| &name[at + 1..])
}

/// The short form of a name in at most `most` characters. A longer frame of Python loses the folders of its file. Any other keeps its
/// beginning and its end, because the end tells instances of a kernel apart; of a matrix product of Tensile, in place of the end, the
/// size of its tiles: `Cijk_Alik_Bljk_BBS_B…MT32x64x128`.
pub fn name_in(name: &str, most: usize) -> String {
    let mut short = short_name(name);
    if let Some(frame) = python_frame(name).filter(|_| short.chars().count() > most) {
        short = Cow::Borrowed(frame);
    }
    let length = short.chars().count();
    if length <= most {
        return short.into_owned();
    }
    let is_tile = |at: &usize| short.as_bytes().get(at + 3).is_some_and(u8::is_ascii_digit);
    match short.find("_MT").filter(is_tile) {
        Some(at) => cut_to(&short, most, &short[at + 1..]),
        None => {
            let end = short.char_indices().nth(length - (most / 3).min(length)).map_or(short.len(), |(at, _)| at);
            cut_to(&short, most, &short[end..])
        }
    }
}

/// The short forms of several names, which differ wherever the names do: equal forms are replaced by such with the first part in which
/// the names differ.
pub fn names_in(names: &[&str], most: usize) -> Vec<String> {
    let short: Vec<String> = names.iter().map(|name| name_in(name, most)).collect();
    let apart = |(i, name): (usize, &&str)| {
        let others = names.iter().zip(&short).filter(|(other, form)| *other != name && **form == short[i]);
        let shared = |other: &str| name.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let Some(same) = others.map(|(other, _)| shared(other)).max() else { return short[i].clone() };
        let same = (0..=same.min(name.len())).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
        let part = name[..same].rfind('_').map_or(0, |at| at + 1);
        cut_to(name, most, &name[part..])
    };
    names.iter().enumerate().map(apart).collect()
}

/// The beginning of a text, an ellipsis, and the beginning of a later part that has up to half of the room. Little room has the
/// beginning of the text alone.
fn cut_to(text: &str, most: usize, part: &str) -> String {
    const LITTLE: usize = 20;
    let room = most.saturating_sub(1);
    let half = part.char_indices().nth(room / 2).map_or(part.len(), |(at, _)| at);
    // A part that is cut ends with a word.
    let end = if half < part.len() { part[..half].rfind('_').unwrap_or(half) } else { half };
    let part = if most < LITTLE { "" } else { &part[..end] };
    let before = room - part.chars().count().min(room);
    text.chars().take(before).chain(['\u{2026}']).chain(part.chars()).collect()
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
    use super::{name_in, names_in, opcode, short_name};

    #[test]
    fn a_cut_name_keeps_what_tells_it_apart() {
        let product =
            |tile: &str| format!("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT{tile}_MI16x16x1_SN_LDSB1_AFC0");
        assert_eq!(name_in(&product("32x64x128"), 32), "Cijk_Alik_Bljk_BBS_B\u{2026}MT32x64x128");
        assert_eq!(
            name_in("volta_scudnn_128x64_stridedB_interior_nn_v1", 32),
            "volta_scudnn_128x64_s\u{2026}rior_nn_v1"
        );
        assert_eq!(name_in("a/b/modeling_bert.py(573): forward", 32), "modeling_bert.py(573): forward");
        assert_eq!(name_in("a/b/modeling_bert.py(573): forward", 40), "a/b/modeling_bert.py(573): forward");
        assert_eq!(name_in("aten__addmm_dot", 12), "aten__addmm\u{2026}");
        assert_eq!(name_in("aten::mm", 12), "aten::mm");
        // Names that differ in another part than their tiles.
        let all = [format!("{}_WGM4", product("16x16x16")), format!("{}_WGM8", product("16x16x16")), "dot".to_owned()];
        let short = names_in(&all.each_ref().map(String::as_str), 32);
        assert_eq!(
            short,
            ["Cijk_Alik_Bljk_BBS_BH_Bias_\u{2026}WGM4", "Cijk_Alik_Bljk_BBS_BH_Bias_\u{2026}WGM8", "dot"]
        );
        assert!(short.iter().all(|name| name.chars().count() <= 32));
    }

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
