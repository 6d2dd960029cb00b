//! Decisions of code generation and of the host's model that change a time and that no document settles. Each is
//! defined once, here; the register lists it with its status.

/// Elements per partition from which a maximum with a constant runs on the scalar engine, which clips in one pass; shorter
/// rows stay on the vector engine, as the profile of a small ReLU shows. According to the architecture guide, an
/// instruction of 128 elements or more is bound by its elements and not by its fixed cost.
pub const LONG_ROW_ELEMENTS: u64 = 128;

/// Below this number of channels, the patches of a convolution are gathered by DMA before it. An image has 3 channels, the
/// layer after it 64 in every network of the tables: any value between gives the same programs.
pub const FEW_CHANNELS: u64 = 16;

/// Elements of a row that one descriptor of a gather moves where the row has gaps: a convolution with a stride reads every
/// second pixel.
pub const STRIDED_ELEMENTS: u64 = 40;

/// A value takes at most one part in this many of SBUF. The operand and the result of an operation, each together with
/// its next slice, take half of SBUF; weights that are loaded ahead take the other half. A larger value is written and
/// read slice by slice of the batch.
pub const SBUF_PARTS: u64 = 8;

/// Most consecutive readers that are followed to find the layout in which a value is wanted.
pub const LAYOUT_LOOKAHEAD: u32 = 8;

/// Most consecutive views that are followed to find the next operation that reads a value.
pub const VIEW_LOOKAHEAD: u32 = 16;

/// Elements per partition that one instruction handles when it reads SBUF and writes SBUF.
pub const SBUF_CHUNK_ELEMENTS: u32 = 2_048;

/// Elements per partition that one instruction of a pooling reads.
pub const POOL_CHUNK_ELEMENTS: u32 = 2_048;

/// Elements per instruction that computes statistics (published: `bn_stats`, at most 512).
pub const STATISTICS_CHUNK_ELEMENTS: u32 = 512;

/// Values of this rank are images `[n, channels, height, width]`, whose channels lie on the partitions.
pub const IMAGE_RANK: usize = 4;

/// Room left for biases, constants and statistics when all weights are to stay in SBUF, bytes.
pub const SLACK_BYTES: u64 = 1 << 20;

/// Bytes of an element of the model's inputs and outputs (published: they are never cast).
pub const IO_ELEMENT_BYTES: u64 = 4;

/// Largest random deviation of a stage of an inference, as a fraction of its time, unless a configuration sets
/// another.
pub const DEFAULT_JITTER: f64 = 0.01;

/// Host work on one fp32 element, picoseconds: scale and shift.
pub const NORMALIZE_PS: u64 = 300;
/// Host work on one fp32 element, picoseconds: the largest element.
pub const ARGMAX_PS: u64 = 1_100;
/// Host work on one fp32 element, picoseconds: the five largest elements.
pub const TOPK_PS: u64 = 500;
/// Host work on one fp32 element, picoseconds: exponentials and their sum.
pub const SOFTMAX_PS: u64 = 2_800;

/// Virtual CPUs that are threads of one core of the host (published: two on every size). A worker's host work takes a
/// whole core: in NeuronPerf's sample results 16 and 32 threads on the 24 vCPUs of an inf1.6xlarge make 12.1 and 12.2 times the
/// calls of one thread (measured).
pub const VCPUS_OF_A_CORE: u32 = 2;

/// Rate at which all copies of an Inf1 instance together move their inputs and outputs, bytes per microsecond (derived:
/// 2,809 calls a second of an image of 602,112 bytes, the last row of the table in NeuronPerf's benchmark guide). Later instances have a link for
/// each device.
pub const INF1_PATH_BYTES_PER_US: u64 = 1_691;

/// Compile time of one operation after fusion, milliseconds (derived: the microbenchmark guide's 1000 linear layers, which
/// the compiler unrolls, took 236.53 s to compile and are 2,004 operations here).
pub const COMPILE_MS_PER_OPERATION: f64 = 118.0;

/// Rate of a link in a ring of ranks that sums gradients, bytes per microsecond (derived: `nccom-test` prints 18,930 us for 1 GB
/// between two ranks).
pub const ALL_REDUCE_BUS_BYTES_PER_US: u64 = 56_700;

/// A hop of a ring, nanoseconds (published: one to two microseconds).
pub const ALL_REDUCE_HOP_NS: u64 = 2_000;
