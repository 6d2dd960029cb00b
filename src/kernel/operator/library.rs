//! Kernels that come with the program: the steps of the tutorial, written for its interface.

/// A kernel that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    pub name: &'static str,
    pub description: &'static str,
    /// Whether it runs on all processors.
    pub multicore: bool,
    pub source: &'static str,
}

/// Endings of names of sources.
const ENDINGS: [&str; 6] = [".cpp", ".cc", ".cxx", ".h", ".hpp", ".hh"];

/// Whether a name is that of a source in C++.
pub fn is_source_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ENDINGS.iter().any(|end| name.ends_with(end))
}

/// All kernels, in the order of the tutorial.
pub const BUILT_IN: [BuiltIn; 5] = [
    BuiltIn {
        name: "relu-element",
        description: "element by element with the standard accessor",
        multicore: false,
        source: include_str!("kernels/relu_element.cpp"),
    },
    BuiltIn {
        name: "relu-tcm",
        description: "blocks of 1,024 elements in local memory",
        multicore: false,
        source: include_str!("kernels/relu_tcm.cpp"),
    },
    BuiltIn {
        name: "relu-multicore",
        description: "blocks on all processors, divided as the tutorial does",
        multicore: true,
        source: include_str!("kernels/relu_multicore.cpp"),
    },
    BuiltIn {
        name: "relu-multicore-fixed",
        description: "the same, right for any number of elements",
        multicore: true,
        source: include_str!("kernels/relu_multicore_fixed.cpp"),
    },
    BuiltIn {
        name: "relu-any-type",
        description: "blocks in local memory, of tensors of any number type",
        multicore: false,
        source: include_str!("kernels/relu_any_type.cpp"),
    },
];

/// The kernel with this name.
pub fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|k| k.name == name)
}
