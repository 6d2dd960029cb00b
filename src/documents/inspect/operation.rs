//! The operations of a program before any pass, with their inputs and costs.

use std::collections::{BTreeMap, BTreeSet};

use ns_compiler::hlo::{HloInstruction, HloModule, InstrId, Opcode, ParameterRole};
use ns_tensor::Shape;

/// An instruction of the program, without weights and constants, which belong to the instructions that read them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operation {
    /// Its name in the program: `dot.3`.
    pub name: String,
    /// Its opcode: `dot`.
    pub opcode: &'static str,
    /// Modules around it, outermost first.
    pub scope: Vec<String>,
    /// The operator of the framework that it is a part of: `aten::addmm`; `None` if the file has only the instruction.
    pub framework: Option<String>,
    pub shape: Shape,
    /// Its inputs, as text with the shape of each.
    pub reads: Vec<String>,
    /// The operations that produce its inputs.
    pub from: Vec<usize>,
    /// Elements of the weights that no earlier operation reads.
    pub parameters: u64,
    /// Bytes of those weights.
    pub weight_bytes: u64,
    /// FLOPs of a product or a convolution, two for each multiply-add.
    pub flops: u64,
    /// Bytes of its result, and of the weights that no earlier operation reads; of a table of weights only the rows that it
    /// looks up. A view of a value has no bytes of its own. So each value counts once in a sum.
    pub bytes: u64,
    /// Whether its cost is an estimate.
    pub is_estimate: bool,
    /// Whether nothing is known about its cost.
    pub is_unknown: bool,
    /// Why it cannot run on a core, if it cannot.
    pub refused: Option<String>,
    /// The name of a custom operation without a rule.
    pub work: Option<String>,
    /// Whether it is an input of the model.
    pub is_input: bool,
}

/// Most letters of a name that are kept: a file may have names of a megabyte, and every node below repeats them.
const MOST_NAME: usize = 160;

/// The beginning of a name.
pub(super) fn short(name: &str) -> &str {
    name.char_indices().nth(MOST_NAME).map_or(name, |(end, _)| &name[..end])
}

/// All operations of a module in the order of the program, and which of them give its results. `buffers` are weights that are no
/// parameters.
pub(super) fn operations(module: &HloModule, buffers: &BTreeSet<String>) -> (Vec<Operation>, Vec<usize>) {
    let mut all: Vec<Operation> = Vec::new();
    let mut place: BTreeMap<InstrId, usize> = BTreeMap::new();
    let mut counted: BTreeSet<InstrId> = BTreeSet::new();
    for (id, instruction) in module.instructions.iter_enumerated() {
        if matches!(
            instruction.opcode,
            Opcode::Tuple | Opcode::Constant(_) | Opcode::Parameter { role: ParameterRole::Weight(_), .. }
        ) {
            continue;
        }
        place.insert(id, all.len());
        let mut found = operation(module, instruction);
        for &operand in &instruction.operands {
            if let Some(&from) = place.get(&operand) {
                found.from.push(from);
            }
            let read = &module.instructions[operand];
            let weight = match &read.opcode {
                Opcode::Parameter { role: ParameterRole::Weight(name), .. } => Some(name),
                _ => None,
            };
            let is_weight = weight.is_some();
            if is_weight && matches!(instruction.opcode, Opcode::Transpose { .. }) {
                // The compiler folds it into the product that reads it.
                found.bytes = 0;
            }
            if is_weight && counted.insert(operand) {
                let is_parameter = weight.is_some_and(|name| !buffers.contains(name));
                found.parameters =
                    found.parameters.saturating_add(if is_parameter { read.shape.elements() } else { 0 });
                found.weight_bytes = found.weight_bytes.saturating_add(read.shape.bytes());
                found.bytes = found.bytes.saturating_add(bytes_read(instruction, &read.shape));
            }
        }
        all.push(found);
    }
    let root = &module.instructions[module.root];
    let results: Vec<InstrId> =
        if matches!(root.opcode, Opcode::Tuple) { root.operands.clone() } else { vec![module.root] };
    let results = results.iter().filter_map(|id| place.get(id).copied()).collect();
    (all, results)
}

