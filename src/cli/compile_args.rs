//! Flags of the compiler, which several commands take.

use clap::Args as ClapArgs;

use crate::compiler::{AutoCast, CastType, CompileOptions, OptLevel};

/// Flags of the compiler, in `neuronx-cc`'s names.
#[derive(Debug, ClapArgs)]
pub(super) struct CompileArgs {
    /// Which operations are cast: none, matmult (the default through SDK 2.26, and of the published tables) or all
    #[arg(long, value_name = "WHICH", default_value_t)]
    pub auto_cast: AutoCast,
    /// What they are cast to: bf16, fp16, tf32 or fp8_e4m3
    #[arg(long, value_name = "TYPE", default_value_t)]
    pub auto_cast_type: CastType,
    /// Optimisation level: 1 (no fusion), 2 or 3
    #[arg(short = 'O', long = "optlevel", value_name = "LEVEL", default_value_t)]
    pub optlevel: OptLevel,
    /// Physical NeuronCores of one logical core, where there is a choice (Trn2: 1 or 2) [default: the device's]
    #[arg(long, alias = "logical-nc-config", value_name = "CORES")]
    pub lnc: Option<u32>,
}

impl CompileArgs {
    /// The options they stand for.
    pub fn options(&self) -> CompileOptions {
        CompileOptions {
            auto_cast: self.auto_cast,
            auto_cast_type: self.auto_cast_type,
            opt_level: self.optlevel,
            lnc: self.lnc,
        }
    }
}
