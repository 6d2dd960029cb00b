//! Decisions of code generation and of the host's model that change a time and that no document settles. Each is
//! defined once, here; the register lists it with its status.

use super::entry::{CostStatus, Entry};

/// Declares constants, each with the unit, the status and the source of its entry in the register.
macro_rules! decisions {
    (
        $entries:ident in $group:literal:
        $($(#[$doc:meta])* $name:ident: $type:ty = $value:expr, $unit:literal, $status:ident, $source:expr;)*
    ) => {
        $($(#[$doc])* pub const $name: $type = $value;)*

        pub(super) fn $entries() -> Vec<Entry> {
            vec![$(Entry::of(
                ($group, stringify!($name)),
                [&$name; 3],
                ($unit, CostStatus::$status, $source),
            )),*]
        }
    };
}

decisions! {
    code_generation in "Code generation":

    /// Elements per partition from which a maximum with a constant runs on the scalar engine, which clips in one pass;
    /// shorter rows stay on the vector engine, as the profile of a small ReLU shows.
    LONG_ROW_ELEMENTS: u64 = 128, "elements", Chosen,
        "from here a ReLU runs on the scalar engine. The architecture guide says that rows above 128 are bound by their elements; which engine takes them it does not say";

    /// Below this number of channels, the patches of a convolution are gathered by DMA before it.
    FEW_CHANNELS: u64 = 16, "channels", Chosen,
        "below this a convolution's patches are gathered by DMA. Images have 3 channels, the layers after them 64: any value between gives the same programs";

    /// Elements of a row that one descriptor of a gather moves where the row has gaps: a convolution with a stride
    /// reads every second pixel.
    STRIDED_ELEMENTS: u64 = 40, "elements", Chosen,
        "of a row with gaps that one descriptor of a gather moves; rows of patches without gaps are one descriptor each. ResNet's first convolution, with stride 2, is the only one of the rows that has gaps; stores of single elements were measured at 11 ns each";

    /// A value takes at most one part in this many of SBUF.
    SBUF_PARTS: u64 = 8, "parts of SBUF", Chosen,
        "one part is the most that a value takes: operand and result, each twice while the next slice comes or goes, are half of SBUF, and weights that come ahead the other half. A larger value is made and read slice by slice of the batch, with weights read again and a wait for each slice";

    /// Most consecutive readers that are followed to find the layout in which a value is wanted.
    LAYOUT_LOOKAHEAD: u32 = 8, "readers in a row", Chosen,
        "how far code generation looks for the layout that is wanted";

    /// Most consecutive views that are followed to find the next operation that reads a value.
    VIEW_LOOKAHEAD: u32 = 16, "views in a row", Chosen, "how far it looks for the next use of a value";

    /// Elements per partition that one instruction handles when it reads SBUF and writes SBUF.
    SBUF_CHUNK_ELEMENTS: u32 = 2_048, "elements", Chosen,
        "of one instruction from SBUF to SBUF; longer ones save fixed costs and hold the engine longer";

    /// Elements per partition that one instruction of a pooling reads.
    POOL_CHUNK_ELEMENTS: u32 = 2_048, "elements", Chosen, "of one instruction of a pooling";

    /// Elements per instruction that computes statistics.
    STATISTICS_CHUNK_ELEMENTS: u32 = 512, "elements", Published, "cost table: `bn_stats` takes at most 512";

    /// The rank of images, whose channels lie on the partitions.
    IMAGE_RANK: usize = 4, "dimensions", Chosen,
        "a value of this rank is an image [n, channels, height, width] with its channels on the partitions, also after a transpose that turns it into tokens";

    /// Room left for biases, constants and statistics when all weights are to stay in SBUF.
    SLACK_BYTES: u64 = 1 << 20, "bytes", Chosen, "room for biases and statistics when weights are to stay in SBUF";

    /// Bytes of an element of single precision, where no model file says its type.
    IO_ELEMENT_BYTES: u64 = 4, "bytes", Published, "compiler reference: inputs and outputs are never cast; a model file's own type counts where it has one";

    /// Compile time of one operation after fusion, milliseconds.
    COMPILE_MS_PER_OPERATION: f64 = 118.0, "ms an operation after fusion", Derived,
        "microbenchmark: 1000 linear layers took 236.53 s and are 2,004 operations. No other figure is published: good to a factor";
}

/// What code generation does, each with the reason.
const WAYS: [(&str, &str); 11] = [
    (
        "weights stream on every call",
        "large encoders take as long at batch 1 as their weights take to stream; whether a runtime keeps weights in SBUF between calls is not published",
    ),
    (
        "a weight matrix is a line of device memory for each partition",
        "a transfer has a descriptor for each partition at least (DMA guide); how a compiler lays matrices out is not public. Blocks of 128 columns with lines of their own would stream BERT's weights at 184 GB/s, and no row allows that",
    ),
    (
        "scores of attention that exceed SBUF wait for their softmax in device memory",
        "no published row has such scores. A line for each row of a head slows networks of 257 tokens by a quarter, which were known to be a third too fast; where another value goes, is decided by room alone",
    ),
    (
        "an operation waits for the one before",
        "profiles of compiled models are nearly serial from operation to operation; inside one the engines overlap tile by tile",
    ),
    (
        "half of PSUM's banks accumulate, the other half is evicted",
        "the architecture guide has 8 accumulation groups; how a compiler shares them is not public",
    ),
    ("the taps of one kernel row share a pass", "convolutions of 64 channels would half fill the array"),
    (
        "a residual is added in a pass of its own",
        "after the product is in SBUF; whether a compiler does it on the way is not public",
    ),
    ("tokens of a batch are packed on the partitions", "and turned where they fill their blocks badly"),
    ("small products of a batch share a bank", "the heads of attention side by side"),
    (
        "groups of partitions start at a quarter or a half",
        "architecture guide: where an operand of the array may start",
    ),
    (
        "only products are run in slices",
        "elementwise work, norms and pooling of a sliced value run through without a wait; with waits ResNet-50 at batch 8 came out 2 % slower and the errors grew",
    ),
];

pub(super) fn ways() -> impl Iterator<Item = Entry> {
    let entry = |(name, source)| {
        let values = ["yes"; 3].map(str::to_owned);
        Entry { group: "Code generation", name, values, unit: "", status: CostStatus::Chosen, source }
    };
    WAYS.into_iter().map(entry)
}

decisions! {
    kernels in "NKI kernels":

    /// Instructions among which the compiler chooses the next one, from the oldest that has not begun.
    WINDOW: usize = 200, "instructions", Chosen,
        "kernels on Trn2: program order doubles the p90 of the errors; from 150 on nothing changes";

    /// Copies from PSUM to neighbouring columns of SBUF that become one.
    DRAINS: u32 = 4, "copies", Measured, "counters of a kernel on Trn2: 1,280 transposes of 128 columns, 320 copies";

    /// Elements per partition up to which iterations of a short affine loop are joined.
    WIDE_ELEMENTS: u32 = 512, "elements", Measured,
        "a kernel on Trn2 takes as long, engine by engine, with 128, 256 and 512 elements in an iteration";

    /// Granularity of PSUM, bytes of a partition.
    PSUM_PIECE_BYTES: u64 = 512, "bytes a partition", Chosen, "small tiles share a bank; engine counts of kernels on Trn2";
}

decisions! {
    collectives in "Collectives":

    /// Rate of a link in a ring of ranks that sums gradients, bytes per microsecond.
    ALL_REDUCE_BUS_BYTES_PER_US: u64 = 56_700, "bytes/us", Derived,
        "nccom-test's guide: an all-reduce of 1 GB between two ranks takes 18,930 us. A ring of n ranks moves 2 (n - 1) / n of the gradients over each link; nothing of it is hidden behind the backward pass";

    /// A hop of a ring, nanoseconds.
    ALL_REDUCE_HOP_NS: u64 = 2_000, "ns", Published,
        "Neuron documentation of collectives: a hop of a ring takes 1 to 2 us; a sum goes round twice";
}

const LOOPS: &str =
    "plain loops over 2^20 fp32 elements on one core of an x86-64 server, rounded: an order of magnitude";

decisions! {
    host in "Host":

    /// Host work on one fp32 element, picoseconds: scale and shift.
    NORMALIZE_PS: u64 = 300, "ps an element", Measured, LOOPS;

    /// Host work on one fp32 element, picoseconds: the largest element.
    ARGMAX_PS: u64 = 1_100, "ps an element", Measured, LOOPS;

    /// Host work on one fp32 element, picoseconds: the five largest elements.
    TOPK_PS: u64 = 500, "ps an element", Measured, LOOPS;

    /// Host work on one fp32 element, picoseconds: exponentials and their sum.
    SOFTMAX_PS: u64 = 2_800, "ps an element", Measured, LOOPS;

    /// Virtual CPUs that are threads of one core of the host. A worker's host work takes a whole core.
    VCPUS_OF_A_CORE: u32 = 2, "vCPUs", Measured,
        "published: two vCPUs are the threads of one core. That host work fills a core is measured: in NeuronPerf's sample results 16 and 32 threads on 24 vCPUs make 12.1 and 12.2 times the calls of one";

    /// Rate at which all copies of an Inf1 instance together move their inputs and outputs, bytes per microsecond.
    /// Later instances have a link for each device.
    INF1_PATH_BYTES_PER_US: u64 = 1_691, "bytes/us of an Inf1 instance", Derived,
        "NeuronPerf's benchmark guide, last row: 2,809 calls a second of an image of 602,112 bytes. Only for systems given by their times, with `--inputs`";

    /// Largest random deviation of a stage of an inference, as a fraction of its time, unless a configuration sets
    /// another.
    DEFAULT_JITTER: f64 = 0.01, "of each stage", Chosen,
        "published latencies at p99 lie 0.5 to 9 % above those at p50 in most rows, with causes that are not published. `--jitter` says otherwise";
}
