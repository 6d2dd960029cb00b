//! Options of the compiler, named as `neuronx-cc`'s flags are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use ns_base::{Refusal, names, refuse};
use ns_machine::arch::{Instance, features};
use ns_tensor::{FloatFormat, Rounding};

names! {
    /// Which single-precision operations are cast to a narrower format: `--auto-cast`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AutoCast {
        /// No cast: a product takes four passes through the array, and a weight has four bytes. The default of SDK 2.27
        /// and later.
        None = "none",
        /// Matrix products and convolutions only. The default through SDK 2.26, and of every published table.
        #[default]
        Matmult = "matmult",
        /// All operations. Inputs and outputs of the model are never cast.
        All = "all",
    }

    /// All, in the order of the documentation.
    pub const ALL: [Self; _];
    /// Its name in the flag.
    pub const fn name(self) -> &'static str;
}

names! {
    /// The format that values are cast to: `--auto-cast-type`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum CastType {
        /// bfloat16.
        #[default]
        Bf16 = "bf16",
        /// Half precision.
        Fp16 = "fp16",
        /// TensorFloat.
        Tf32 = "tf32",
        /// 8 bits, 4 of them exponent.
        Fp8E4m3 = "fp8_e4m3",
    }

    /// All, the default first.
    pub const ALL: [Self; _];
    /// Its name in the flag.
    pub const fn name(self) -> &'static str;
}

names! {
    /// How hard the compiler tries: `-O1`, `-O2`, `-O3`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    pub enum OptLevel {
        /// Each operation on its own: no fusion of elementwise work.
        O1 = "1",
        #[default]
        O2 = "2",
        /// The same passes as [`Self::O2`]: no public source says what it adds for these models.
        O3 = "3",
    }

    /// All levels, in order of the compiler's work.
    pub const ALL: [Self; _];
    /// Its name in the flag: `1`, `2`, `3`.
    pub const fn name(self) -> &'static str;
}

/// A flag value that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{flag}: '{text}' is not possible; use {allowed}")]
pub struct UnknownOption {
    pub flag: &'static str,
    pub text: String,
    pub allowed: &'static str,
}

/// Options of a compilation. The defaults are those of the published performance tables: products in bfloat16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CompileOptions {
    /// Which operations are cast.
    pub auto_cast: AutoCast,
    /// The format they are cast to. Has no effect with [`AutoCast::None`].
    pub auto_cast_type: CastType,
    /// How hard the compiler tries.
    pub opt_level: OptLevel,
    /// Physical NeuronCores of one logical core (`--lnc`); the device's default when absent.
    pub lnc: Option<u32>,
}

impl CastType {
    pub const fn format(self) -> FloatFormat {
        match self {
            Self::Bf16 => FloatFormat::Bf16,
            Self::Fp16 => FloatFormat::Fp16,
            Self::Tf32 => FloatFormat::Tf32,
            Self::Fp8E4m3 => FloatFormat::Fp8E4m3,
        }
    }
}

macro_rules! flag_value {
    ($type:ty, $flag:literal, $allowed:literal) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $type {
            type Err = UnknownOption;
            fn from_str(text: &str) -> Result<Self, UnknownOption> {
                let text = text.trim();
                let found = Self::ALL.into_iter().find(|v| v.name().eq_ignore_ascii_case(text));
                found.ok_or_else(|| UnknownOption { flag: $flag, text: text.to_owned(), allowed: $allowed })
            }
        }
    };
}

flag_value!(AutoCast, "auto_cast", "none, matmult or all");
flag_value!(CastType, "auto_cast_type", "bf16, fp16, tf32 or fp8_e4m3");
flag_value!(OptLevel, "optlevel", "1, 2 or 3");

impl CompileOptions {
    /// The format of a product's operands.
    pub const fn matmul_format(&self) -> FloatFormat {
        match self.auto_cast {
            AutoCast::None => FloatFormat::Fp32,
            AutoCast::Matmult | AutoCast::All => self.auto_cast_type.format(),
        }
    }

