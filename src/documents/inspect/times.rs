//! The time of each operation: the simulated execution summed by operation of the program.

use ns_base::FxHashMap;
use ns_base::convert::i64_to_f64;
use ns_capture::{Recorder, run_of};
use ns_compiler::Workflow;
use ns_insight::{Limiter, SourceTime, parts_of, time_by_source};
use ns_machine::Executable;
use ns_machine::cost::CostTable;

use super::operation::Operation;

/// Times of one execution.
#[derive(Clone, Debug, Default)]
pub(super) struct ExecutionTimes {
    /// Times by position of the operation.
    pub of: Vec<SourceTime>,
    /// Time that cannot be assigned to an operation: it counts only for the model.
    pub rest: SourceTime,
    /// From the first instruction to the last, nanoseconds.
    pub window_ns: f64,
    /// The busiest unit, and what is hidden behind it, each as a sentence.
    pub limiter: Option<(String, String)>,
}

/// Sums up an execution. The time of a fusion is divided between its members by their parts.
pub(super) fn times_of(
    operations: &[Operation],
    executable: &Executable,
    recorder: &Recorder,
    costs: &CostTable,
) -> ExecutionTimes {
    let run = run_of(executable, recorder, costs, Workflow::Trace);
    let mut names: FxHashMap<&str, usize> = FxHashMap::default();
    let mut paths: FxHashMap<String, usize> = FxHashMap::default();
    for (i, operation) in operations.iter().enumerate() {
        names.insert(&operation.name, i);
        paths.entry(path_of(operation)).or_insert(i);
        if operation.is_input {
            // A source map names all inputs alike.
            paths.entry(format!("{}/input", operation.scope.first().map_or("", String::as_str))).or_insert(i);
        }
    }
    let find = |hlo: &str, path: &str| {
        let name = hlo.strip_prefix('%').and_then(|text| text.split(" = ").next());
        name.and_then(|name| names.get(name)).or_else(|| paths.get(path)).copied()
    };
    let window_ns = i64_to_f64(run.window.end - run.window.start);
    let limiter = Limiter::of(&run);
    let limiter = limiter.sentence().map(|sentence| (sentence, limiter.hidden_text().unwrap_or_default()));
    let of = vec![SourceTime::default(); operations.len()];
    let mut times = ExecutionTimes { of, window_ns, limiter, ..ExecutionTimes::default() };
    for (entry, time) in executable.sources.iter().zip(time_by_source(&run).iter()) {
        for (part, member) in parts_of(entry) {
            let (hlo, path) = member.map_or((&entry.hlo_text, &entry.path), |m| (&m.hlo_text, &m.path));
            match find(hlo, path) {
                Some(operation) => times.of[operation].add_part(time, part),
                None => times.rest.add_part(time, part),
            }
        }
    }
    times
}

/// The path as in source maps: `NN[model]/Linear[layer1]/aten__addmm_dot`.
pub(super) fn path_of(operation: &Operation) -> String {
    let op = match &operation.framework {
        Some(framework) => format!("{}_{}", framework.replacen("::", "__", 1), operation.opcode),
        None => operation.opcode.to_owned(),
    };
    operation.scope.iter().map(String::as_str).chain([op.as_str()]).collect::<Vec<_>>().join("/")
}
