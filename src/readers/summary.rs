//! The inspection of a program whose format uses XLA's operations.

use std::collections::BTreeMap;

use super::roles::{Naming, Rule, assign, parameter_elements};
use super::scopes;
use ns_program::{Inspection, Op, Program, Role, TensorInfo, Type, UnsupportedOp, Verdict, calls, flops};

/// Gives parameters their roles and summarises the program. The reader counts `ops`, under its format's names.
pub(super) fn summarise(
    program: &mut Program,
    format: &str,
    producer: &str,
    naming: &[Naming],
    ops: BTreeMap<String, u64>,
) -> Inspection {
    let rule = assign(program, naming);
    let modules = scopes::modules(program);
    let (parameters, is_tied) = parameter_elements(program, rule, !modules.is_empty());
    let (unsupported, flops) = (unsupported(program), flops(program));
    let mut inspection = Inspection {
        format: format.to_owned(),
        producer: producer.to_owned(),
        verdict: if unsupported.is_empty() { Verdict::Import } else { Verdict::Partial },
        inputs: inputs(program),
        outputs: outputs(program),
        parameters,
        buffers: buffers(program),
        flops: flops.count,
        ops,
        modules,
        unsupported,
        ..Inspection::default()
    };
    if rule == Rule::Uses && !program.parameters.is_empty() {
        inspection.notes.push("weights and inputs are told apart by their use: the file does not name them".to_owned());
    }
    if is_tied {
        inspection.notes.push("an embedding and an output projection of one shape count as one tied weight".to_owned());
    }
    inspection.notes.extend(flops.notes());
    let elided = count(program, |op| matches!(op, Op::ElidedConstant));
    if elided > 0 {
        inspection
            .notes
            .push(format!("{elided} constants are left out of the text, so that values cannot be computed"));
    }
    inspection
}

fn count(program: &Program, is: impl Fn(&Op) -> bool) -> u64 {
    program.computations.iter().flat_map(|c| c.instructions.iter()).filter(|i| is(&i.op)).count() as u64
}

fn info(name: &str, ty: &ns_program::ArrayType) -> TensorInfo {
    TensorInfo {
        name: name.to_owned(),
        dtype: ty.element.name().to_owned(),
        shape: ty.dims.clone(),
        open: BTreeMap::new(),
    }
}

fn inputs(program: &Program) -> Vec<TensorInfo> {
    program.parameters.iter().filter(|p| p.role == Role::Input).map(|p| info(&p.name, &p.ty)).collect()
}

fn outputs(program: &Program) -> Vec<TensorInfo> {
    let Some(entry) = program.computations.get(program.entry) else { return Vec::new() };
    let Some(root) = entry.instructions.get(entry.root) else { return Vec::new() };
    let names: Vec<&str> = match root.op {
        Op::Tuple => root.operands.iter().map(|&o| entry.instructions[o].name.as_str()).collect(),
        _ => vec![root.name.as_str()],
    };
    let mut out = Vec::new();
    collect_outputs(&root.ty, &names, &root.name, &mut out);
    out
}

fn collect_outputs(ty: &Type, names: &[&str], whole: &str, out: &mut Vec<TensorInfo>) {
    match ty {
        Type::Token => {}
        Type::Array(array) => out.push(info(names.first().copied().unwrap_or(whole), array)),
        Type::Tuple(parts) => {
            for (i, part) in parts.iter().enumerate() {
                let name = names.get(i).copied().unwrap_or(whole);
                collect_outputs(part, &[name], name, out);
            }
        }
    }
}

fn buffers(program: &Program) -> u64 {
    let parameters = program.parameters.iter().filter(|p| p.role == Role::Buffer).map(|p| p.ty.elements());
    let constants = program.computations.iter().flat_map(|c| c.instructions.iter());
    let constants = constants.filter(|i| matches!(i.op, Op::Constant(_) | Op::ElidedConstant));
    let constants = constants.map(|i| i.ty.array().and_then(ns_program::ArrayType::elements));
    parameters.chain(constants).fold(0u64, |n, elements| n.saturating_add(elements.unwrap_or(0)))
}

/// Why an operation of a dialect of MLIR that is not read is not known: `the dialect tosa is not read`.
fn foreign_dialect(op: &str) -> String {
    const FOREIGN: [&str; 6] = ["tosa", "linalg", "arith", "math", "tensor", "onnx"];
    let dialect = op.split_once('.').map(|(dialect, _)| dialect).filter(|dialect| FOREIGN.contains(dialect));
    let why = |dialect| format!("the dialect {dialect} is not read; export StableHLO");
    dialect.map_or_else(String::new, why)
}

fn unsupported(program: &Program) -> Vec<UnsupportedOp> {
    let mut found: Vec<UnsupportedOp> = Vec::new();
    for instruction in program.computations.iter().flat_map(|c| c.instructions.iter()) {
        let op = match &instruction.op {
            Op::Opaque(foreign) => foreign.name.clone(),
            Op::CustomCall(foreign) if !calls::is_known(&foreign.name) => format!("custom-call {}", foreign.name),
            _ => continue,
        };
        match found.iter_mut().find(|u| u.op == op) {
            Some(known) => known.count += 1,
            None => {
                let (first, why) = (instruction.name.clone(), foreign_dialect(&op));
                found.push(UnsupportedOp { op, count: 1, first, why });
            }
        }
    }
    found
}
