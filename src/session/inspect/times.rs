//! The time of each operation: the simulated execution summed by operation of the program.

use ns_base::FxHashMap;
use ns_base::convert::{i64_to_f64, u64_to_f64};
use ns_capture::{Recorder, run_of};
use ns_compiler::Workflow;
use ns_insight::{SourceTime, time_by_source};
use ns_machine::cost::CostTable;
use ns_machine::{Executable, SourceEntry};

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
}

/// Sums up an execution. The time of a fusion is divided between its members by the elements that each produces.
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
    let mut times =
        ExecutionTimes { of: vec![SourceTime::default(); operations.len()], window_ns, ..ExecutionTimes::default() };
    for (entry, time) in executable.sources.iter().zip(time_by_source(&run).iter()) {
        let served = served(entry, operations, &find);
        let all: f64 = served.iter().map(|(_, part)| part).sum();
        if served.is_empty() {
            times.rest.add_part(time, 1.0);
        }
        for (operation, part) in served {
            times.of[operation].add_part(time, part / all);
        }
    }
    times
}

/// Operations that an entry of the source map is for, each with its part.
fn served(
    entry: &SourceEntry,
    operations: &[Operation],
    find: &dyn Fn(&str, &str) -> Option<usize>,
) -> Vec<(usize, f64)> {
    if entry.members.is_empty() {
        return find(&entry.hlo_text, &entry.path).map(|o| (o, 1.0)).into_iter().collect();
    }
    let members = entry.member_hlo.iter().zip(&entry.members);
    let found = members.filter_map(|(hlo, path)| find(hlo, path));
    found.map(|o| (o, u64_to_f64(operations[o].shape.elements()).max(1.0))).collect()
}

/// The path as in source maps: `NN[model]/Linear[layer1]/aten__addmm_dot`.
pub(super) fn path_of(operation: &Operation) -> String {
    let op = match &operation.framework {
        Some(framework) => format!("{}_{}", framework.replacen("::", "__", 1), operation.opcode),
        None => operation.opcode.to_owned(),
    };
    operation.scope.iter().map(String::as_str).chain([op.as_str()]).collect::<Vec<_>>().join("/")
}
