//! Results of other tools that are no rows of a benchmark: what they are, and what to do with them.

use ns_base::{Refusal, refuse};

/// The figures of a server are of requests and tokens.
const SERVER: &str = "neuronscope generate --request-rate predicts such a server, and neuronscope validate compares a CSV of published times";
const COLLECTIVES: &str = "docs/costs.md says what a collective costs here";
const MONITOR: &str = "open the trace of a profiler to see where time goes";

/// A part of the text that only this kind has, what it is, and what to do.
const KNOWN: &[(&str, &str, &str)] = &[
    ("\"token_generation_model\":", "a benchmark_report.json of NxDI", SERVER),
    ("\"total_token_throughput\":", "a result of vllm bench serve", SERVER),
    ("\"time_to_first_token_ms\":", "a report of guidellm", SERVER),
    ("results_ttft_s", "a summary of llmperf", SERVER),
    ("Time-to-first-token (ms)", "a table of optimum-neuron's benchmarks of vLLM", SERVER),
    ("\"neuron_runtime_data\":", "output of neuron-monitor", MONITOR),
    ("busbw(GB/s)", "output of nccom-test", COLLECTIVES),
];

/// Bytes at the front that are searched.
const HEAD_BYTES: usize = 1 << 16;

/// Why a file with this start has no rows here; `None` for a file of no such tool.
pub fn other_tool(bytes: &[u8]) -> Option<Refusal> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let has = |part: &str| memchr::memmem::find(head, part.as_bytes()).is_some();
    let (_, what, instead) = KNOWN.iter().find(|(part, ..)| has(part))?;
    Some(refuse!("it is {what}, which has no rows of a benchmark; {instead}"))
}
