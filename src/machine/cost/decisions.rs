//! Decisions of code generation and of the host's model that change time and that no document makes. Each stands once,
//! here; the register lists it with its status.

/// Elements per partition from which a maximum with a constant runs on the scalar engine, which clips in one pass; shorter
/// rows stay on the vector engine, as the profile of a small ReLU shows. 128 is where the architecture guide says an
/// instruction is bound by its elements and not by its fixed cost.
pub const LONG_ROW_ELEMENTS: u64 = 128;

/// Below this many channels the patches of a convolution are gathered by DMA before it. An image has 3, the layer after it
/// 64 in every network of the tables: any value between gives the same programs.
pub const FEW_CHANNELS: u64 = 16;

/// A value takes at most one part in this many of SBUF: an operation's operand and result, each while the next slice of
/// it comes or goes, take half of SBUF, and weights that come ahead the other half. A larger value is made and read slice
/// by slice of the batch.
pub const SBUF_PARTS: u64 = 8;

/// Readers in a row that are looked through for the layout in which a value is wanted.
pub const LAYOUT_LOOKAHEAD: u32 = 8;

/// Views in a row that are looked through for the next operation that reads a value.
pub const VIEW_LOOKAHEAD: u32 = 16;

/// Elements per partition that one instruction of an operation from SBUF to SBUF handles.
pub const SBUF_CHUNK_ELEMENTS: u32 = 2_048;

/// Elements per partition that one instruction of a pooling reads.
pub const POOL_CHUNK_ELEMENTS: u32 = 2_048;

/// Elements whose statistics one instruction takes (published: `bn_stats`, at most 512).
pub const STATISTICS_CHUNK_ELEMENTS: u32 = 512;

/// Values of this rank are images `[n, channels, height, width]`, whose channels lie on the partitions.
pub const IMAGE_RANK: usize = 4;

/// Room left for biases, constants and statistics when all weights are to stay in SBUF, bytes.
pub const SLACK_BYTES: u64 = 1 << 20;

/// Bytes of an element of the model's inputs and outputs (published: they are never cast).
pub const IO_ELEMENT_BYTES: u64 = 4;

/// Largest random deviation of a stage of an inference, as a fraction of it, unless a configuration says otherwise.
pub const DEFAULT_JITTER: f64 = 0.01;

/// Host work on one fp32 element, picoseconds: scale and shift.
pub const NORMALIZE_PS: u64 = 300;
/// Host work on one fp32 element, picoseconds: the largest element.
pub const ARGMAX_PS: u64 = 1_100;
/// Host work on one fp32 element, picoseconds: the five largest elements.
pub const TOPK_PS: u64 = 500;
/// Host work on one fp32 element, picoseconds: exponentials and their sum.
pub const SOFTMAX_PS: u64 = 2_800;

/// Compile time of one operation after fusion, milliseconds (derived: the microbenchmark guide's 1000 linear layers, which
/// the compiler unrolls, took 236.53 s to compile and are 2,004 operations here).
pub const COMPILE_MS_PER_OPERATION: f64 = 118.0;
