//! A program as HLO text that [`read_hlo_text`](super::read_hlo_text) reads back to the same program.
//!
//! Functions that HLO has no opcode for are calls (`chlo.erf_inv`).

use std::fmt::Write as _;

use super::ops::{binary_name, unary_name};
use crate::calls;
use crate::program::{
    Comparison, Computation, ElementType, GatherDims, Instruction, Numbers, Op, Program, ScatterDims, Value, WindowDim,
};
use ns_base::convert::{narrow, nearest_single};

/// Prints a program.
#[must_use]
pub fn print_hlo_text(program: &Program) -> String {
    let mut out = format!("HloModule {}\n", if program.name.is_empty() { "module" } else { &program.name });
    for (id, computation) in program.computations.iter_enumerated() {
        let entry = if id == program.entry { "ENTRY " } else { "" };
        let _ = writeln!(out, "\n{entry}%{}.{} {{", computation.name, id.0);
        for (at, instruction) in computation.instructions.iter_enumerated() {
            let root = if at == computation.root { "ROOT " } else { "" };
            let _ = write!(out, "  {root}%{} = {} ", instruction.name, instruction.ty);
            print_instruction(&mut out, program, computation, instruction);
            out.push('\n');
        }
        out.push_str("}\n");
    }
    out
}

fn print_instruction(out: &mut String, program: &Program, within: &Computation, instruction: &Instruction) {
    let (opcode, settings) = opcode(instruction);
    let operands = match &instruction.op {
        Op::Parameter(n) => n.to_string(),
        Op::Constant(value) => literal(value),
        Op::ElidedConstant => "{...}".to_owned(),
        _ => {
            let names = instruction.operands.iter().map(|&o| format!("%{}", within.instructions[o].name));
            names.collect::<Vec<_>>().join(", ")
        }
    };
    let _ = write!(out, "{opcode}({operands})");
    for setting in settings {
        let _ = write!(out, ", {setting}");
    }
    let callees: Vec<String> =
        instruction.called.iter().map(|c| format!("%{}.{}", program.computations[*c].name, c.0)).collect();
    match (&instruction.op, &callees[..]) {
        (_, []) => {}
        (Op::While, [condition, body]) => {
            let _ = write!(out, ", condition={condition}, body={body}");
        }
        (Op::SelectAndScatter { .. }, [select, scatter]) => {
            let _ = write!(out, ", select={select}, scatter={scatter}");
        }
        (Op::Conditional, branches) => {
            let _ = write!(out, ", branch_computations={{{}}}", branches.join(", "));
        }
        (_, [one]) => {
            let _ = write!(out, ", to_apply={one}");
        }
        (_, many) => {
            let _ = write!(out, ", called_computations={{{}}}", many.join(", "));
        }
    }
    out.push_str(&metadata(instruction));
}

