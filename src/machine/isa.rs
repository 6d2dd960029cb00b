//! Instructions of a NeuronCore, at the level that profiles show.

use serde::{Deserialize, Serialize};

use super::{OpId, SourceId};
use ns_base::names;

names! {
    /// A processor that runs its own instruction stream in order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Engine {
        /// The systolic array.
        Tensor = "Tensor",
        /// Elementwise and reductions along the free dimension.
        Vector = "Vector",
        /// Activation functions by table.
        Scalar = "Scalar",
        /// Eight programmable processors.
        GpSimd = "GpSimd",
    }

    /// All engines, in the order profiles list them.
    pub const ALL: [Self; _];
    /// Name in profiles.
    pub const fn name(self) -> &'static str;
}

impl Engine {
    /// Position in [`Engine::ALL`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

names! {
    /// A ring of DMA descriptors, served in order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum DmaQueue {
        /// Inputs and outputs.
        Io = "qSyncIO0",
        /// Weights.
        Weights = "qSyncWeights0",
        /// Operands and results of custom operators, which live in HBM.
        Custom = "qGpSimdCustom0",
        /// Values that leave SBUF while others need the space, and come back.
        Spill = "qSyncSpill0",
        /// Loads of an NKI kernel: those of one tensor share a queue.
        Load0 = "qSyncLoad0",
        /// The same for other tensors.
        Load1 = "qSyncLoad1",
        /// The same for other tensors.
        Load2 = "qSyncLoad2",
        /// The same for other tensors.
        Load3 = "qSyncLoad3",
    }

    /// All queues.
    pub const ALL: [Self; _];
    /// Name in the style of the profiler's queue rows.
    pub const fn name(self) -> &'static str;
}

impl DmaQueue {
    /// The queues of compiled models, the first of [`DmaQueue::ALL`].
    pub const OF_MODELS: [Self; 4] = [Self::Io, Self::Weights, Self::Custom, Self::Spill];

    /// Position in [`DmaQueue::ALL`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Runs items in order and counts completions: an engine or a DMA queue. Each unit has one semaphore that it
/// increments when an item is complete, and any other unit may wait for that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// An engine's instruction stream.
    Engine(Engine),
    /// A DMA queue's ring.
    Queue(DmaQueue),
}

impl Unit {
    /// Number of units of a core.
    pub const COUNT: usize = Engine::ALL.len() + DmaQueue::ALL.len();

    /// All units, by [`Self::index`].
    pub const ALL: [Self; Self::COUNT] = [
        Self::Engine(Engine::Tensor),
        Self::Engine(Engine::Vector),
        Self::Engine(Engine::Scalar),
        Self::Engine(Engine::GpSimd),
        Self::Queue(DmaQueue::Io),
        Self::Queue(DmaQueue::Weights),
        Self::Queue(DmaQueue::Custom),
        Self::Queue(DmaQueue::Spill),
        Self::Queue(DmaQueue::Load0),
        Self::Queue(DmaQueue::Load1),
        Self::Queue(DmaQueue::Load2),
        Self::Queue(DmaQueue::Load3),
    ];

    /// Its name in profiles.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine(engine) => engine.name(),
            Self::Queue(queue) => queue.name(),
        }
    }

    /// A number below [`Unit::COUNT`]: engines first.
    #[inline]
    pub const fn index(self) -> usize {
        match self {
            Self::Engine(e) => e.index(),
            Self::Queue(q) => Engine::ALL.len() + q.index(),
        }
    }
}

/// A wait: until `unit` has completed `count` items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The unit whose semaphore is read.
    pub unit: Unit,
    /// The value that must be reached.
    pub count: u32,
}

