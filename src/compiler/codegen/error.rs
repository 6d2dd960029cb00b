//! Why a module cannot be compiled for a core.

use thiserror::Error;

use ns_base::Refusal;
use ns_base::convert::u64_to_f64;
use ns_base::units::format_bytes;

/// A module that does not fit the core, or that uses something without code generation.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodegenError {
    /// More SBUF is needed at once than the core has.
    #[error(
        "{path} needs {} of SBUF at once, the core has {}: {} are missing. Use a smaller batch or a smaller model",
        format_bytes(u64_to_f64(*.needed)), format_bytes(u64_to_f64(*.available)), format_bytes(u64_to_f64(*.needed - *.available))
    )]
    SbufExceeded {
        path: String,
        /// Bytes it needs.
        needed: u64,
        /// Bytes the core has.
        available: u64,
    },
    /// Weights, inputs and outputs exceed device memory.
    #[error(
        "the model needs {} of device memory on one core, which has {}: {} are missing",
        format_bytes(u64_to_f64(*.needed)), format_bytes(u64_to_f64(*.available)), format_bytes(u64_to_f64(*.needed - *.available))
    )]
    DeviceMemoryExceeded {
        /// Bytes it needs.
        needed: u64,
        /// Bytes the core has.
        available: u64,
    },
    /// An array that is larger than device memory.
    #[error(
        "{path} has an array of {}, and one core has {} of device memory. Use a smaller batch or smaller sizes",
        format_bytes(u64_to_f64(*.needed)), format_bytes(u64_to_f64(*.available))
    )]
    ArrayExceedsDeviceMemory {
        path: String,
        /// Bytes of the array.
        needed: u64,
        /// Bytes the core has.
        available: u64,
    },
    /// An opcode or a form of it without a lowering to instructions.
    #[error("{path}: no code generation for {what}")]
    Unsupported { path: String, what: String },
    /// The kernel of a custom operator cannot be timed.
    #[error("{path}: {source}")]
    Kernel { path: String, source: Box<Refusal> },
    /// More instructions than a program may have.
    #[error("the program has more than {limit} instructions: use a smaller size or loop count")]
    TooLarge { limit: usize },
}

impl CodegenError {
    /// The path of the refused operation; `None` where the error is about the whole program.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::SbufExceeded { path, .. }
            | Self::ArrayExceedsDeviceMemory { path, .. }
            | Self::Unsupported { path, .. }
            | Self::Kernel { path, .. } => Some(path),
            Self::DeviceMemoryExceeded { .. } | Self::TooLarge { .. } => None,
        }
    }
}
