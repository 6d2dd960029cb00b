//! Reads the text that `ns_compiler::hlo::print` writes, so that tests can write modules down. The unit tests of some rooms include this file.

use std::collections::BTreeMap;
use std::str::FromStr;

use ns_base::{Idx as _, IndexVec};
use ns_compiler::hlo::{
    DotDims, FusionBody, HloInstruction, HloModule, InstrId, Literal, OpMetadata, Opcode, ParameterRole, ReduceKind,
    verify,
};
use ns_tensor::kernels::{SliceDim, WindowDim};
use ns_tensor::{DType, Shape};

/// The module that a text describes, verified.
pub fn parse(text: &str) -> Result<HloModule, String> {
    let mut reader = Reader { tokens: tokens(text) };
    reader.mark("HloModule")?;
    let name = reader.text();
    let workflow = if reader.skip(",") { reader.setting("workflow")? } else { "mark_step".to_owned() };
    reader.mark("ENTRY")?;
    reader.mark("{")?;
    let lines = reader.lines()?;
    let root = lines.iter().position(|l| l.is_root).ok_or("no instruction is marked ROOT")?;
    let mut ids = BTreeMap::new();
    let (own, members) = (lines.iter(), lines.iter().flat_map(|l| &l.members));
    for (i, line) in own.chain(members).enumerate() {
        ids.insert(line.instruction.name.clone(), InstrId::from_usize(i));
    }
    let mut instructions = IndexVec::new();
    for line in lines {
        instructions.push(line.instruction(&ids)?);
    }
    let workflow = workflow.parse().map_err(|_| format!("workflow={workflow}"))?;
    let module = HloModule { name, workflow, instructions, root: InstrId::from_usize(root) };
    verify(&module).map_err(|e| e.to_string())?;
    Ok(module)
}

/// Names with `%`, texts with a quotation mark in front, words and numbers, and single signs; from the last to the first.
fn tokens(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let mut end = first.len_utf8();
        let mut token = first.to_string();
        if first == '"' {
            let mut is_escaped = false;
            for c in rest[1..].chars() {
                end += c.len_utf8();
                match c {
                    'n' if is_escaped => token.push('\n'),
                    '\\' | '"' if !is_escaped => {}
                    _ => token.push(c),
                }
                if c == '"' && !is_escaped {
                    break;
                }
                is_escaped = c == '\\' && !is_escaped;
            }
        } else if first == '%' || is_word(first) {
            end = rest[1..].find(|c| !is_word(c)).map_or(rest.len(), |at| at + 1);
            token = rest[..end].to_owned();
        }
        tokens.push(token);
        rest = rest[end..].trim_start();
    }
    tokens.reverse();
    tokens
}

/// An instruction whose operands are still names.
struct Line {
    instruction: HloInstruction,
    operands: Vec<String>,
    members: Vec<Line>,
    is_root: bool,
}

impl Line {
    fn instruction(self, ids: &BTreeMap<String, InstrId>) -> Result<HloInstruction, String> {
        let id = |name: &String| ids.get(name).copied().ok_or_else(|| format!("%{name} is not defined"));
        let mut instruction = self.instruction;
        instruction.operands = self.operands.iter().map(id).collect::<Result<_, _>>()?;
        if let Opcode::Fusion(body) = &mut instruction.opcode {
            for member in self.members {
                body.ids.push(id(&member.instruction.name)?);
                body.members.push(member.instruction(ids)?);
            }
        }
        Ok(instruction)
    }
}

/// What stands between an instruction's brackets and behind them.
#[derive(Default)]
struct Settings {
    argument: String,
    words: BTreeMap<String, String>,
    lists: BTreeMap<String, Vec<u32>>,
    window: Vec<WindowDim>,
    ranges: Vec<SliceDim>,
}

impl Settings {
    fn number<T: FromStr>(&self, name: &str, otherwise: T) -> T {
        self.words.get(name).and_then(|n| n.parse().ok()).unwrap_or(otherwise)
    }

    fn list(&self, name: &str) -> Vec<u32> {
        self.lists.get(name).cloned().unwrap_or_default()
    }

    fn dimension(&self, name: &str) -> u32 {
        self.list(name).first().copied().unwrap_or_default()
    }

