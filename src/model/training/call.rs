//! What a call of a model in training is: a step, or a micro-batch whose gradients a later step uses.

use std::str::FromStr;

use ns_base::{Refusal, refuse};

use super::Optimizer;

/// The largest number of micro-batches of a step.
pub const MAX_MICRO_BATCHES: u32 = 65_536;

/// What a call of a model in training does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrainingCall {
    /// Forward, backward and update. With more than one micro-batch the update takes the mean of the gradients of this call
    /// and of the calls before it.
    Step { optimizer: Optimizer, micro_batches: u32 },
    /// Forward and backward; the gradients are added to those of the calls before.
    MicroBatch,
}

impl TrainingCall {
    /// A step of one batch.
    pub const fn step(optimizer: Optimizer) -> Self {
        Self::Step { optimizer, micro_batches: 1 }
    }

    /// The optimizer of a step.
    pub const fn optimizer(self) -> Option<Optimizer> {
        match self {
            Self::Step { optimizer, .. } => Some(optimizer),
            Self::MicroBatch => None,
        }
    }

    /// Micro-batches whose gradients a step adds up; one without accumulation.
    pub const fn micro_batches(self) -> u32 {
        match self {
            Self::Step { micro_batches, .. } => micro_batches,
            Self::MicroBatch => 1,
        }
    }

    /// Its value of `training` in specifications: `adamw`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Step { optimizer, .. } => optimizer.name(),
            Self::MicroBatch => "accumulate",
        }
    }

    /// The same step with this many micro-batches. Fails when there are none or too many, or the call has no update.
    pub fn with_micro_batches(self, micro_batches: u32) -> Result<Self, Refusal> {
        let Self::Step { optimizer, .. } = self else {
            return Err(refuse!(
                "accumulate={micro_batches} needs an update: use training=adamw or training=sgd with it"
            ));
        };
        if micro_batches == 0 || micro_batches > MAX_MICRO_BATCHES {
            return Err(refuse!(
                "accumulate={micro_batches} is not possible: use a number of micro-batches from 1 to {MAX_MICRO_BATCHES}"
            ));
        }
        Ok(Self::Step { optimizer, micro_batches })
    }
}

impl FromStr for TrainingCall {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let text = text.trim();
        let all = Optimizer::ALL.map(Self::step).into_iter().chain([Self::MicroBatch]);
        let call = { all }.find(|call| call.name().eq_ignore_ascii_case(text));
        call.ok_or_else(|| refuse!("training={text} is not possible: use adamw, sgd, accumulate or none"))
    }
}