/// The operation of an instruction, with the sizes that decide its cost. `free` is the number of elements per
/// partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Loads a stationary tile of `rows` x `columns` into the array.
    LdWeights {
        /// Rows of the array in use: the contracted elements (1..=128; 256 in a double row mode). They do not affect the time: a row is a
        /// partition.
        rows: u32,
        /// Stationary columns (1..=128).
        columns: u32,
    },
    /// Streams a moving tile of `free` rows through the array, `passes` times (fp32 takes four).
    Matmul {
        /// Moving free size (1..=512).
        free: u32,
        /// Passes over the array: 1 for bf16, fp16, tf32 and fp8, 4 for fp32.
        passes: u32,
    },
    /// One tensor operand with per-partition scalars or constants.
    TensorScalar {
        /// Elements per partition.
        free: u32,
    },
    /// Two tensor operands; `sbuf_only` when neither is in PSUM, which halves the rate.
    TensorTensor {
        /// Elements per partition.
        free: u32,
        /// Whether both operands come from SBUF.
        sbuf_only: bool,
    },
    /// Reduction along the free dimension.
    TensorReduce {
        /// Elements per partition.
        free: u32,
    },
    /// Copies between SBUF and PSUM.
    TensorCopy {
        /// Elements per partition.
        free: u32,
    },
    /// Writes a constant.
    Memset {
        /// Elements per partition.
        free: u32,
    },
    /// An activation function with free scale and bias.
    Activate {
        /// Elements per partition.
        free: u32,
    },
    /// The same, and the sum over each partition's results.
    ActivateReduce {
        /// Elements per partition.
        free: u32,
    },
    /// Loads the table of another set of activation functions.
    ActTableLoad,
    /// A custom operator on the GPSIMD processors that reads and writes `elements` one by one in HBM.
    CustomElementwise {
        /// Elements in total.
        elements: u64,
    },
    /// A custom operator whose kernel was run on an operand of the same shape.
    CustomKernel {
        /// Elements in total.
        elements: u64,
        /// From its start until its slowest processor is done, picoseconds.
        time_ps: u64,
        /// The clock of the engine in this run, MHz. Without the engine's limit, all of the time goes, that of its accesses too.
        mhz: u32,
    },
    /// An instruction that the author of an NKI kernel wrote.
    Kernel {
        /// Its name in profiles.
        opcode: KernelOpcode,
        /// Elements per partition.
        free: u32,
        /// Cycles of the engine for the elements, by [`kernel_cycles`](crate::cost::kernel_cycles).
        cycles: u32,
    },
}

names! {
    /// Instructions of NKI kernels, as profiles name them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum KernelOpcode {
        /// A product, or half of one in fp32.
        Matmul = "MATMUL",
        /// A transpose by the array.
        Transpose = "TRANSPOSE",
        /// An activation function.
        Activate = "ACTIVATE",
        /// The same with a sum over each partition.
        ActivateReduce = "ACTIVATE_REDUCE",
        /// A tensor with constants or a column.
        TensorScalar = "TENSOR_SCALAR",
        /// Two tensors.
        TensorTensor = "TENSOR_TENSOR",
        /// A tensor with a column, then with a tensor.
        ScalarTensorTensor = "SCALAR_TENSOR_TENSOR",
        /// A scan along the free dimension.
        Scan = "TENSOR_TENSOR_SCAN",
        /// A reduction along the free dimension.
        Reduce = "TENSOR_REDUCE",
        /// A copy on the chip.
        Copy = "TENSOR_COPY",
        /// A reciprocal.
        Reciprocal = "RECIPROCAL",
        /// A constant.
        Memset = "MEMSET",
        /// Statistics of rows.
        BnStats = "BN_STATS",
        /// Statistics of rows, summed up.
        BnAggregate = "BN_AGGR",
        /// A selection by index or condition.
        Select = "SELECT",
        /// Eight largest values of a row, or their places.
        Max8 = "MAX8",
        /// Values gathered by index.
        Gather = "GATHER",
        /// A copy between partitions of a quadrant.
        Shuffle = "STREAM_SHUFFLE",
        /// A reduction over partitions.
        PartitionReduce = "PARTITION_REDUCE",
        /// Random numbers.
        Random = "RNG",
        /// A custom operator or another instruction.
        Other = "OTHER",
    }

    /// All of them.
    pub const ALL: [Self; _];
    /// Name in profiles.
    pub const fn name(self) -> &'static str;
}