    fn kind(&self) -> Result<ReduceKind, String> {
        match self.words.get("to_apply").map(String::as_str) {
            Some("add") => Ok(ReduceKind::Sum),
            Some("maximum") => Ok(ReduceKind::Max),
            Some("minimum") => Ok(ReduceKind::Min),
            Some("multiply") => Ok(ReduceKind::Product),
            other => Err(format!("to_apply={other:?}")),
        }
    }

    fn role(&self) -> ParameterRole {
        match self.words.get("weight") {
            Some(path) => ParameterRole::Weight(path.clone()),
            None => ParameterRole::Input(self.number("input", 0)),
        }
    }

    fn opcode(&self, name: &str) -> Result<Opcode, String> {
        let window = |n: usize| self.window.get(n).copied().ok_or("a window of too few dimensions");
        Ok(match name {
            "parameter" => {
                let index = self.argument.parse().map_err(|_| "a parameter has no number")?;
                Opcode::Parameter { index, role: self.role() }
            }
            "constant" => Opcode::Constant(Literal(self.argument.parse().map_err(|_| "a constant has no number")?)),
            "dot" => Opcode::Dot(DotDims {
                batch: self.number("batch_dims", 0),
                lhs_contracting: self.dimension("lhs_contracting_dims"),
                rhs_contracting: self.dimension("rhs_contracting_dims"),
            }),
            "transpose" => Opcode::Transpose { permutation: self.list("dimensions") },
            "broadcast" => Opcode::Broadcast { dimensions: self.list("dimensions") },
            "convolution" => Opcode::Convolution {
                window: [window(0)?, window(1)?],
                feature_group_count: self.number("feature_group_count", 1),
            },
            "reduce-window" => Opcode::ReduceWindow { kind: self.kind()?, window: [window(2)?, window(3)?] },
            "concatenate" => Opcode::Concatenate { dimension: self.dimension("dimensions") },
            "slice" => Opcode::Slice { ranges: self.ranges.clone() },
            "reduce" => Opcode::Reduce { kind: self.kind()?, dimensions: self.list("dimensions") },
            "custom-call" => {
                Opcode::CustomCall { target: self.words.get("custom_call_target").cloned().unwrap_or_default() }
            }
            "fusion" => Opcode::Fusion(FusionBody { members: Vec::new(), ids: Vec::new() }),
            plain => {
                let found = PLAIN.iter().find(|op| op.name() == plain);
                found.cloned().ok_or_else(|| format!("unknown opcode {plain}"))?
            }
        })
    }
}

/// Opcodes without settings.
const PLAIN: [Opcode; 19] = [
    Opcode::Reshape,
    Opcode::Convert,
    Opcode::Add,
    Opcode::Subtract,
    Opcode::Multiply,
    Opcode::Divide,
    Opcode::Maximum,
    Opcode::Minimum,
    Opcode::Negate,
    Opcode::Exponential,
    Opcode::Log,
    Opcode::Tanh,
    Opcode::Sqrt,
    Opcode::Rsqrt,
    Opcode::Gelu,
    Opcode::Logistic,
    Opcode::Gather,
    Opcode::DynamicUpdateSlice,
    Opcode::Tuple,
];

struct Reader {
    /// From the last to the first.
    tokens: Vec<String>,
}

impl Reader {
    fn next(&mut self) -> String {
        self.tokens.pop().unwrap_or_default()
    }

    /// A word, or the content of a text.
    fn text(&mut self) -> String {
        let token = self.next();
        token.strip_prefix('"').map(str::to_owned).unwrap_or(token)
    }

    fn skip(&mut self, token: &str) -> bool {
        self.tokens.pop_if(|t| t == token).is_some()
    }

    fn mark(&mut self, token: &str) -> Result<(), String> {
        let found = self.next();
        if found == token { Ok(()) } else { Err(format!("{found} where {token} should be")) }
    }

    fn number<T: FromStr>(&mut self) -> Result<T, String> {
        let found = self.next();
        found.parse().map_err(|_| format!("{found} where a number should be"))
    }

    /// `name=value`.
    fn setting(&mut self, name: &str) -> Result<String, String> {
        self.mark(name)?;
        self.mark("=")?;
        Ok(self.text())
    }

