//! A program of a module: functions become computations, regions become computations that take what they read around them.

use super::attributes::{Dense, dense};
use super::dynamic::{OpenSizes, folded, known, with_fixed_sizes};
use super::ops::{is_total_order, op_of};
use super::parse::error;
use super::syntax::{Argument, Function, Module, OpenType, Operation, Region, Use};
use crate::base::{FxHashMap, FxHashSet, IndexVec};
use crate::import::program::infer::{Inference, Signature};
use crate::import::program::{
    Builder, Computation, ComputationId, Foreign, InstructionId, Op, Origin, Program, ProgramParameter, Role, Type,
    Value, WeightData,
};
use crate::import::{ImportError, calls, scopes};

/// How deep calls and regions may nest.
const MOST_NESTING: u32 = 100;

/// How many functions are converted: with open sizes, each call is one.
const MOST_CONVERSIONS: u32 = 20_000;

/// An argument of a call: its type, and its numbers where they are known.
pub(super) type Given = (Type, Option<Value>);

/// A function while its module is converted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done(ComputationId),
}

/// Converts the functions of a module.
pub(super) struct Converter<'m, 'a> {
    pub module: &'m Module<'a>,
    pub source: &'a str,
    functions: FxHashMap<&'a str, usize>,
    states: Vec<State>,
    pub computations: IndexVec<ComputationId, Computation>,
    signatures: Vec<Signature>,
    conversions: u32,
}

/// Values by name, in one computation.
#[derive(Default)]
struct Scope<'a> {
    values: FxHashMap<&'a str, Bound>,
    /// Values of the surroundings by name and result's number.
    outer: FxHashMap<(&'a str, u32), InstructionId>,
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Bound {
    One(InstructionId),
    /// Several results.
    Tuple(InstructionId),
}

/// A computation while it is made.
struct Frame<'a> {
    builder: Builder,
    scope: Scope<'a>,
    elements: FxHashMap<(InstructionId, u32), InstructionId>,
    depth: u32,
}

impl Frame<'_> {
    fn new(depth: u32) -> Self {
        Self { builder: Builder::default(), scope: Scope::default(), elements: FxHashMap::default(), depth }
    }

    fn element(&mut self, tuple: InstructionId, k: u32) -> InstructionId {
        if let Some(&known) = self.elements.get(&(tuple, k)) {
            return known;
        }
        let id = self.builder.element(tuple, k);
        self.elements.insert((tuple, k), id);
        id
    }
}

impl<'m, 'a> Converter<'m, 'a> {
    pub fn new(module: &'m Module<'a>, source: &'a str) -> Self {
        let functions = module.functions.iter().enumerate().map(|(i, f)| (f.name, i)).collect();
        let states = vec![State::New; module.functions.len()];
        Self {
            module,
            source,
            functions,
            states,
            computations: IndexVec::new(),
            signatures: Vec::new(),
            conversions: 0,
        }
    }

    fn error(&self, at: usize, what: impl Into<String>) -> ImportError {
        error(self.source, at, what)
    }

    fn finish(&mut self, frame: Frame<'a>, name: &str, root: InstructionId) -> ComputationId {
        let computation = frame.builder.finish(name, root);
        let parameters = computation.instructions.iter().filter(|i| matches!(i.op, Op::Parameter(_)));
        let parameters = parameters.map(|i| i.ty.clone()).collect();
        self.signatures.push(Signature { parameters, result: computation.instructions[root].ty.clone() });
        self.computations.push(computation)
    }

    /// The computation of a function that is called with `arguments`.
    pub fn function(&mut self, index: usize, arguments: &[Given], depth: u32) -> Result<ComputationId, ImportError> {
        let function: &Function<'a> = &self.module.functions[index];
        let Some(depth) = depth.checked_sub(1).filter(|_| self.conversions < MOST_CONVERSIONS) else {
            return Err(self.error(function.at, "calls nest too deep"));
        };
        match self.states[index] {
            State::Done(id) => return Ok(id),
            State::Open => {
                return Err(self.error(function.at, format!("the function {:?} calls itself", function.name)));
            }
            State::New => self.states[index] = State::Open,
        }
        self.conversions += 1;
        let mut frame = Frame::new(depth);
        for (i, argument) in function.body.arguments.iter().enumerate() {
            let given = arguments.get(i).filter(|_| self.module.is_open);
            parameter(&mut frame, argument, i, given);
        }
        let returned = self.body(&mut frame, &function.body.body, function.at)?;
        let root = single(&mut frame, returned);
        let id = self.finish(frame, function.name, root);
        // With open sizes the next call may give others.
        self.states[index] = if self.module.is_open { State::New } else { State::Done(id) };
        Ok(id)
    }

