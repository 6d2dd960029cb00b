//! The entries of the register that are not fields of the cost tables: fitted numbers and decisions.

use super::decisions as d;
use super::entry::{CostStatus, Entry};
use super::{Calibration, FITTED};
use CostStatus::{Chosen, Derived, Fitted, Measured, Published};
use ns_base::units::format_count;

/// An entry whose value is the same on all generations.
fn fixed(
    group: &'static str,
    name: &'static str,
    value: &str,
    unit: &'static str,
    status: CostStatus,
    source: &'static str,
) -> Entry {
    Entry { group, name, values: [value, value, value].map(str::to_owned), unit, status, source }
}

pub(super) fn calibration() -> Vec<Entry> {
    let Calibration { host_call_ns, host_copy_bytes_per_us, torch_1_permille } = FITTED;
    let row =
        |name, value: u64, unit, source| fixed("Fitted numbers", name, &format_count(value), unit, Fitted, source);
    vec![
        row("host_call_ns", host_call_ns, "ns", "host time of a call"),
        row(
            "host_copy_bytes_per_us",
            host_copy_bytes_per_us,
            "bytes/us",
            "rate of copying inputs and outputs, one thread; for up to 16 MiB 11.55 GB/s to the device and 2.9 back were measured on Trn1",
        ),
        row(
            "torch_1_permille",
            torch_1_permille.into(),
            "thousandths",
            "how much longer a call takes with the compiler and runtime of PyTorch 1 (`bench --sdk-generation pt1`)",
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table: a line for each decision")]
pub(super) fn code_generation() -> Vec<Entry> {
    let row = |name, value: u64, unit, status, source| {
        fixed("Code generation", name, &format_count(value), unit, status, source)
    };
    let decision = |name, source| fixed("Code generation", name, "yes", "", Chosen, source);
    vec![
        row(
            "LONG_ROW_ELEMENTS",
            d::LONG_ROW_ELEMENTS,
            "elements",
            Chosen,
            "from here a ReLU runs on the scalar engine. The architecture guide says that rows above 128 are bound by their elements; which engine takes them it does not say",
        ),
        row(
            "FEW_CHANNELS",
            d::FEW_CHANNELS,
            "channels",
            Chosen,
            "below this a convolution's patches are gathered by DMA. Images have 3 channels, the layers after them 64: any value between gives the same programs",
        ),
        row(
            "STRIDED_ELEMENTS",
            d::STRIDED_ELEMENTS,
            "elements",
            Chosen,
            "of a row with gaps that one descriptor of a gather moves; rows of patches without gaps are one descriptor each. ResNet's first convolution, with stride 2, is the only one of the rows that has gaps; stores of single elements were measured at 11 ns each",
        ),
        row(
            "SBUF_PARTS",
            d::SBUF_PARTS,
            "parts of SBUF",
            Chosen,
            "one part is the most that a value takes: operand and result, each twice while the next slice comes or goes, are half of SBUF, and weights that come ahead the other half. A larger value is made and read slice by slice of the batch, with weights read again and a wait for each slice",
        ),
        row(
            "LAYOUT_LOOKAHEAD",
            d::LAYOUT_LOOKAHEAD.into(),
            "readers in a row",
            Chosen,
            "how far code generation looks for the layout that is wanted",
        ),
        row(
            "VIEW_LOOKAHEAD",
            d::VIEW_LOOKAHEAD.into(),
            "views in a row",
            Chosen,
            "how far it looks for the next use of a value",
        ),
        row(
            "SBUF_CHUNK_ELEMENTS",
            d::SBUF_CHUNK_ELEMENTS.into(),
            "elements",
            Chosen,
            "of one instruction from SBUF to SBUF; longer ones save fixed costs and hold the engine longer",
        ),
        row(
            "POOL_CHUNK_ELEMENTS",
            d::POOL_CHUNK_ELEMENTS.into(),
            "elements",
            Chosen,
            "of one instruction of a pooling",
        ),
        row(
            "STATISTICS_CHUNK_ELEMENTS",
            d::STATISTICS_CHUNK_ELEMENTS.into(),
            "elements",
            Published,
            "cost table: `bn_stats` takes at most 512",
        ),
        row(
            "IMAGE_RANK",
            d::IMAGE_RANK as u64,
            "dimensions",
            Chosen,
            "a value of this rank is an image [n, channels, height, width] with its channels on the partitions, also after a transpose that turns it into tokens",
        ),
        row(
            "SLACK_BYTES",
            d::SLACK_BYTES,
            "bytes",
            Chosen,
            "room for biases and statistics when weights are to stay in SBUF",
        ),
        row(
            "IO_ELEMENT_BYTES",
            d::IO_ELEMENT_BYTES,
            "bytes",
            Published,
            "compiler reference: inputs and outputs are never cast",
        ),
        fixed(
            "Code generation",
            "COMPILE_MS_PER_OPERATION",
            &d::COMPILE_MS_PER_OPERATION.to_string(),
            "ms an operation after fusion",
            Derived,
            "microbenchmark: 1000 linear layers took 236.53 s and are 2,004 operations. No other figure is published: good to a factor",
        ),
        decision(
            "weights stream on every call",
            "large encoders take as long at batch 1 as their weights take to stream; whether a runtime keeps weights in SBUF between calls is not published",
        ),
        decision(
            "a weight matrix is a line of device memory for each partition",
            "a transfer has a descriptor for each partition at least (DMA guide); how a compiler lays matrices out is not public. Blocks of 128 columns with lines of their own would stream BERT's weights at 184 GB/s, and no row allows that",
        ),
        decision(
            "an operation waits for the one before",
            "profiles of compiled models are nearly serial from operation to operation; inside one the engines overlap tile by tile",
        ),
        decision(
            "half of PSUM's banks accumulate, the other half is evicted",
            "the architecture guide has 8 accumulation groups; how a compiler shares them is not public",
        ),
        decision("the taps of one kernel row share a pass", "convolutions of 64 channels would half fill the array"),
        decision(
            "a residual is added in a pass of its own",
            "after the product is in SBUF; whether a compiler does it on the way is not public",
        ),
        decision("tokens of a batch are packed on the partitions", "and turned where they fill their blocks badly"),
        decision("small products of a batch share a bank", "the heads of attention side by side"),
        decision(
            "groups of partitions start at a quarter or a half",
            "architecture guide: where an operand of the array may start",
        ),
        decision(
            "only products are run in slices",
            "elementwise work, norms and pooling of a sliced value run through without a wait; with waits ResNet-50 at batch 8 came out 2 % slower and the errors grew",
        ),
    ]
}

/// Data parallel copies of a training step.
pub(super) fn collectives() -> Vec<Entry> {
    vec![
        fixed(
            "Collectives",
            "ALL_REDUCE_BUS_BYTES_PER_US",
            &format_count(d::ALL_REDUCE_BUS_BYTES_PER_US),
            "bytes/us",
            Derived,
            "nccom-test's guide: an all-reduce of 1 GB between two ranks takes 18,930 us. A ring of n ranks moves 2 (n - 1) / n of the gradients over each link; nothing of it is hidden behind the backward pass",
        ),
        fixed(
            "Collectives",
            "ALL_REDUCE_HOP_NS",
            &format_count(d::ALL_REDUCE_HOP_NS),
            "ns",
            Published,
            "Neuron documentation of collectives: a hop of a ring takes 1 to 2 us; a sum goes round twice",
        ),
    ]
}

pub(super) fn host() -> Vec<Entry> {
    let row = |name, value: u64, source| fixed("Host", name, &format_count(value), "ps an element", Measured, source);
    let loops = "plain loops over 2^20 fp32 elements on one core of an x86-64 server, rounded: an order of magnitude";
    vec![
        row("NORMALIZE_PS", d::NORMALIZE_PS, loops),
        row("ARGMAX_PS", d::ARGMAX_PS, loops),
        row("TOPK_PS", d::TOPK_PS, loops),
        row("SOFTMAX_PS", d::SOFTMAX_PS, loops),
        fixed(
            "Host",
            "VCPUS_OF_A_CORE",
            &d::VCPUS_OF_A_CORE.to_string(),
            "vCPUs",
            Measured,
            "published: two vCPUs are the threads of one core. That host work fills a core is measured: in NeuronPerf's sample results 16 and 32 threads on 24 vCPUs make 12.1 and 12.2 times the calls of one",
        ),
        fixed(
            "Host",
            "INF1_PATH_BYTES_PER_US",
            &format_count(d::INF1_PATH_BYTES_PER_US),
            "bytes/us of an Inf1 instance",
            Derived,
            "NeuronPerf's benchmark guide, last row: 2,809 calls a second of an image of 602,112 bytes. Only for systems given by their times, with `--inputs`",
        ),
        fixed(
            "Host",
            "DEFAULT_JITTER",
            &d::DEFAULT_JITTER.to_string(),
            "of each stage",
            Chosen,
            "published latencies at p99 lie 0.5 to 9 % above those at p50 in most rows, with causes that are not published. `--jitter` says otherwise",
        ),
    ]
}