fn operation(module: &HloModule, instruction: &HloInstruction) -> Operation {
    let (scope, framework) = origin(instruction);
    let is_input = matches!(instruction.opcode, Opcode::Parameter { .. });
    let operand = |id: &InstrId| {
        let read = &module.instructions[*id];
        let name = match &read.opcode {
            Opcode::Parameter { role: ParameterRole::Weight(path), .. } => format!("weight {}", short(path)),
            Opcode::Parameter { role: ParameterRole::Input(n), .. } => format!("input {n}"),
            Opcode::Constant(value) => format!("constant {}", value.0),
            _ => format!("%{}", short(&read.name)),
        };
        format!("{name} {}", read.shape)
    };
    Operation {
        name: instruction.name.clone(),
        opcode: instruction.opcode.name(),
        scope,
        framework,
        shape: instruction.shape.clone(),
        reads: instruction.operands.iter().map(operand).collect(),
        from: Vec::new(),
        parameters: 0,
        weight_bytes: 0,
        flops: flops(module, instruction),
        bytes: bytes_made(instruction),
        is_estimate: matches!(instruction.opcode, Opcode::Work(_)),
        is_unknown: false,
        refused: None,
        work: match &instruction.opcode {
            Opcode::Work(work) => Some(work.name.clone()),
            _ => None,
        },
        is_input,
    }
}

/// Modules and operator of an instruction, from its path `NN[model]/Linear[layer1]/aten__addmm_dot`.
fn origin(instruction: &HloInstruction) -> (Vec<String>, Option<String>) {
    let path = instruction.metadata.op_name.as_str();
    let scope = path.rsplit_once('/').map_or("", |(scope, _)| scope);
    let scope = scope.split('/').filter(|s| !s.is_empty()).map(str::to_owned).collect();
    let end = format!("_{}", instruction.opcode.name());
    let framework = instruction.metadata.op_type.strip_suffix(&end).filter(|op| !op.is_empty());
    (scope, framework.map(|op| op.replacen("__", "::", 1)))
}

fn flops(module: &HloModule, instruction: &HloInstruction) -> u64 {
    let shape = |n: usize| instruction.operands.get(n).map(|id| &module.instructions[*id].shape);
    let each = |elements: u64, depth: u64| elements.saturating_mul(depth).saturating_mul(2);
    match (&instruction.opcode, shape(0), shape(1)) {
        (Opcode::Dot(dims), Some(lhs), _) => {
            each(instruction.shape.elements(), lhs.dims.get(dims.lhs_contracting as usize).copied().unwrap_or(1))
        }
        (Opcode::Convolution { window, feature_group_count }, Some(x), Some(weight)) => {
            if window.iter().any(|w| w.base_dilation > 1) {
                // Transposed convolution: every input element meets the kernel once for each output channel.
                let kernel: u64 = weight.dims.iter().skip(2).product();
                let out = weight.dims.first().copied().unwrap_or(1) / (*feature_group_count).max(1);
                each(x.elements(), kernel.saturating_mul(out))
            } else {
                each(instruction.shape.elements(), weight.dims.iter().skip(1).product())
            }
        }
        _ => 0,
    }
}

/// Bytes of an instruction's result, if it is not only a view of a value.
fn bytes_made(instruction: &HloInstruction) -> u64 {
    match instruction.opcode {
        Opcode::Reshape | Opcode::Broadcast { .. } => 0,
        _ => instruction.shape.bytes(),
    }
}

/// Bytes that an instruction reads of a weight: of a table the rows that it looks up, which are as large as its result.
fn bytes_read(instruction: &HloInstruction, weight: &Shape) -> u64 {
    match instruction.opcode {
        Opcode::Gather | Opcode::Slice { .. } => instruction.shape.bytes().min(weight.bytes()),
        _ => weight.bytes(),
    }
}