    /// Operations of a body; what its return gives.
    fn body(
        &mut self,
        frame: &mut Frame<'a>,
        body: &[Operation<'a>],
        at: usize,
    ) -> Result<Vec<InstructionId>, ImportError> {
        for operation in body {
            if operation.name.ends_with(".return") {
                return operation.operands.iter().map(|read| self.read(frame, read)).collect();
            }
            frame.builder.origin = scopes::origin("", self.module.label(operation.location));
            let id = self.operation(frame, operation)?;
            self.bind(frame, operation, id);
        }
        Err(self.error(at, "a function or a region does not return"))
    }

    fn bind(&self, frame: &mut Frame<'a>, operation: &Operation<'a>, id: InstructionId) {
        match operation.results[..] {
            [] => {}
            [(name, 1)] => {
                frame.scope.values.insert(name, Bound::One(id));
            }
            [(name, _)] => {
                frame.scope.values.insert(name, Bound::Tuple(id));
            }
            // `%values, %indices = ..`
            ref many => {
                for (k, (name, _)) in many.iter().enumerate() {
                    let element = frame.element(id, k as u32);
                    frame.scope.values.insert(name, Bound::One(element));
                }
            }
        }
    }

    fn read(&self, frame: &mut Frame<'a>, read: &Use<'a>) -> Result<InstructionId, ImportError> {
        if let Some(&outer) = frame.scope.outer.get(&(read.name, read.index)) {
            return Ok(outer);
        }
        match frame.scope.values.get(read.name).copied() {
            Some(Bound::One(id)) if read.index == 0 => Ok(id),
            Some(Bound::Tuple(id)) => {
                let parts = if let Type::Tuple(parts) = frame.builder.ty(id) { parts.len() } else { 0 };
                if (read.index as usize) < parts {
                    return Ok(frame.element(id, read.index));
                }
                Err(self.error(read.at, format!("the value {} has {parts} results", clip(read.name))))
            }
            _ => Err(self.error(read.at, format!("the value {} is not defined before it is read", clip(read.name)))),
        }
    }

    fn operation(&mut self, frame: &mut Frame<'a>, operation: &Operation<'a>) -> Result<InstructionId, ImportError> {
        let name = operation.results.first().map_or("unnamed", |(name, _)| name.trim_start_matches('%')).to_owned();
        let mut operands = Vec::with_capacity(operation.operands.len());
        for read in &operation.operands {
            operands.push(self.read(frame, read)?);
        }
        let failed = |what: String| self.error(operation.at, format!("{}: {what}", operation.name));
        match operation.name.as_str() {
            "func.call" => return self.call(frame, operation, &name, operands),
            "stablehlo.constant" | "mhlo.constant" | "chlo.constant" => return self.constant(frame, operation, &name),
            "stablehlo.while" | "mhlo.while" => return self.loops(frame, operation, &name, operands),
            "stablehlo.case" | "stablehlo.if" | "mhlo.case" | "mhlo.if" => {
                return self.branches(frame, operation, &name, operands);
            }
            "stablehlo.custom_call" | "mhlo.custom_call" => return self.custom_call(frame, operation, &name, operands),
            "stablehlo.composite" | "mhlo.composite" => return self.call(frame, operation, &name, operands),
            "sdy.sharding_constraint" | "sdy.reshard" if operands.len() == 1 => return Ok(operands[0]),
            "sdy.manual_computation" => {
                let instead = "export the model for one device, without a mesh";
                let what = "sdy.manual_computation: the module is divided over several devices";
                return Err(ImportError { instead: instead.to_owned(), ..self.error(operation.at, what) });
            }
            _ => {}
        }
        let types: Vec<Type> = operands.iter().map(|&o| frame.builder.ty(o).clone()).collect();
        let types: Vec<&Type> = types.iter().collect();
        if self.module.is_open {
            let declared = declared(&operation.types);
            let fixed = with_fixed_sizes(operation, &frame.builder, &operands, &declared).map_err(failed)?;
            if let Some((op, operands, ty)) = fixed {
                let types: Vec<Type> = operands.iter().map(|&o| frame.builder.ty(o).clone()).collect();
                let inferred = || self.result_type(operation, &op, &types.iter().collect::<Vec<_>>(), &[]);
                let ty = ty.map_or_else(inferred, Ok)?;
                return Ok(frame.builder.push(&name, op, operands, ty));
            }
        }
        let op = op_of(operation, &types).map_err(failed)?;
        let op = op.ok_or_else(|| self.error(operation.at, format!("{}: it has no meaning here", operation.name)))?;
        let mut called = Vec::new();
        if let Some(callee) =
            operation.words.iter().position(|w| *w == "applies").and_then(|i| operation.words.get(i + 1))
        {
            called.push(self.applied(operation, callee, &types)?);
        }
        for region in &operation.regions {
            called.push(self.plain_region(frame, region, operation.at)?);
        }
        let ty = self.result_type(operation, &op, &types, &called)?;
        if self.module.is_open
            && let Some(value) = folded(&op, &frame.builder, &operands, &ty)
        {
            return Ok(frame.builder.push(&name, Op::Constant(Box::new(value)), Vec::new(), ty));
        }
        if let Op::Compare(comparison) = op
            && is_total_order(operation)
            && operands.len() == 2
        {
            return Ok(frame.builder.compare_total_order(&name, comparison, [operands[0], operands[1]], ty));
        }
        Ok(frame.builder.push_call(&name, op, operands, called, ty))
    }

    /// The result's type as written, sizes that are left open from the operands.
    fn result_type(
        &self,
        operation: &Operation<'a>,
        op: &Op,
        operands: &[&Type],
        called: &[ComputationId],
    ) -> Result<Type, ImportError> {
        let declared = declared(&operation.types);
        if operation.types.iter().all(|t| t.open.is_empty()) {
            return Ok(declared);
        }
        let failed = |what: String| {
            let instead = "export the model with fixed sizes";
            let error = self.error(operation.at, format!("{} has an open size: {what}", operation.name));
            ImportError { instead: instead.to_owned(), ..error }
        };
        if matches!(op, Op::Reshape | Op::Broadcast { .. } | Op::Iota { .. } | Op::Opaque(_)) {
            return Err(failed("it does not follow from its operands".to_owned()));
        }
        let called: Vec<&Signature> = called.iter().map(|c| &self.signatures[c.0 as usize]).collect();
        Inference { op, operands, called: &called, declared: &declared }.result().map_err(failed)
    }

    fn call(
        &mut self,
        frame: &mut Frame<'a>,
        operation: &Operation<'a>,
        name: &str,
        operands: Vec<InstructionId>,
    ) -> Result<InstructionId, ImportError> {
        let symbol = operation.words.iter().find(|w| w.starts_with('@')).copied();
        let symbol = symbol.or_else(|| operation.attribute("callee").or_else(|| operation.attribute("decomposition")));
        let callee = symbol.unwrap_or("").trim_start_matches('@');
        let Some(&index) = self.functions.get(callee) else {
            return Err(self.error(operation.at, format!("a function {:?} is called and not defined", clip(callee))));
        };
        let given: Vec<Given> = operands.iter().map(|&o| given(&frame.builder, o)).collect();
        let id = self.function(index, &given, frame.depth)?;
        let ty = self.signatures[id.0 as usize].result.clone();
        Ok(frame.builder.push_call(name, Op::Call, operands, vec![id], ty))
    }

    fn constant(
        &self,
        frame: &mut Frame<'a>,
        operation: &Operation<'a>,
        name: &str,
    ) -> Result<InstructionId, ImportError> {
        let ty = declared(&operation.types);
        let word = operation.words.iter().find(|w| w.starts_with("dense")).copied();
        let value = word.or_else(|| operation.attribute("value").map(before_type)).unwrap_or("");
        let Some(array) = ty.array() else {
            return Err(self.error(operation.at, format!("a constant of {ty}")));
        };
        let failed = |what| self.error(operation.at, format!("stablehlo.constant: {what}"));
        Ok(match dense(value, array).map_err(failed)? {
            Dense::Splat(value) => frame.builder.splat(name, value, &array.dims),
            Dense::All(value) => frame.builder.push(name, Op::Constant(Box::new(value)), Vec::new(), ty),
            Dense::Elided => frame.builder.push(name, Op::ElidedConstant, Vec::new(), ty),
        })
    }

    fn custom_call(
        &self,
        frame: &mut Frame<'a>,
        operation: &Operation<'a>,
        name: &str,
        operands: Vec<InstructionId>,
    ) -> Result<InstructionId, ImportError> {
        let symbol = operation.words.iter().find(|w| w.starts_with('@')).copied();
        let target = symbol.or_else(|| operation.attribute("call_target_name")).unwrap_or("");
        let target = target.trim_start_matches('@').trim_matches('"');
        // A check of sizes: they are known by now.
        if let ("shape_assertion", Some(&condition)) = (target, operands.first()) {
            return Ok(condition);
        }
        let config = operation.attribute("backend_config").unwrap_or("").trim_matches('"');
        let op = {
            let types: Vec<&Type> = operands.iter().map(|&o| frame.builder.ty(o)).collect();
            calls::meaning(target, config, &types, &declared(&operation.types))
        };
        let types: Vec<Type> = operands.iter().map(|&o| frame.builder.ty(o).clone()).collect();
        let ty = self.result_type(operation, &op, &types.iter().collect::<Vec<_>>(), &[])?;
        Ok(frame.builder.push(name, op, operands, ty))
    }

    /// `applies stablehlo.add`: a computation of one operation on two numbers.
    fn applied(
        &mut self,
        operation: &Operation<'a>,
        callee: &str,
        types: &[&Type],
    ) -> Result<ComputationId, ImportError> {
        let element = types.first().and_then(|t| t.array()).map(|a| a.element);
        let element = element.ok_or_else(|| self.error(operation.at, "it reduces no array"))?;
        let one = Type::Array(crate::import::program::ArrayType::new(element, []));
        let inner =
            Operation { name: callee.to_owned(), attributes: Vec::new(), words: Vec::new(), ..operation.clone() };
        let op = op_of(&inner, &[&one, &one]).ok().flatten().filter(|op| matches!(op, Op::Binary(_)));
        let op = op.unwrap_or_else(|| Op::Opaque(Foreign { name: callee.to_owned(), config: String::new() }));
        let mut frame = Frame::new(0);
        let left = frame.builder.push("left", Op::Parameter(0), Vec::new(), one.clone());
        let right = frame.builder.push("right", Op::Parameter(1), Vec::new(), one.clone());
        let root = frame.builder.push("result", op, vec![left, right], one);
        Ok(self.finish(frame, callee, root))
    }

    /// A region of numbers: of a reduction, a sort, a scatter. Constants that it reads around it are made again inside.
    fn plain_region(
        &mut self,
        around: &mut Frame<'a>,
        region: &Region<'a>,
        at: usize,
    ) -> Result<ComputationId, ImportError> {
        let mut frame = self.frame_in(around, at)?;
        for read in outer_reads(&[region]) {
            let id = self.read(around, &read)?;
            let copied = copy_constant(around, &mut frame, id);
            let copied =
                copied.ok_or_else(|| self.error(read.at, format!("the region reads {} around it", clip(read.name))))?;
            frame.scope.outer.insert((read.name, read.index), copied);
        }
        for (i, argument) in region.arguments.iter().enumerate() {
            parameter(&mut frame, argument, i, None);
        }
        let returned = self.body(&mut frame, &region.body, at)?;
        let root = single(&mut frame, returned);
        Ok(self.finish(frame, "region", root))
    }

    fn frame_in(&self, around: &Frame<'a>, at: usize) -> Result<Frame<'a>, ImportError> {
        around.depth.checked_sub(1).map(Frame::new).ok_or_else(|| self.error(at, "regions nest too deep"))
    }

    fn loops(
        &mut self,
        frame: &mut Frame<'a>,
        operation: &Operation<'a>,
        name: &str,
        mut operands: Vec<InstructionId>,
    ) -> Result<InstructionId, ImportError> {
        let [condition, body] = &operation.regions[..] else {
            return Err(self.error(operation.at, "a loop has a condition and a body"));
        };
        let carried = operands.len();
        let captured = outer_reads(&[condition, body]);
        for read in &captured {
            operands.push(self.read(frame, read)?);
        }
        let types: Vec<Type> = operands.iter().map(|&o| frame.builder.ty(o).clone()).collect();
        let whole = Type::Tuple(types);
        let mut called = Vec::new();
        for (i, region) in [condition, body].into_iter().enumerate() {
            if region.arguments.len() != carried {
                return Err(self.error(
                    operation.at,
                    format!("a loop carries {carried} values and its region takes {}", region.arguments.len()),
                ));
            }
            let mut inner = self.frame_in(frame, operation.at)?;
            let kept = open_tuple(&mut inner, &whole, &region.arguments, &captured);
            let mut returned = self.body(&mut inner, &region.body, operation.at)?;
            let root = if i == 1 {
                returned.extend(kept);
                let types = returned.iter().map(|&r| inner.builder.ty(r).clone()).collect();
                inner.builder.push("next", Op::Tuple, returned, Type::Tuple(types))
            } else {
                single(&mut inner, returned)
            };
            called.push(self.finish(inner, if i == 0 { "condition" } else { "body" }, root));
        }
        let start = frame.builder.push(&format!("{name}.start"), Op::Tuple, operands, whole.clone());
        let end = frame.builder.push_call(name, Op::While, vec![start], called, whole);
        Ok(self.shown(frame, operation, end))
    }

    /// One result of a loop as that value; several as a tuple.
    fn shown(&self, frame: &mut Frame<'a>, operation: &Operation<'a>, end: InstructionId) -> InstructionId {
        match operation.results[..] {
            [(_, 1)] => frame.element(end, 0),
            _ => end,
        }
    }

    fn branches(
        &mut self,
        frame: &mut Frame<'a>,
        operation: &Operation<'a>,
        name: &str,
        mut operands: Vec<InstructionId>,
    ) -> Result<InstructionId, ImportError> {
        let mut called = Vec::new();
        for (i, region) in operation.regions.iter().enumerate() {
            let captured = outer_reads(&[region]);
            let mut values = Vec::new();
            for read in &captured {
                values.push(self.read(frame, read)?);
            }
            let types: Vec<Type> = values.iter().map(|&o| frame.builder.ty(o).clone()).collect();
            let whole = Type::Tuple(types);
            operands.push(frame.builder.push(&format!("{name}.branch{i}"), Op::Tuple, values, whole.clone()));
            let mut inner = self.frame_in(frame, operation.at)?;
            open_tuple(&mut inner, &whole, &[], &captured);
            let returned = self.body(&mut inner, &region.body, operation.at)?;
            let root = single(&mut inner, returned);
            called.push(self.finish(inner, "branch", root));
        }
        let ty = called.first().map(|c| self.signatures[c.0 as usize].result.clone());
        let ty = ty.ok_or_else(|| self.error(operation.at, "a choice has no branches"))?;
        Ok(frame.builder.push_call(name, Op::Conditional, operands, called, ty))
    }

    /// The number of the function that a caller calls: `main`, or the first.
    pub fn main(&self) -> Result<usize, ImportError> {
        let main = self.functions.get("main").copied().or((!self.module.functions.is_empty()).then_some(0));
        main.ok_or_else(|| ImportError::of_file("the module has no function", "export the text again"))
    }

    /// The whole program.
    pub fn program(mut self, main: usize, sizes: &OpenSizes) -> Result<Program, ImportError> {
        let function: &Function<'a> = &self.module.functions[main];
        let arguments = function.body.arguments.iter().enumerate();
        let given: Vec<Given> = arguments.map(|(i, a)| (sizes.filled(i, &a.ty.ty), None)).collect();
        let entry = self.function(main, &given, MOST_NESTING)?;
        let mut parameters = Vec::new();
        for (argument, (ty, _)) in function.body.arguments.iter().zip(given) {
            let Type::Array(ty) = ty else {
                return Err(self.error(function.at, format!("an argument of main is {ty}, not an array")));
            };
            let name = argument.name.trim_start_matches('%').to_owned();
            parameters.push(ProgramParameter { name, role: Role::Input, ty, data: WeightData::Absent });
        }
        Ok(Program { name: self.module.name.to_owned(), computations: self.computations, entry, parameters })
    }
}

/// What a call gives for an argument.
fn given(builder: &Builder, operand: InstructionId) -> Given {
    let value = match &builder.instructions()[operand].op {
        Op::Constant(value) if known(builder, operand).is_some_and(|numbers| numbers.len() <= 8) => {
            Some((**value).clone())
        }
        _ => None,
    };
    (builder.ty(operand).clone(), value)
}

/// Makes a parameter; known numbers stand in for it.
fn parameter<'a>(frame: &mut Frame<'a>, argument: &Argument<'a>, i: usize, given: Option<&Given>) {
    frame.builder.origin = Origin::default();
    let name = argument.name.trim_start_matches('%');
    let (ty, value) = given.cloned().unwrap_or_else(|| (argument.ty.ty.clone(), None));
    let mut id = frame.builder.push(name, Op::Parameter(i as u32), Vec::new(), ty.clone());
    if let Some(value) = value {
        id = frame.builder.push(name, Op::Constant(Box::new(value)), Vec::new(), ty);
    }
    frame.scope.values.insert(argument.name, Bound::One(id));
}

fn clip(name: &str) -> String {
    name.chars().take(80).collect()
}

/// `dense<..>` of `dense<..> : tensor<4xf32>`.
fn before_type(value: &str) -> &str {
    value.rsplit_once(" : ").map_or(value, |(value, _)| value)
}

/// The type of an operation's results: one as it is, several as a tuple.
fn declared(types: &[OpenType]) -> Type {
    match types {
        [one] => one.ty.clone(),
        many => Type::Tuple(many.iter().map(|t| t.ty.clone()).collect()),
    }
}

/// One value as it is, several as a tuple.
fn single(frame: &mut Frame<'_>, values: Vec<InstructionId>) -> InstructionId {
    if let [one] = values[..] {
        return one;
    }
    let types = values.iter().map(|&v| frame.builder.ty(v).clone()).collect();
    frame.builder.origin = Origin::default();
    frame.builder.push("results", Op::Tuple, values, Type::Tuple(types))
}

/// Makes the one parameter of a region and names its elements: the region's arguments, then what it reads around it, which it gives.
fn open_tuple<'a>(
    frame: &mut Frame<'a>,
    whole: &Type,
    arguments: &[Argument<'a>],
    captured: &[Use<'a>],
) -> Vec<InstructionId> {
    let tuple = frame.builder.push("carried", Op::Parameter(0), Vec::new(), whole.clone());
    for (k, argument) in arguments.iter().enumerate() {
        let id = frame.element(tuple, k as u32);
        frame.scope.values.insert(argument.name, Bound::One(id));
    }
    let mut kept = Vec::new();
    for (k, read) in captured.iter().enumerate() {
        let id = frame.element(tuple, (arguments.len() + k) as u32);
        kept.push(id);
        frame.scope.outer.insert((read.name, read.index), id);
    }
    kept
}

/// Values that regions read and do not define, each once, in the order they are read.
fn outer_reads<'a>(regions: &[&Region<'a>]) -> Vec<Use<'a>> {
    let mut found: Vec<Use<'a>> = Vec::new();
    let mut seen: FxHashSet<(&str, u32)> = FxHashSet::default();
    for region in regions {
        let mut own = region.arguments.iter().map(|a| a.name).collect();
        let mut reads = Vec::new();
        gather_reads(region, &mut own, &mut reads);
        found.extend(reads.into_iter().filter(|read| seen.insert((read.name, read.index))));
    }
    found
}