impl Op {
    /// The same instruction on one element per partition; instructions whose time does not depend on a free dimension stay.
    #[must_use]
    pub const fn of_one_element(self) -> Self {
        match self {
            Self::TensorScalar { .. } => Self::TensorScalar { free: 1 },
            Self::TensorTensor { sbuf_only, .. } => Self::TensorTensor { free: 1, sbuf_only },
            Self::TensorReduce { .. } => Self::TensorReduce { free: 1 },
            Self::TensorCopy { .. } => Self::TensorCopy { free: 1 },
            Self::Memset { .. } => Self::Memset { free: 1 },
            Self::Activate { .. } => Self::Activate { free: 1 },
            Self::ActivateReduce { .. } => Self::ActivateReduce { free: 1 },
            Self::Matmul { passes, .. } => Self::Matmul { free: 1, passes },
            other => other,
        }
    }

    /// Elements per partition, for instructions whose time depends on them.
    pub const fn free_elements(&self) -> Option<u32> {
        match *self {
            Self::TensorScalar { free }
            | Self::TensorTensor { free, .. }
            | Self::TensorReduce { free }
            | Self::TensorCopy { free }
            | Self::Memset { free }
            | Self::Activate { free }
            | Self::ActivateReduce { free }
            | Self::Kernel { free, .. }
            | Self::Matmul { free, .. } => Some(free),
            _ => None,
        }
    }

    /// Opcode in profiles.
    pub const fn opcode(&self) -> &'static str {
        match self {
            Self::LdWeights { .. } => "LDWEIGHTS",
            Self::Matmul { .. } => "MATMUL",
            Self::TensorScalar { .. } => "TENSOR_SCALAR",
            Self::TensorTensor { .. } => "TENSOR_TENSOR",
            Self::TensorReduce { .. } => "REDUCE",
            Self::TensorCopy { .. } => "TENSOR_COPY",
            Self::Memset { .. } => "MEMSET",
            Self::Activate { .. } | Self::ActivateReduce { .. } => "ACTIVATE",
            Self::ActTableLoad => "ACT_TABLE_LOAD",
            Self::CustomElementwise { .. } | Self::CustomKernel { .. } => "CUSTOM_OP",
            Self::Kernel { opcode, .. } => opcode.name(),
        }
    }
}

/// The process of the operator timeline that an item belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Activity {
    /// Table loads and other preparation of an engine.
    Control,
    /// Arithmetic.
    Execution,
    /// Moving or setting data, by DMA or by an engine.
    DataTransfer,
}

/// One instruction of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its operation, in [`super::Executable::ops`].
    pub op: OpId,
    /// Its purpose.
    pub activity: Activity,
    /// First of its waits in [`super::Executable::waits`].
    pub waits_start: u32,
    /// How many waits.
    pub waits_len: u8,
    /// Whether it reads an operand from PSUM.
    pub from_psum: bool,
    /// The operation of the model that it serves.
    pub source: SourceId,
}

/// The direction of a DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DmaDirection {
    /// Device memory to SBUF.
    HbmToSbuf,
    /// SBUF to device memory.
    SbufToHbm,
    /// Within device memory.
    HbmToHbm,
}

/// One DMA of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dma {
    /// Bytes moved.
    pub bytes: u64,
    /// SBUF partitions touched, at most the core's: engine `e` serves partitions `8e..8e+8`.
    pub partitions: u32,
    /// Descriptors: the rows that lie in one piece in device memory. Their number takes time beside the bytes.
    pub descriptors: u64,
    /// The first of them, if each DMA engine works for its own partitions; `None` if the engines of the core share the bytes.
    pub first_partition: Option<u32>,
    /// Its direction.
    pub direction: DmaDirection,
    /// The time of a collective, in which the cores exchange data with all their DMA engines, picoseconds; 0 for a transfer.
    pub exchange_ps: u64,
    /// First of its waits in [`super::Executable::waits`].
    pub waits_start: u32,
    /// How many waits.
    pub waits_len: u8,
    /// The operation of the model that it serves.
    pub source: SourceId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_units_is_in_index_order() {
        for (i, unit) in Unit::ALL.iter().enumerate() {
            assert_eq!(unit.index(), i);
        }
    }
}
