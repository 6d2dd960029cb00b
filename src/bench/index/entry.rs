//! One artifact of an index.

use serde::{Deserialize, Serialize};

use ns_base::{Refusal, refuse};
use ns_compiler::{AutoCast, CastType, CompileOptions, OptLevel};
use ns_model::ModelSpec;

/// Whether an artifact was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryStatus {
    #[default]
    Finished,
    /// The compile failed; there is no file.
    Error,
}

impl EntryStatus {
    /// Its name in the file.
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
    /// Seconds the compile took; absent if not known.
    pub compile_s: Option<f64>,
    /// Whether the artifact exists.
    pub status: EntryStatus,
    /// Specification of the model in the artifact, which is simulated. NeuronPerf's indexes have none.
    pub model: Option<String>,
    /// EC2 size it was compiled for.
    pub instance_type: Option<String>,
    /// Which operations were cast when it was compiled. Absent in an index of NeuronPerf, as are the next three.
    pub auto_cast: Option<AutoCast>,
    /// Type they were cast to.
    pub auto_cast_type: Option<CastType>,
    /// How hard the compiler tried.
    pub optlevel: Option<OptLevel>,
    /// Physical cores of a logical core.
    pub lnc: Option<u32>,
    /// Source of `compile_s`: [`MODELLED`] for artifacts compiled here; absent in an index of NeuronPerf, which measures.
    pub compile_s_source: Option<String>,
    /// Why the status is an error.
    pub error: Option<String>,
    /// In an older index: number of the inputs it was compiled with, from 0. Kept as it is.
    pub input_idx: Option<u32>,
    /// In an older index: the present performance level, as a number or by the compiler's name. Kept as it is.
    pub cast_mode: Option<String>,
}

/// The source of a compile time that was modelled from the program, not measured.
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

/// The compiler's `--fast-math` value at each performance level, from 0: an older index has it as its
/// `cast_mode`.
const CAST_MODES: [&str; 4] = ["none", "fp32-cast-matmult no-fast-relayout", "fp32-cast-matmult", "all"];

/// The performance level that an older index's cast mode stands for.
pub(super) fn level_of_cast_mode(cast_mode: &str) -> Option<u8> {
    let names = cast_mode.trim();
    let number = names.parse().ok().filter(|level: &usize| *level < CAST_MODES.len());
    let level = number.or_else(|| CAST_MODES.iter().position(|known| *known == names));
    level.and_then(|level| u8::try_from(level).ok())
}

/// An entry of an index of NeuronPerf does not say which model its artifact is.
pub(crate) fn no_model(file: &str) -> Refusal {
    refuse!(
        "{file}: the index does not say which model this is, and a compiled artifact of NeuronPerf cannot be run here; add \"model\": \"nn\" (or another model) to its entry, or name the model with --model"
    )
}

impl ModelEntry {
    /// Whether anyone chose how the model is cast: an older index by its cast mode, a newer one by a level or an option.
    pub fn names_a_cast(&self) -> bool {
        let usual = CompileOptions::default();
        self.cast_mode.is_some()
            || self.performance_level != Self::default().performance_level
            || self.auto_cast.is_some_and(|own| own != usual.auto_cast)
            || self.auto_cast_type.is_some_and(|own| own != usual.auto_cast_type)
    }

    /// Its model: as the entry says, or as its file is named (`models/resnet50_b1_p1_83bh3hhs.pt`) where a model has this name.
    pub fn known_model(&self) -> Option<String> {
        let of_file = || {
            let name = self.filename.as_deref()?.rsplit('/').next()?.to_lowercase();
            let (name, _) = name.split_once("_b")?;
            [name.to_owned(), name.replace('_', "-")].into_iter().find(|name| name.parse::<ModelSpec>().is_ok())
        };
        self.model.clone().or_else(of_file)
    }

    /// The same entry with its compiler options. Without a cast, the cast type is left out.
    pub fn compiled_with(self, options: CompileOptions) -> Self {
        Self {
            auto_cast: Some(options.auto_cast),
            auto_cast_type: (options.auto_cast != AutoCast::None).then_some(options.auto_cast_type),
            optlevel: Some(options.opt_level),
            lnc: options.lnc,
            ..self
        }
    }

    /// The compiler options of the entry; options it does not state are as requested. `None` when it states none.
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
