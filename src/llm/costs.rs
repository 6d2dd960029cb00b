//! What no simulation of a core tells: collectives, the host around a step, and what was fitted to published rows.

use super::route::Route;
use super::weights::Weights;
use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_base::units::format_count;
use ns_machine::arch::Instance;
use ns_machine::cost::{CollectiveCosts, CostStatus, Entry};

/// Numbers that are fitted to published rows. One value of each serves all models: the first four those of `decode.csv`, the others those of
/// `served.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlmCalibration {
    /// Time of an all-reduce of few bytes by transformers-neuronx, nanoseconds, with the start of the operations that wait for it.
    pub all_reduce_ns: u64,
    /// What no other work hides of streaming the keys and values of each further sequence of a batch, thousandths.
    pub further_cache_permille: u64,
    /// Host and change of executables around a prompt of transformers-neuronx on Inf2, microseconds.
    pub first_token_inf2_us: u64,
    /// The same on Trn1.
    pub first_token_trn_us: u64,
    /// Time of a layer for each head of keys and values where one core has the whole model and there is no all-reduce to wait for, on Inf2
    /// and Trn1, nanoseconds.
    pub kv_head_ns: u64,
    /// Time of a row of a matrix beside its bytes on Inf2 and Trn1, picoseconds.
    pub row_ps: u64,
    /// Time of an all-reduce of few bytes on Trn2 with the operations that wait for it, nanoseconds; what a layer with experts sends to them and
    /// back takes the same.
    pub trn2_all_reduce_ns: u64,
    /// Host of a step behind a vLLM server, microseconds.
    pub vllm_host_us: u64,
}

/// The result of `neuronscope validate --calibrate` with `src/fidelity/decode.csv` and `served.csv`; a test compares.
pub const FITTED: LlmCalibration = LlmCalibration {
    all_reduce_ns: 35_300,
    further_cache_permille: 290,
    first_token_inf2_us: 18_000,
    first_token_trn_us: 6_700,
    kv_head_ns: 4_800,
    row_ps: 1_300,
    trn2_all_reduce_ns: 39_500,
    vllm_host_us: 4_500,
};

/// Bytes of a large all-reduce over its time, bytes per microsecond (measured: `nccom-test` between 64 ranks of two
/// Trn1, 64 MB to 1 GB; of one instance no such run is published since collectives became faster).
pub const ALL_REDUCE_BYTES_PER_US: u64 = 26_800;

/// The same with today's libraries on Inf2 and Trn1 (derived from published first tokens by an analytical model: 13,400 to 18,800).
pub const TODAY_ALL_REDUCE_BYTES_PER_US: u64 = 15_300;

/// The same inside a step of Trn2 (measured between 64 ranks).
pub const TRN2_ALL_REDUCE_BYTES_PER_US: u64 = 100_000;

/// Time of an exchange of few bytes by today's libraries on Inf2 and Trn1, nanoseconds (measured: 6.1 us between 32 ranks, 10.0 us between 8).
pub const SMALL_EXCHANGE_NS: u64 = 8_000;

/// Host and change of executables around a prompt of today's libraries, microseconds (the median of 37 published reports).
pub const FIRST_TOKEN_US: u64 = 1_200;

/// Host time of a step, microseconds: a synchronous call, the write of the embedded tokens to every core, and the choice of the
/// next tokens (0.44 ms were measured for the call alone).
pub const HOST_STEP_US: u64 = 500;

/// The same where the device chooses the next token (published for Trn2: about 0.4 ms a call).
pub const HOST_STEP_ON_DEVICE_US: u64 = 400;

/// Tokens of a prompt, and thousandths of the peak that the attention kernel of Trn2 reaches there (measured: `attention_cte` of heads of 128
/// features on one core).
const KERNEL_PERMILLE: [(u64, u64); 2] = [(2_048, 300), (16_384, 460)];

/// Thousandths of the peak that attention reaches in a prompt of so many tokens: between the two measurements by the logarithm.
pub fn kernel_permille(tokens: u64) -> u64 {
    let [(from, low), (to, high)] = KERNEL_PERMILLE;
    let log = |tokens: u64| libm::log2(u64_to_f64(tokens.clamp(from, to)));
    low + f64_to_u64(u64_to_f64(high - low) * (log(tokens) - log(from)) / (log(to) - log(from)))
}

/// Time of a product on a logical core of Trn2 while all of its chip run over that of one that runs alone, thousandths (measured: 75.6 and 63.6 ms
/// for 16,384 x 16,384 x 16,384).
pub const SHARED_MEMORY_PERMILLE: u64 = 1_189;

/// The numbers of this file for the register (`neuronscope devices --costs`, docs/costs.md).
pub fn cost_entries() -> Vec<Entry> {
    fitted_entries().into_iter().chain(other_entries()).collect()
}

fn entry(name: &'static str, value: u64, unit: &'static str, status: CostStatus, source: &'static str) -> Entry {
    let values = [(); 3].map(|()| format_count(value));
    Entry { group: "Language models", name, values, unit, status, source }
}

