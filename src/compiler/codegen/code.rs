//! The program under construction: the instructions emitted so far, the operations they serve, and the state of the
//! engines and of PSUM.

use super::emitter::{Emitter, Purpose, latest};
use super::engines::Engines;
use super::memory::PsumBanks;
use super::memory::bytes_text;
use super::plan::Plan;
use super::sources::Sources;
use crate::error::StageError;
use crate::hlo::InstrId;
use ns_base::refuse;
use ns_machine::isa::{Engine, Op, Wait};
use ns_machine::{Executable, MemoryPlan, SourceId};

/// The instructions and DMAs of a program under construction, and for each the operation that it executes.
pub(super) struct Code<'p> {
    pub emitter: Emitter,
    pub sources: Sources<'p>,
    pub psum: PsumBanks,
    pub engines: Engines<'p>,
    /// Bytes in device memory, and the peak use of SBUF.
    pub memory: MemoryPlan,
    /// Floating-point operations of the matrix products, two per multiply-accumulate.
    pub flops: u64,
}

impl<'p> Code<'p> {
    /// A program without instructions.
    pub fn new(plan: &'p Plan<'p>) -> Self {
        Self {
            emitter: Emitter::new(),
            sources: Sources::new(plan),
            psum: PsumBanks::new(plan.core.psum_banks),
            engines: Engines::new(plan),
            memory: MemoryPlan { sbuf_capacity_bytes: plan.core.sbuf_bytes, ..MemoryPlan::default() },
            flops: 0,
        }
    }

    /// The purpose of instructions that compute an operation.
    pub fn execution(&mut self, id: InstrId) -> Purpose {
        Purpose::execution(self.sources.of(id))
    }

    /// Charges an instruction to the members of a fusion that it computes, for their parts of the fusion's time.
    pub fn charge(&mut self, source: SourceId, members: &[InstrId], engine: Engine, op: Op) {
        if self.sources.is_fusion(source) {
            self.sources.charges(source).add(self.engines.costs(), members, engine, op);
        }
    }

    /// Emits instructions that do not wait for one another; returns the latest completion of each unit.
    pub fn run(&mut self, work: impl Iterator<Item = (Engine, Op)>, purpose: Purpose, after: &[Wait]) -> Vec<Wait> {
        latest(work.map(|(engine, op)| self.emitter.instruction(engine, op, purpose, after)).collect())
    }

    /// The finished program. Fails when it needs more device memory than the core has.
    pub fn finish(mut self, plan: &Plan<'_>, sbuf_peak_bytes: u64) -> Result<Executable, StageError> {
        let weights = plan.module.instructions.iter_enumerated().map(|(id, i)| plan.weight_bytes(id, i));
        self.memory.weight_bytes = weights.fold(0, u64::saturating_add);
        self.memory.sbuf_peak_bytes = sbuf_peak_bytes;
        let memory = &self.memory;
        let needed = [memory.weight_bytes, memory.input_bytes, memory.output_bytes, memory.spill_bytes];
        let needed = needed.into_iter().fold(0, u64::saturating_add);
        if needed > plan.core.hbm_bytes {
            let refusal = refuse!(
                "the model needs {} of device memory on one core, which has {}: {} are missing",
                bytes_text(needed),
                bytes_text(plan.core.hbm_bytes),
                bytes_text(needed - plan.core.hbm_bytes)
            );
            return Err(refusal.into());
        }
        let sources = self.sources.finish();
        let emitted = self.emitter.finish();
        Ok(Executable { name: plan.root_scope(), sources, memory: self.memory, model_flops: self.flops, ..emitted })
    }
}