    /// Checks that the cores of an instance support these options. Fails with the option that is not supported, and what to use
    /// instead.
    pub fn check(&self, instance: &Instance, rounding: Rounding) -> Result<(), Refusal> {
        let Some(core) = features(instance.core_version) else { return Ok(()) };
        let (name, instance) = (core.name, instance.name);
        let format = self.matmul_format();
        if (format == FloatFormat::Tf32 && !core.tf32) || (format == FloatFormat::Fp8E4m3 && !core.fp8_e4m3) {
            return Err(refuse!(
                "--auto-cast-type {cast_type}: {name} of {instance} does not compute in {cast_type}; use bf16 or fp16, or an instance with NeuronCore-v2 or later",
                cast_type = self.auto_cast_type.name()
            ));
        }
        if rounding == Rounding::Stochastic && !core.stochastic_rounding {
            return Err(refuse!(
                "--rounding stochastic: {name} of {instance} rounds to the nearest only; use rne, or an instance with NeuronCore-v2 or later"
            ));
        }
        match self.lnc {
            Some(lnc) if !core.lnc.contains(&lnc) => {
                let allowed: Vec<String> = core.lnc.iter().map(u32::to_string).collect();
                Err(refuse!("--lnc {lnc} is not supported by {name} ({instance}); use {}", allowed.join(" or ")))
            }
            _ => Ok(()),
        }
    }

    /// The format of every other value between operations.
    pub const fn value_format(&self) -> FloatFormat {
        match self.auto_cast {
            AutoCast::None | AutoCast::Matmult => FloatFormat::Fp32,
            AutoCast::All => self.auto_cast_type.format(),
        }
    }
}

impl fmt::Display for CompileOptions {
    /// As flags: `--auto-cast matmult --auto-cast-type bf16 -O2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--auto-cast {}", self.auto_cast)?;
        if self.auto_cast != AutoCast::None {
            write!(f, " --auto-cast-type {}", self.auto_cast_type)?;
        }
        write!(f, " -O{}", self.opt_level)?;
        self.lnc.map_or(Ok(()), |lnc| write!(f, " --lnc {lnc}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_machine::arch::instance;

    #[test]
    fn the_default_is_that_of_the_published_tables() {
        let options = CompileOptions::default();
        assert_eq!(options.to_string(), "--auto-cast matmult --auto-cast-type bf16 -O2");
        assert_eq!((options.matmul_format(), options.value_format()), (FloatFormat::Bf16, FloatFormat::Fp32));
        let none = CompileOptions { auto_cast: AutoCast::None, auto_cast_type: CastType::Fp8E4m3, ..options };
        assert_eq!(none.matmul_format(), FloatFormat::Fp32);
    }

    #[test]
    fn a_missing_ability_of_a_core_is_refused_with_the_present_ones() {
        let check = |options: CompileOptions, name| options.check(instance(name).unwrap(), Rounding::Rne);
        let fp8 = CompileOptions { auto_cast_type: CastType::Fp8E4m3, ..CompileOptions::default() };
        assert_eq!(check(fp8, "trn1.2xlarge"), Ok(()));
        let error = check(fp8, "inf1.xlarge").unwrap_err().to_string();
        assert!(error.contains("fp8_e4m3") && error.contains("NeuronCore-v1 of inf1.xlarge"), "{error}");
        assert_eq!(check(CompileOptions { auto_cast: AutoCast::None, ..fp8 }, "inf1.xlarge"), Ok(()));
        let lnc = CompileOptions { lnc: Some(2), ..CompileOptions::default() };
        assert_eq!(check(lnc, "trn2.48xlarge"), Ok(()));
        let error = check(lnc, "trn1.2xlarge").unwrap_err().to_string();
        assert!(error.ends_with("is not supported by NeuronCore-v2 (trn1.2xlarge); use 1"), "{error}");
        let default = CompileOptions::default();
        assert!(default.check(instance("inf1.xlarge").unwrap(), Rounding::Stochastic).is_err());
    }

    #[test]
    fn names_read_back_and_others_are_refused() {
        for cast in CastType::ALL {
            assert_eq!(cast.name().parse(), Ok(cast));
        }
        let error = "int4".parse::<CastType>().unwrap_err();
        assert_eq!(error.to_string(), "auto_cast_type: 'int4' is not possible; use bf16, fp16, tf32 or fp8_e4m3");
    }
}
