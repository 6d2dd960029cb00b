//! The description of a zoo entry.

use std::collections::BTreeMap;

use crate::{InputSpec, Module};

/// Type, default and range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    Int {
        default: u64,
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// `true` or `false`.
    Bool { default: bool },
    /// A custom operator's kernel by name, or with its source ([`NamedKernel`](ns_kernel::NamedKernel)).
    Kernel { default: &'static str },
    /// An operator by its name ([`operator`](super::operator::operator)).
    Operator { default: &'static str },
    /// Shapes of operands; by default the operator's own.
    Shapes,
}

impl ParamKind {
    /// The default as [`Settings`] store it; 0 for a text.
    pub fn default_value(self) -> u64 {
        match self {
            Self::Int { default, .. } => default,
            Self::Bool { default } => u64::from(default),
            Self::Kernel { .. } | Self::Operator { .. } | Self::Shapes => 0,
        }
    }

    /// The default of a text parameter; `None` for a number.
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
    /// A description in one line.
    pub help: &'static str,
    /// Type, default and range.
    pub kind: ParamKind,
}

/// Values of a model's parameters by name; booleans are 0 or 1. A name that was never set reads as 0, or as no text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub(super) numbers: BTreeMap<&'static str, u64>,
    pub(super) texts: BTreeMap<&'static str, String>,
    /// Whether a call is one of training; a decoder then reads whole sequences.
    pub(super) in_training: bool,
}

impl Settings {
    pub fn int(&self, name: &str) -> u64 {
        self.numbers.get(name).copied().unwrap_or(0)
    }

    /// A text: a kernel.
    pub fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.int(name) != 0
    }
}

/// One model of the zoo.
#[derive(Debug)]
pub struct ModelInfo {
    /// Name in a specification: `matmult`.
    pub id: &'static str,
    /// Its description and source in one line.
    pub description: &'static str,
    /// The batch size used by its source.
    pub default_batch_size: u64,
    /// One request at batch size 1, in words.
    pub batch_help: &'static str,
    /// Parameters, in the order in which specifications print them.
    pub parameters: &'static [ParamInfo],
    pub build: fn(&Settings) -> Box<dyn Module>,
    /// Example inputs for a batch size.
    pub inputs: fn(&Settings, u64) -> Vec<InputSpec>,
}

/// What a form says about a model. It has no function in it: a program with a form but without the zoo stays small.
#[derive(Clone, Copy, Debug)]
pub struct ModelForm {
    pub id: &'static str,
    /// A description in one line.
    pub description: &'static str,
    /// The meaning of one request of batch size 1.
    pub batch_help: &'static str,
    pub parameters: &'static [ParamInfo],
}

impl ModelInfo {
    /// What a form says about the model.
    pub(super) const fn form(&self) -> ModelForm {
        ModelForm {
            id: self.id,
            description: self.description,
            batch_help: self.batch_help,
            parameters: self.parameters,
        }
    }
}
