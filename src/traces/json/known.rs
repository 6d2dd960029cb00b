//! JSON objects of other formats, known by their keys.

/// Known kinds of JSON objects that hold no `traceEvents`, by keys that all have to be there.
const KNOWN_OBJECTS: &[(&[&str], &str)] = &[
    (&["tpot_p50_ms"], "an answer of neuronscope generate for scripts (its --html FILE writes one to look at)"),
    (&["saves_us", "hbm"], "an answer of neuronscope nki for scripts (its --html FILE writes one to look at)"),
    (&["first_underflow"], "an answer of neuronscope numerics for scripts (its --html FILE writes one to look at)"),
    (&["neuronscope_matmult"], "an answer of neuronscope matmult for scripts (its --html FILE writes one to look at)"),
    (
        &["iterations_per_s", "kernel"],
        "an answer of neuronscope customop for scripts (its --html FILE writes one to look at)",
    ),
    (&["positions", "rows"], "an answer of neuronscope fit for scripts (its --html FILE writes one to look at)"),
    (&["snapshot", "nodes", "edges"], "a V8 heap snapshot"),
    (&["spans", "traceId"], "a Google Cloud trace"),
    (&["resourceSpans"], "an OpenTelemetry trace"),
    (&["reports"], "a benchmark report"),
    (&["log"], "an HTTP archive (HAR)"),
    (&["dhatFileVersion"], "a DHAT heap profile (open it in dh_view.html)"),
    (&["code", "functions", "ticks"], "a log of V8 that was processed (record with --cpu-prof instead)"),
    (&["segments", "device_traces"], "a PyTorch memory snapshot (open it with memory_viz)"),
    (&["root_frame", "sample_count"], "a pyinstrument session (save it with -r speedscope or -r chrome)"),
    (&["cols", "rows"], "a table of a TensorBoard plugin (open the .xplane.pb that it was made of)"),
    (&["growth_rate", "files"], "a Scalene profile"),
    (&["program", "cost_centres"], "a GHC profile (convert it with hs-speedscope or ghc-prof-flamegraph)"),
    (&["data", "total", "limit"], "a response of Jaeger's API"),
    (&["nodes", "schema", "pid"], "an execution trace of PyTorch (ET): open the Kineto trace that was taken with it"),
];

/// The name of the format of a JSON object without `traceEvents`, from its top-level keys.
pub fn name_json_object(keys: &[String]) -> Option<&'static str> {
    let has = |key: &&str| keys.iter().any(|k| k == key);
    KNOWN_OBJECTS.iter().find(|(wanted, _)| wanted.iter().all(has)).map(|(_, name)| *name)
}
