//! One artifact of an index.

use serde::{Deserialize, Serialize};

use crate::compiler::{AutoCast, CastType, CompileOptions, OptLevel};

/// Whether an artifact was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryStatus {
    /// It is there.
    #[default]
    Finished,
    /// The compile failed; there is no file.
    Error,
}

impl EntryStatus {
    /// As in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Error => "error",
        }
    }
}

/// A compiled model, or the attempt at one. The first six fields are NeuronPerf's, in its order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelEntry {
    /// Path of the artifact; absent when the compile failed.
    pub filename: Option<String>,
    /// Samples of one inference.
    pub batch_size: u32,
    /// NeuronCores of one copy.
    pub pipeline_size: u32,
    /// 0 (most accurate) to 3 (fastest).
    pub performance_level: u8,
    /// Seconds the compile took; absent where nobody knows.
    pub compile_s: Option<f64>,
    /// Whether there is an artifact.
    pub status: EntryStatus,
    /// Specification of the model in the artifact, which is what gets simulated. An index of NeuronPerf has none.
    pub model: Option<String>,
    /// EC2 size it was compiled for.
    pub instance_type: Option<String>,
    /// Which operations were cast when it was compiled. An index of NeuronPerf does not say, nor do the next three.
    pub auto_cast: Option<AutoCast>,
    /// What they were cast to.
    pub auto_cast_type: Option<CastType>,
    /// How hard the compiler tried.
    pub optlevel: Option<OptLevel>,
    /// Physical cores of a logical core.
    pub lnc: Option<u32>,
    /// Where `compile_s` is from: [`MODELLED`] in what is compiled here; absent in an index of NeuronPerf, which measures.
    pub compile_s_source: Option<String>,
    /// Why the status is an error.
    pub error: Option<String>,
    /// Of an older index: which of the inputs it was compiled with, from 0. Kept as it is.
    pub input_idx: Option<u32>,
    /// Of an older index: what is now the performance level, a number or the compiler's name for it. Kept as it is.
    pub cast_mode: Option<String>,
}

/// The source of a compile time that follows from the program and was not measured.
pub const MODELLED: &str = "modelled";

impl Default for ModelEntry {
    /// NeuronPerf's defaults.
    fn default() -> Self {
        Self {
            filename: None,
            batch_size: 1,
            pipeline_size: 1,
            performance_level: 3,
            compile_s: None,
            status: EntryStatus::Finished,
            model: None,
            instance_type: None,
            auto_cast: None,
            auto_cast_type: None,
            optlevel: None,
            lnc: None,
            compile_s_source: None,
            error: None,
            input_idx: None,
            cast_mode: None,
        }
    }
}

/// What the compiler's `--fast-math` is called at each performance level, from 0: an older index names it as its
/// `cast_mode`.
const CAST_MODES: [&str; 4] = ["none", "fp32-cast-matmult no-fast-relayout", "fp32-cast-matmult", "all"];

/// The performance level that an older index's cast mode stands for.
pub(super) fn level_of_cast_mode(cast_mode: &str) -> Option<u8> {
    let names = cast_mode.trim();
    let number = names.parse().ok().filter(|level: &usize| *level < CAST_MODES.len());
    let level = number.or_else(|| CAST_MODES.iter().position(|known| *known == names));
    level.and_then(|level| u8::try_from(level).ok())
}

impl ModelEntry {
    /// The same entry, saying how it was compiled. Without a cast there is no type that is cast to.
    #[must_use]
    pub fn compiled_with(self, options: CompileOptions) -> Self {
        Self {
            auto_cast: Some(options.auto_cast),
            auto_cast_type: (options.auto_cast != AutoCast::None).then_some(options.auto_cast_type),
            optlevel: Some(options.opt_level),
            lnc: options.lnc,
            ..self
        }
    }

    /// How it was compiled, as far as the entry says; the rest as asked for. `None` when it says nothing.
    #[must_use]
    pub fn compile_options(&self, asked: CompileOptions) -> Option<CompileOptions> {
        let says_nothing =
            self.auto_cast.is_none() && self.auto_cast_type.is_none() && self.optlevel.is_none() && self.lnc.is_none();
        (!says_nothing).then(|| CompileOptions {
            auto_cast: self.auto_cast.unwrap_or(asked.auto_cast),
            auto_cast_type: self.auto_cast_type.unwrap_or(asked.auto_cast_type),
            opt_level: self.optlevel.unwrap_or(asked.opt_level),
            lnc: self.lnc.or(asked.lnc),
        })
    }
}