fn metadata(instruction: &Instruction) -> String {
    let (op, scope) = (&instruction.origin.op, &instruction.origin.scope);
    if op.is_empty() && scope.is_empty() {
        return String::new();
    }
    let is_torch = scope.contains('[') || op.contains("::");
    let op = if is_torch { op.replacen("::", "__", 1) } else { op.clone() };
    let op_type = if is_torch { format!("op_type={} ", quoted(&op)) } else { String::new() };
    let op_name = if scope.is_empty() { op } else { format!("{scope}/{op}") };
    format!(", metadata={{{op_type}op_name={}}}", quoted(&op_name))
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn list<T: std::fmt::Display>(items: &[T]) -> String {
    format!("{{{}}}", items.iter().map(T::to_string).collect::<Vec<_>>().join(","))
}

/// The opcode, and the settings after the operands.
fn opcode(instruction: &Instruction) -> (String, Vec<String>) {
    let (name, settings): (&str, Vec<String>) = match &instruction.op {
        Op::Parameter(_) => ("parameter", vec![]),
        Op::Constant(_) | Op::ElidedConstant => ("constant", vec![]),
        Op::Iota { dimension } => ("iota", vec![format!("iota_dimension={dimension}")]),
        Op::Unary(f) => match unary_name(*f) {
            Some(name) => (name, vec![]),
            None => ("custom-call", vec![format!("custom_call_target=\"chlo.{}\"", calls::function_name(*f))]),
        },
        Op::Binary(f) => (binary_name(*f), vec![]),
        Op::Compare(comparison) => ("compare", vec![format!("direction={}", direction(*comparison))]),
        Op::Select => ("select", vec![]),
        Op::Clamp => ("clamp", vec![]),
        Op::Convert => ("convert", vec![]),
        Op::BitcastConvert => ("bitcast-convert", vec![]),
        Op::ReducePrecision { exponent_bits, mantissa_bits } => (
            "reduce-precision",
            vec![format!("exponent_bits={exponent_bits}"), format!("mantissa_bits={mantissa_bits}")],
        ),
        Op::Tuple => ("tuple", vec![]),
        Op::GetTupleElement(i) => ("get-tuple-element", vec![format!("index={i}")]),
        Op::Call => ("call", vec![]),
        Op::While => ("while", vec![]),
        Op::Conditional => ("conditional", vec![]),
        Op::Map => ("map", vec![]),
        Op::Barrier => ("opt-barrier", vec![]),
        Op::CustomCall(call) => (
            "custom-call",
            vec![
                format!("custom_call_target={}", quoted(&call.name)),
                format!("backend_config={}", quoted(&call.config)),
            ],
        ),
        Op::Collective(call) | Op::Opaque(call) => {
            (call.name.as_str(), vec![format!("backend_config={}", quoted(&call.config))])
        }
        _ => array_opcode(&instruction.op),
    };
    (name.to_owned(), settings)
}

/// Operations on arrays with more settings.
fn array_opcode(op: &Op) -> (&'static str, Vec<String>) {
    let dimensions = |d: &[u32]| vec![format!("dimensions={}", list(d))];
    let norm = |epsilon: &f32, feature: &u32| vec![format!("epsilon={epsilon:?}"), format!("feature_index={feature}")];
    match op {
        Op::Broadcast { dimensions: d } => ("broadcast", dimensions(d)),
        Op::Reshape => ("reshape", vec![]),
        Op::Transpose { permutation } => ("transpose", dimensions(permutation)),
        Op::Reverse { dimensions: d } => ("reverse", dimensions(d)),
        Op::Reduce { dimensions: d } => ("reduce", dimensions(d)),
        Op::Concatenate { dimension } => ("concatenate", dimensions(&[*dimension])),
        Op::GetDimensionSize { dimension } => ("get-dimension-size", dimensions(&[*dimension])),
        Op::Sort { dimension, is_stable } => {
            ("sort", vec![format!("dimensions={{{dimension}}}"), format!("is_stable={is_stable}")])
        }
        Op::TopK { k, is_largest } => ("topk", vec![format!("k={k}"), format!("largest={is_largest}")]),
        Op::Slice { starts, limits, strides } => {
            let ranges = (0..starts.len()).map(|i| format!("[{}:{}:{}]", starts[i], limits[i], strides[i]));
            ("slice", vec![format!("slice={{{}}}", ranges.collect::<Vec<_>>().join(", "))])
        }
        Op::Pad { low, high, interior } => {
            let dims = (0..low.len()).map(|i| format!("{}_{}_{}", low[i], high[i], interior[i]));
            ("pad", vec![format!("padding={}", dims.collect::<Vec<_>>().join("x"))])
        }
        Op::DynamicSlice { sizes } => ("dynamic-slice", vec![format!("dynamic_slice_sizes={}", list(sizes))]),
        Op::DynamicUpdateSlice => ("dynamic-update-slice", vec![]),
        Op::Gather(dims) => ("gather", gather(dims)),
        Op::Scatter(dims) => ("scatter", scatter(dims)),
        Op::Dot(dims) => (
            "dot",
            vec![
                format!("lhs_batch_dims={}", list(&dims.lhs_batch)),
                format!("lhs_contracting_dims={}", list(&dims.lhs_contracting)),
                format!("rhs_batch_dims={}", list(&dims.rhs_batch)),
                format!("rhs_contracting_dims={}", list(&dims.rhs_contracting)),
            ],
        ),
        Op::Convolution { window, dims, feature_group_count, batch_group_count } => (
            "convolution",
            vec![
                print_window(window),
                format!(
                    "dim_labels={}_{}->{}",
                    labels(('b', 'f'), &dims.input),
                    labels(('i', 'o'), &dims.kernel),
                    labels(('b', 'f'), &dims.output)
                ),
                format!("feature_group_count={feature_group_count}"),
                format!("batch_group_count={batch_group_count}"),
            ],
        ),
        Op::ReduceWindow { window } => ("reduce-window", vec![print_window(window)]),
        Op::SelectAndScatter { window } => ("select-and-scatter", vec![print_window(window)]),
        Op::BatchNormInference { epsilon, feature } => ("batch-norm-inference", norm(epsilon, feature)),
        Op::BatchNormTraining { epsilon, feature } => ("batch-norm-training", norm(epsilon, feature)),
        Op::BatchNormGrad { epsilon, feature } => ("batch-norm-grad", norm(epsilon, feature)),
        Op::Fft { kind, length } => ("fft", vec![format!("fft_type={kind}"), format!("fft_length={}", list(length))]),
        Op::Rng { distribution } => ("rng", vec![format!("distribution={distribution}")]),
        Op::RngBitGenerator { algorithm } => ("rng-bit-generator", vec![format!("algorithm={algorithm}")]),
        _ => ("unknown", vec![]),
    }
}

const fn direction(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "EQ",
        Comparison::Ne => "NE",
        Comparison::Ge => "GE",
        Comparison::Gt => "GT",
        Comparison::Le => "LE",
        Comparison::Lt => "LT",
    }
}

