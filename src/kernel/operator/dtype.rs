//! Element types of the tensors that a kernel is given.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use ns_base::{Refusal, names, refuse};

use crate::{Diagnostic, Pos, Problem, Scalar};

names! {
    /// An element type in the interface of custom operators (API reference: float, bfloat16, half, int, char, short, byte).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum KernelDtype {
        /// `float`
        #[default]
        Float32 = "float32",
        /// `c10::BFloat16`, which is not supported here.
        Bfloat16 = "bfloat16",
        /// `c10::Half`, which is not supported here.
        Float16 = "float16",
        /// `int64_t`
        Int64 = "int64",
        /// `int`
        Int32 = "int32",
        /// `short`
        Int16 = "int16",
        /// `char`
        Int8 = "int8",
        /// `byte`
        Uint8 = "uint8",
    }

    pub const ALL: [Self; _];
    /// Its name in PyTorch.
    pub const fn name(self) -> &'static str;
}

impl KernelDtype {
    /// The type of an element in the kernel language. Fails for 16-bit floats, which the language does not have.
    pub fn scalar(self) -> Result<Scalar, Diagnostic> {
        Ok(match self {
            Self::Float32 => Scalar::F32,
            Self::Int64 => Scalar::I64,
            Self::Int32 => Scalar::I32,
            Self::Int16 => Scalar::I16,
            Self::Int8 => Scalar::I8,
            Self::Uint8 => Scalar::U8,
            Self::Bfloat16 | Self::Float16 => {
                let instead = "give it float32 or an integer type: the language here has no 16-bit floats";
                let problem = Problem::not_supported(&format!("a tensor of {self}"), instead);
                return Err(Diagnostic::new(Pos { line: 1, column: 1 }, problem));
            }
        })
    }
}

impl fmt::Display for KernelDtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for KernelDtype {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let name = match text {
            "float" | "fp32" => "float32",
            "bf16" => "bfloat16",
            "half" | "fp16" => "float16",
            "long" => "int64",
            "int" => "int32",
            "short" => "int16",
            "char" => "int8",
            "byte" => "uint8",
            other => other,
        };
        let found = Self::ALL.into_iter().find(|t| t.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            refuse!("'{text}' is not an element type of kernels; use {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_name_and_a_type_of_the_language_or_a_reason() {
        for dtype in KernelDtype::ALL {
            assert_eq!(dtype.name().parse(), Ok(dtype));
            assert_eq!(dtype.scalar().is_err(), dtype.name().contains("float16"), "{dtype}");
        }
        assert_eq!("half".parse(), Ok(KernelDtype::Float16));
        assert!("float64".parse::<KernelDtype>().unwrap_err().to_string().contains("float32, bfloat16"));
    }
}