/// Reads of names that no operation before them in the region defines.
fn gather_reads<'a>(region: &Region<'a>, own: &mut FxHashSet<&'a str>, reads: &mut Vec<Use<'a>>) {
    for operation in &region.body {
        reads.extend(operation.operands.iter().filter(|read| !own.contains(read.name)).cloned());
        for inner in &operation.regions {
            let mut visible = own.clone();
            visible.extend(inner.arguments.iter().map(|a| a.name));
            gather_reads(inner, &mut visible, reads);
        }
        own.extend(operation.results.iter().map(|(name, _)| *name));
    }
}

/// A constant, or one number repeated, made again in another computation.
fn copy_constant(from: &Frame<'_>, to: &mut Frame<'_>, id: InstructionId) -> Option<InstructionId> {
    let instruction = &from.builder.instructions()[id];
    match &instruction.op {
        Op::Constant(_) | Op::Iota { .. } => {
            Some(to.builder.push(&instruction.name, instruction.op.clone(), Vec::new(), instruction.ty.clone()))
        }
        Op::Broadcast { .. } | Op::Convert | Op::Reshape => {
            let operand = copy_constant(from, to, *instruction.operands.first()?)?;
            Some(to.builder.push(&instruction.name, instruction.op.clone(), vec![operand], instruction.ty.clone()))
        }
        _ => None,
    }
}