fn gather(dims: &GatherDims) -> Vec<String> {
    vec![
        format!("offset_dims={}", list(&dims.offset_dims)),
        format!("collapsed_slice_dims={}", list(&dims.collapsed_slice_dims)),
        format!("start_index_map={}", list(&dims.start_index_map)),
        format!("index_vector_dim={}", dims.index_vector_dim),
        format!("operand_batching_dims={}", list(&dims.operand_batching_dims)),
        format!("start_indices_batching_dims={}", list(&dims.start_indices_batching_dims)),
        format!("slice_sizes={}", list(&dims.slice_sizes)),
    ]
}

fn scatter(dims: &ScatterDims) -> Vec<String> {
    vec![
        format!("update_window_dims={}", list(&dims.update_window_dims)),
        format!("inserted_window_dims={}", list(&dims.inserted_window_dims)),
        format!("scatter_dims_to_operand_dims={}", list(&dims.scatter_dims_to_operand_dims)),
        format!("index_vector_dim={}", dims.index_vector_dim),
        format!("input_batching_dims={}", list(&dims.input_batching_dims)),
        format!("scatter_indices_batching_dims={}", list(&dims.scatter_indices_batching_dims)),
    ]
}

fn labels((first, second): (char, char), (a, b, spatial): &(u32, u32, Vec<u32>)) -> String {
    let mut out = vec!['?'; spatial.len() + 2];
    let mut set = |at: u32, label: char| {
        if let Some(slot) = out.get_mut(at as usize) {
            *slot = label;
        }
    };
    set(*a, first);
    set(*b, second);
    for (i, &at) in spatial.iter().enumerate() {
        set(at, char::from_digit(narrow(i), 10).unwrap_or('?'));
    }
    out.into_iter().collect()
}

fn print_window(window: &[WindowDim]) -> String {
    let field = |name: &str, of: &dyn Fn(&WindowDim) -> String| {
        format!("{name}={}", window.iter().map(of).collect::<Vec<_>>().join("x"))
    };
    if window.is_empty() {
        return "window={}".to_owned();
    }
    let fields = [
        field("size", &|w| w.size.to_string()),
        field("stride", &|w| w.stride.to_string()),
        field("pad", &|w| format!("{}_{}", w.pad_low, w.pad_high)),
        field("lhs_dilate", &|w| w.base_dilation.to_string()),
        field("rhs_dilate", &|w| w.window_dilation.to_string()),
        field("rhs_reversal", &|w| u8::from(w.is_reversed).to_string()),
    ];
    format!("window={{{}}}", fields.join(" "))
}

/// Numbers of a constant, without the braces of each dimension.
fn literal(value: &Value) -> String {
    let element = value.ty.element;
    let real = |n: &f64| if n.is_nan() { "nan".to_owned() } else { shortest(*n, element) };
    let items: Vec<String> = match &value.numbers {
        Numbers::Real(numbers) => numbers.iter().map(real).collect(),
        Numbers::Complex(numbers) => numbers.iter().map(|[re, im]| format!("({}, {})", real(re), real(im))).collect(),
        Numbers::Whole(numbers) => numbers.iter().map(|n| whole(*n, element)).collect(),
    };
    if value.ty.dims.is_empty() { items.join("") } else { format!("{{{}}}", items.join(", ")) }
}

/// The shortest text that reads back to the number.
fn shortest(n: f64, element: ElementType) -> String {
    match element {
        ElementType::F64 | ElementType::C128 => format!("{n:?}"),
        _ => format!("{:?}", nearest_single(n)),
    }
}

fn whole(n: i64, element: ElementType) -> String {
    match element {
        ElementType::Pred => (n != 0).to_string(),
        ElementType::U64 => n.cast_unsigned().to_string(),
        _ => n.to_string(),
    }
}
