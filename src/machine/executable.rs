//! The compiler's output, which the simulator runs: instruction streams, DMA rings, a memory plan and a source map.

use serde::{Deserialize, Serialize};

use super::OpTable;
use super::isa::{Dma, DmaQueue, Engine, Instruction, Op, Unit, Wait};
use ns_base::IndexVec;
use ns_base::define_idx;

define_idx! {
    /// An entry of a [`SourceMap`].
    pub struct SourceId;
}

/// The operation of the model that an instruction serves: instruction -> HLO -> framework op.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceEntry {
    /// HLO text of a timeline row: `%dot = dot(%p4, %transpose.1)`, or `fused_0`.
    pub hlo_text: String,
    /// HLO opcode by which operator tables aggregate: `dot`; for a fusion, its root's.
    pub hlo_opcode: String,
    /// Framework op by which operator tables aggregate: `aten__addmm_dot`; for a fusion, its root's.
    pub framework_op: String,
    /// Module path without the op, outermost first: `["NN[model]", "Linear[layer1]"]`.
    pub scope: Vec<String>,
    /// Full framework path: `NN[model]/Linear[layer1]/aten__addmm_dot`.
    pub path: String,
    /// The members when this is a fusion, in the order of execution, its root last; empty otherwise.
    pub members: Vec<SourceMember>,
}

/// One of the operations that a fusion does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceMember {
    /// Full framework path.
    pub path: String,
    /// HLO text.
    pub hlo_text: String,
    /// Its part of the fusion's time on the engines, in millionths. The parts of all members add up to a million.
    pub share_ppm: u32,
}

impl SourceMember {
    /// The framework op by which operator tables aggregate: the last part of the path.
    pub fn framework_op(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// Source entries by id.
pub type SourceMap = IndexVec<SourceId, SourceEntry>;

/// Memory use of a compiled model, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPlan {
    /// Peak use of SBUF.
    pub sbuf_peak_bytes: u64,
    /// SBUF of the core it was compiled for.
    pub sbuf_capacity_bytes: u64,
    /// Weights in device memory.
    pub weight_bytes: u64,
    /// Inputs of one call.
    pub input_bytes: u64,
    /// Outputs of one call.
    pub output_bytes: u64,
    /// Values of a call that are spilled to device memory while SBUF is full.
    pub spill_bytes: u64,
}

/// A compiled model for one NeuronCore.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Executable {
    /// Name of the model's root scope: `NN[model]`.
    pub name: String,
    /// Instruction stream of each engine, in the order of [`Engine::ALL`].
    pub engines: [Vec<Instruction>; Engine::ALL.len()],
    /// The operations of the instructions.
    pub ops: OpTable,
    /// Ring of each DMA queue, in the order of [`DmaQueue::ALL`].
    pub queues: [Vec<Dma>; DmaQueue::ALL.len()],
    /// Whether one descriptor engine triggers the DMAs of all queues, so that they share its interval.
    pub one_descriptor_engine: bool,
    /// Waits of all instructions and DMAs.
    pub waits: Vec<Wait>,
    /// Instruction -> HLO -> framework op.
    pub sources: SourceMap,
    /// Memory use.
    pub memory: MemoryPlan,
    /// Floating point operations of the model's matrix products, two per multiply-accumulate.
    pub model_flops: u64,
}

impl Executable {
    /// Instructions of all engines and DMAs of all queues.
    pub fn item_count(&self) -> usize {
        self.engines.iter().map(Vec::len).sum::<usize>() + self.queues.iter().map(Vec::len).sum::<usize>()
    }

    /// Items of each unit, by [`Unit::index`].
    pub fn item_counts(&self) -> [u32; Unit::COUNT] {
        let mut counts = [0; Unit::COUNT];
        let items = self.engines.iter().map(Vec::len).chain(self.queues.iter().map(Vec::len));
        for (count, items) in counts.iter_mut().zip(items) {
            *count = u32::try_from(items).unwrap_or(u32::MAX);
        }
        counts
    }

    /// Items of one unit so far.
    pub fn item_count_of(&self, unit: Unit) -> u32 {
        let count = match unit {
            Unit::Engine(engine) => self.engines[engine.index()].len(),
            Unit::Queue(queue) => self.queues[queue.index()].len(),
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// What an instruction does.
    pub fn op(&self, instruction: &Instruction) -> Op {
        self.ops.op(instruction.op)
    }

    /// The waits of an instruction or DMA.
    #[inline]
    pub fn waits(&self, start: u32, len: u8) -> &[Wait] {
        let start = start as usize;
        self.waits.get(start..start + usize::from(len)).unwrap_or(&[])
    }
}
