//! Writing HLO text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::hlo::{Elementwise, HloInstruction, HloModule, InstrId, Literal, Opcode, ParameterRole, ReduceKind};
use ns_tensor::kernels::WindowDim;

use super::window::{print_ranges, print_window};

/// The whole module as text.
pub fn print(module: &HloModule) -> String {
    let names = Names::of(module);
    let mut out = format!("HloModule {}, workflow={}\n\nENTRY {{\n", quote_if_needed(&module.name), module.workflow);
    for (id, instruction) in module.instructions.iter_enumerated() {
        line(&mut out, instruction, &names, 1, id == module.root);
    }
    out.push_str("}\n");
    out
}

/// Every instruction as profiles show it, by id, members of fusions included: `%dot = dot(%p4, %transpose.1)`.
pub fn expressions(module: &HloModule) -> BTreeMap<InstrId, String> {
    let names = Names::of(module);
    let show = |i: &HloInstruction| format!("%{} = {}({})", i.name, i.opcode.name(), names.operands(i));
    let mut all: BTreeMap<InstrId, String> =
        module.instructions.iter_enumerated().map(|(id, i)| (id, show(i))).collect();
    for instruction in module.instructions.iter() {
        if let Opcode::Fusion(body) = &instruction.opcode {
            all.extend(body.ids.iter().copied().zip(body.members.iter().map(show)));
        }
    }
    all
}

/// Names by id, members of fusions included.
struct Names<'m>(BTreeMap<InstrId, &'m str>);

impl<'m> Names<'m> {
    fn of(module: &'m HloModule) -> Self {
        let mut names: BTreeMap<InstrId, &str> =
            module.instructions.iter_enumerated().map(|(id, i)| (id, i.name.as_str())).collect();
        for instruction in module.instructions.iter() {
            if let Opcode::Fusion(body) = &instruction.opcode {
                names.extend(body.ids.iter().copied().zip(body.members.iter().map(|m| m.name.as_str())));
            }
        }
        Self(names)
    }

    fn operands(&self, instruction: &HloInstruction) -> String {
        let list: Vec<String> =
            instruction.operands.iter().map(|o| format!("%{}", self.0.get(o).copied().unwrap_or("?"))).collect();
        list.join(", ")
    }
}

fn line(out: &mut String, i: &HloInstruction, names: &Names<'_>, depth: usize, root: bool) {
    let indent = "  ".repeat(depth);
    let mark = if root { "ROOT " } else { "" };
    let operands = match &i.opcode {
        Opcode::Parameter { index, .. } => index.to_string(),
        Opcode::Constant(Literal(value)) => literal(*value),
        _ => names.operands(i),
    };
    // Writing to a String cannot fail.
    let _ = write!(out, "{indent}{mark}%{} = {} {}({operands})", i.name, i.shape, i.opcode.name());
    attributes(out, &i.opcode);
    if let Opcode::Fusion(body) = &i.opcode {
        out.push_str(", calls={\n");
        for (n, member) in body.members.iter().enumerate() {
            line(out, member, names, depth + 1, n + 1 == body.members.len());
        }
        let _ = write!(out, "{indent}}}");
    }
    let m = &i.metadata;
    if !m.op_type.is_empty() || !m.op_name.is_empty() {
        let _ = write!(out, ", metadata={{op_type={} op_name={}}}", quote(&m.op_type), quote(&m.op_name));
    }
    out.push('\n');
}

fn attributes(out: &mut String, opcode: &Opcode) {
    let text = match opcode {
        Opcode::Parameter { role: ParameterRole::Input(n), .. } => format!(", input={n}"),
        Opcode::Parameter { role: ParameterRole::Weight(path), .. } => format!(", weight={}", quote(path)),
        Opcode::Dot(d) => {
            let batch = if d.batch == 0 { String::new() } else { format!(", batch_dims={}", d.batch) };
            format!(
                "{batch}, lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}",
                d.lhs_contracting, d.rhs_contracting
            )
        }
        Opcode::Transpose { permutation: list } | Opcode::Broadcast { dimensions: list } => {
            format!(", dimensions={{{}}}", numbers(list))
        }
        Opcode::Reduce { kind, dimensions } => {
            format!(", dimensions={{{}}}, to_apply={}", numbers(dimensions), to_apply(*kind))
        }
        Opcode::Convolution { window, feature_group_count } => {
            let groups = match feature_group_count {
                1 => String::new(),
                n => format!(", feature_group_count={n}"),
            };
            format!(", window={}{groups}", print_window(window))
        }
        // As in XLA, the window of a reduction has all of the operand's dimensions.
        Opcode::ReduceWindow { kind, window: [height, width] } => {
            let one = WindowDim::new(1, 1, 0);
            format!(", window={}, to_apply={}", print_window(&[one, one, *height, *width]), to_apply(*kind))
        }
        Opcode::SelectAndScatter { window: [height, width] } => {
            let one = WindowDim::new(1, 1, 0);
            format!(", window={}, select=greater, scatter=add", print_window(&[one, one, *height, *width]))
        }
        Opcode::Scatter => ", to_apply=add".to_owned(),
        Opcode::Copy { assigns } => format!(", assigns={}", quote(assigns)),
        Opcode::Elementwise(Elementwise::Compare(comparison)) => {
            format!(", direction={}", format!("{comparison:?}").to_uppercase())
        }
        Opcode::Concatenate { dimension } => format!(", dimensions={{{dimension}}}"),
        Opcode::Slice { ranges } => format!(", slice={}", print_ranges(ranges)),
        Opcode::CustomCall { target } => format!(", custom_call_target={}", quote(target)),
        _ => return,
    };
    out.push_str(&text);
}

const fn to_apply(kind: ReduceKind) -> &'static str {
    match kind {
        ReduceKind::Sum => "add",
        ReduceKind::Max => "maximum",
        ReduceKind::Min => "minimum",
        ReduceKind::Product => "multiply",
    }
}

fn numbers(list: &[u32]) -> String {
    list.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// The shortest text that reads back to the same bits; all NaNs are written alike.
fn literal(value: f32) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "inf".to_owned() } else { "-inf".to_owned() }
    } else {
        format!("{value:?}")
    }
}

fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn quote_if_needed(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c));
    if plain { name.to_owned() } else { quote(name) }
}
