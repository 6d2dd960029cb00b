//! What a zoo entry says about itself.

use std::collections::BTreeMap;

use crate::model::{InputSpec, Module};

/// Type, default and range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A whole number.
    Int {
        /// Value when it is not given.
        default: u64,
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// `true` or `false`.
    Bool {
        /// Value when it is not given.
        default: bool,
    },
    /// A custom operator's kernel by name, or with its source ([`NamedKernel`](crate::kernel::NamedKernel)).
    Kernel {
        /// Name when none is given.
        default: &'static str,
    },
    /// An operator by its name ([`operator`](super::operator::operator)).
    Operator {
        /// Name when none is given.
        default: &'static str,
    },
    /// Shapes of operands; those of the operator when none are given.
    Shapes,
}

impl ParamKind {
    /// The default as [`Settings`] keep it; that of a text is not a number.
    #[must_use]
    pub fn default_value(self) -> u64 {
        match self {
            Self::Int { default, .. } => default,
            Self::Bool { default } => u64::from(default),
            Self::Kernel { .. } | Self::Operator { .. } | Self::Shapes => 0,
        }
    }

    /// The default of a text; none of a number.
    #[must_use]
    pub const fn default_text(self) -> Option<&'static str> {
        match self {
            Self::Kernel { default } | Self::Operator { default } => Some(default),
            Self::Shapes => Some(""),
            Self::Int { .. } | Self::Bool { .. } => None,
        }
    }
}

/// A parameter of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Name in a specification: `loop_count`.
    pub name: &'static str,
    /// What it does, one line.
    pub help: &'static str,
    /// Type, default and range.
    pub kind: ParamKind,
}

/// Values of a model's parameters by name; booleans are 0 or 1. A name that was never set reads as 0, or as no text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub(super) numbers: BTreeMap<&'static str, u64>,
    pub(super) texts: BTreeMap<&'static str, String>,
}

impl Settings {
    /// A whole number.
    #[must_use]
    pub fn int(&self, name: &str) -> u64 {
        self.numbers.get(name).copied().unwrap_or(0)
    }

    /// A text: a kernel.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    /// A flag.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.int(name) != 0
    }
}

/// One model of the zoo.
#[derive(Debug)]
pub struct ModelInfo {
    /// Name in a specification: `matmult`.
    pub id: &'static str,
    /// What it is and where it comes from, one line.
    pub description: &'static str,
    /// The batch size its source uses.
    pub default_batch_size: u64,
    /// What one request of batch size 1 is.
    pub batch_help: &'static str,
    /// Parameters, in the order specifications print them.
    pub parameters: &'static [ParamInfo],
    /// Builds the module.
    pub build: fn(&Settings) -> Box<dyn Module>,
    /// Example inputs for a batch size.
    pub inputs: fn(&Settings, u64) -> Vec<InputSpec>,
}