    /// Instructions up to the closing brace.
    fn lines(&mut self) -> Result<Vec<Line>, String> {
        let mut lines = Vec::new();
        while !self.skip("}") {
            lines.push(self.line()?);
        }
        Ok(lines)
    }

    /// `[ROOT] %name = shape opcode(operands), settings`.
    fn line(&mut self) -> Result<Line, String> {
        let is_root = self.skip("ROOT");
        let name = self.name()?;
        self.mark("=")?;
        let element = self.next();
        let element = DType::from_hlo_name(&element).ok_or_else(|| format!("unknown element type {element}"))?;
        self.mark("[")?;
        let shape = Shape::new(element, self.numbers::<u64>("]")?);
        let opcode = self.next();
        self.mark("(")?;
        let (mut operands, mut settings, mut members) = (Vec::new(), Settings::default(), Vec::new());
        while !self.skip(")") {
            match self.name() {
                Err(end) if end.is_empty() => return Err("the text ends in the middle".to_owned()),
                Ok(operand) => operands.push(operand),
                Err(number) => settings.argument = number,
            }
            self.skip(",");
        }
        let mut metadata = OpMetadata::default();
        while self.skip(",") {
            let key = self.next();
            self.mark("=")?;
            match key.as_str() {
                "metadata" => {
                    self.mark("{")?;
                    metadata = OpMetadata { op_type: self.setting("op_type")?, op_name: self.setting("op_name")? };
                    self.mark("}")?;
                }
                "calls" => {
                    self.mark("{")?;
                    members = self.lines()?;
                }
                "slice" => settings.ranges = self.ranges()?,
                "window" => settings.window = self.window()?,
                _ if self.skip("{") => {
                    settings.lists.insert(key, self.numbers("}")?);
                }
                _ => {
                    settings.words.insert(key, self.text());
                }
            }
        }
        let opcode = settings.opcode(&opcode)?;
        let instruction = HloInstruction { name, opcode, operands: Vec::new(), shape, metadata };
        Ok(Line { instruction, operands, members, is_root })
    }

    /// `%name`; else the token.
    fn name(&mut self) -> Result<String, String> {
        let token = self.next();
        token.strip_prefix('%').map(str::to_owned).ok_or(token)
    }

    fn numbers<T: FromStr>(&mut self, end: &str) -> Result<Vec<T>, String> {
        let mut numbers = Vec::new();
        while !self.skip(end) {
            numbers.push(self.number()?);
            self.skip(",");
        }
        Ok(numbers)
    }

    /// `{[0:2], [1:9:2]}`.
    fn ranges(&mut self) -> Result<Vec<SliceDim>, String> {
        self.mark("{")?;
        let mut ranges = Vec::new();
        while !self.skip("}") {
            self.mark("[")?;
            let start = self.number()?;
            self.mark(":")?;
            let limit = self.number()?;
            let stride = if self.skip(":") { self.number()? } else { 1 };
            self.mark("]")?;
            self.skip(",");
            ranges.push(SliceDim { start, limit, stride });
        }
        Ok(ranges)
    }

    /// `{size=3x3 stride=2x2 pad=1_1x1_1}`; the size comes first.
    fn window(&mut self) -> Result<Vec<WindowDim>, String> {
        self.mark("{")?;
        let mut window: Vec<WindowDim> = Vec::new();
        while !self.skip("}") {
            let key = self.next();
            self.mark("=")?;
            let value = self.next();
            let number = |text: &str| text.parse::<u64>().map_err(|_| format!("{key}={value}"));
            if key == "size" {
                window = vec![WindowDim::new(1, 1, 0); value.split('x').count()];
            }
            for (dim, text) in window.iter_mut().zip(value.split('x')) {
                match key.as_str() {
                    "size" => dim.size = number(text)?,
                    "stride" => dim.stride = number(text)?,
                    "lhs_dilate" => dim.base_dilation = number(text)?,
                    "rhs_dilate" => dim.window_dilation = number(text)?,
                    "rhs_reversal" => dim.reversed = number(text)? != 0,
                    _ => {
                        let (low, high) = text.split_once('_').ok_or_else(|| format!("{key}={value}"))?;
                        (dim.pad_low, dim.pad_high) = (number(low)?, number(high)?);
                    }
                }
            }
        }
        Ok(window)
    }
}