fn fitted_entries() -> [Entry; 8] {
    let c = FITTED;
    let row = |name, value, unit, source| entry(name, value, unit, CostStatus::Fitted, source);
    let exchange = "all-reduce of few bytes between the cores of an instance by transformers-neuronx, in prompts also by today's libraries, with the start of what waits for it";
    let cache = "of streaming the keys and values of each further sequence of a batch: what no other work hides";
    let heads =
        "a head of keys and values of a layer where one core has the whole model: its chain of short operations";
    let rows =
        "a row of a matrix beside its bytes, by the device profiles of 22 models on Trn1: short rows read slowly";
    let trn2 =
        "all-reduce of few bytes on Trn2 with the start of what waits for it; to experts and back takes the same";
    [
        row("all_reduce_ns", c.all_reduce_ns, "ns", exchange),
        row("further_cache_permille", c.further_cache_permille, "thousandths", cache),
        row("first_token_inf2_us", c.first_token_inf2_us, "us", "host and change of executables around a prompt, Inf2"),
        row("first_token_trn_us", c.first_token_trn_us, "us", "the same, Trn1"),
        row("kv_head_ns", c.kv_head_ns, "ns a layer", heads),
        row("row_ps", c.row_ps, "ps a row", rows),
        row("trn2_all_reduce_ns", c.trn2_all_reduce_ns, "ns", trn2),
        row(
            "vllm_host_us",
            c.vllm_host_us,
            "us a step",
            "host of a step behind a vLLM server, by times of tokens over HTTP",
        ),
    ]
}

fn other_entries() -> [Entry; 11] {
    use CostStatus::{Chosen, Derived, Measured, Published};
    let exchange = "nccom-test between 64 ranks of two Trn1, 64 MB to 1 GB";
    let trn2 = "inside a step between 64 ranks of Trn2: 17.5 us and bytes at this rate";
    let today = "published first tokens beside an analytical model: 13,400 to 18,800";
    let small = "nccom-test of 2025: an exchange of 1 KB takes 6.1 us between 32 ranks, 10.0 us between 8";
    let first = "median of 37 reports of NeuronX Distributed Inference: end to end beside the device";
    let int8 = "between the byte that is moved and the two that one engine's conversion takes";
    let host = "0.44 ms for the synchronous call; the rest writes tokens to the cores and chooses the next";
    let on_device = "Trn2, where the device chooses the next token: about 0.4 ms a call";
    let kernel = "the attention kernel of prompts on a core of Trn2: 30 % of the peak at 2,048 tokens, 46 % at 16,384";
    let shared = "a product of 16,384 cubed on Trn2: 63.6 ms alone, 75.6 ms with all cores of the chip";
    let [(_, short), (_, long)] = KERNEL_PERMILLE;
    [
        entry("KERNEL_PERMILLE, 2,048 tokens", short, "thousandths", Measured, kernel),
        entry("KERNEL_PERMILLE, 16,384 tokens", long, "thousandths", Measured, kernel),
        entry("SHARED_MEMORY_PERMILLE", SHARED_MEMORY_PERMILLE, "thousandths", Measured, shared),
        entry("ALL_REDUCE_BYTES_PER_US", ALL_REDUCE_BYTES_PER_US, "bytes/us", Measured, exchange),
        entry("TODAY_ALL_REDUCE_BYTES_PER_US", TODAY_ALL_REDUCE_BYTES_PER_US, "bytes/us", Derived, today),
        entry("TRN2_ALL_REDUCE_BYTES_PER_US", TRN2_ALL_REDUCE_BYTES_PER_US, "bytes/us", Measured, trn2),
        entry("SMALL_EXCHANGE_NS", SMALL_EXCHANGE_NS, "ns", Measured, small),
        entry("FIRST_TOKEN_US", FIRST_TOKEN_US, "us", Measured, first),
        entry("INT8_STREAM_TENTHS", Weights::Int8.stream_tenths(2), "tenths of a byte a weight", Chosen, int8),
        entry("HOST_STEP_US", HOST_STEP_US, "us a step", Measured, host),
        entry("HOST_STEP_ON_DEVICE_US", HOST_STEP_ON_DEVICE_US, "us a step", Published, on_device),
    ]
}

impl LlmCalibration {
    /// Costs of collectives in a step or in a prompt. In a prompt the start of what waits for a sum shows with any library.
    pub const fn collectives(&self, instance: &Instance, route: Route, is_prompt: bool) -> CollectiveCosts {
        let (latency_ns, bytes_per_us) = match (instance.core_version, route) {
            (3.., _) => (self.trn2_all_reduce_ns, TRN2_ALL_REDUCE_BYTES_PER_US),
            (_, Route::Tnx) => (self.all_reduce_ns, ALL_REDUCE_BYTES_PER_US),
            _ if is_prompt => (self.all_reduce_ns, TODAY_ALL_REDUCE_BYTES_PER_US),
            _ => (SMALL_EXCHANGE_NS, TODAY_ALL_REDUCE_BYTES_PER_US),
        };
        CollectiveCosts { latency_ns, bytes_per_us }
    }

    /// Host of a step, microseconds.
    pub const fn host_step_us(&self, instance: &Instance, route: Route) -> u64 {
        match route {
            Route::Vllm => self.vllm_host_us,
            _ if instance.core_version >= 3 => HOST_STEP_ON_DEVICE_US,
            _ => HOST_STEP_US,
        }
    }

    /// Host and change of executables around a prompt, microseconds.
    pub fn first_token_us(&self, instance: &Instance, route: Route) -> u64 {
        match route {
            Route::Tnx if instance.name.starts_with("inf2") => self.first_token_inf2_us,
            Route::Tnx => self.first_token_trn_us,
            Route::Nxdi => FIRST_TOKEN_US,
            Route::Vllm => FIRST_TOKEN_US + self.vllm_host_us,
        }
    }
}
