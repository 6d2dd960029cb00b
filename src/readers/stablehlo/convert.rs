//! Makes a program from a module: functions become computations, regions become computations that take the outer values they read.

use std::collections::BTreeMap;

use super::attributes::{Dense, dense};
use super::dynamic::{sets_full_size, with_fixed_sizes};
use super::failure::{Cause, MlirFailure};
use super::known::ArgumentValue;
use super::open_sizes::OpenSizes;
use super::ops::{is_total_order, op_of};
use super::parse::{MANUAL, error, several_devices};
use super::slices::moving_slice;
use super::syntax::{Attribute, Function, MlirArgument, Module, Name, OpenType, Operation, Use};
use super::values::attribute;
use crate::scopes;
use ns_base::convert::usize_to_u32;
use ns_base::{FxHashMap, IndexVec, Refusal, refuse};
use ns_program::infer::{Inference, Signature};
use ns_program::{
    Computation, ComputationBuilder, ComputationId, ImportError, InstructionId, Op, Origin, Program, ProgramParameter,
    Role, Type, Value, WeightData,
};

/// Most levels of nested calls and regions.
const MOST_NESTING: u32 = 100;

/// Most functions that are converted: with open sizes, each call is converted separately.
pub(super) const MOST_CONVERSIONS: u32 = 20_000;

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
    pub(super) functions: FxHashMap<&'a str, usize>,
    states: Vec<State>,
    pub computations: IndexVec<ComputationId, Computation>,
    pub(super) signatures: Vec<Signature>,
    /// Numbers that take the place of arguments of main.
    constants: BTreeMap<usize, i64>,
    /// Functions that may still be converted.
    left: u32,
}

/// Values by name, in one computation.
#[derive(Default)]
pub(super) struct MlirScope<'a> {
    pub(super) values: FxHashMap<Name<'a>, Bound>,
    /// Values of the surroundings, by name and number of the result.
    pub(super) outer: FxHashMap<(Name<'a>, u32), InstructionId>,
}

/// The meaning of a name.
#[derive(Clone, Copy)]
pub(super) enum Bound {
    One(InstructionId),
    /// Several results.
    Tuple(InstructionId),
}

/// A computation under construction.
pub(super) struct Frame<'a> {
    pub(super) builder: ComputationBuilder,
    pub(super) scope: MlirScope<'a>,
    elements: FxHashMap<(InstructionId, u32), InstructionId>,
    pub(super) depth: u32,
}

impl Frame<'_> {
    pub(super) fn new(depth: u32) -> Self {
        Self {
            builder: ComputationBuilder::default(),
            scope: MlirScope::default(),
            elements: FxHashMap::default(),
            depth,
        }
    }

    pub(super) fn element(&mut self, tuple: InstructionId, k: u32) -> InstructionId {
        if let Some(&known) = self.elements.get(&(tuple, k)) {
            return known;
        }
        let id = self.builder.element(tuple, k);
        self.elements.insert((tuple, k), id);
        id
    }

    /// From now on, element `k` of a tuple is read as this value, which is equal to it.
    pub(super) fn take_as(&mut self, tuple: InstructionId, k: u32, value: InstructionId) {
        self.elements.insert((tuple, k), value);
    }

    pub(super) fn constant(&mut self, value: Value) -> InstructionId {
        let ty = Type::Array(value.ty.clone());
        self.builder.push("known", Op::Constant(Box::new(value)), Vec::new(), ty)
    }
}

impl<'m, 'a> Converter<'m, 'a> {
    pub fn new(module: &'m Module<'a>, source: &'a str, most_conversions: u32) -> Self {
        let functions = module.functions.iter().enumerate().map(|(i, f)| (f.name, i)).collect();
        let states = vec![State::New; module.functions.len()];
        Self {
            module,
            source,
            functions,
            states,
            computations: IndexVec::new(),
            signatures: Vec::new(),
            constants: BTreeMap::new(),
            left: most_conversions,
        }
    }

    pub(super) fn error(&self, at: usize, wrong: Refusal) -> MlirFailure {
        error(self.source, at, wrong).into()
    }

    pub(super) fn finish(&mut self, frame: Frame<'a>, name: &str, root: InstructionId) -> ComputationId {
        let computation = frame.builder.finish(name, root);
        let parameters = computation.instructions.iter().filter(|i| matches!(i.op, Op::Parameter(_)));
        let parameters = parameters.map(|i| i.ty.clone()).collect();
        self.signatures.push(Signature { parameters, result: computation.instructions[root].ty.clone() });
        self.computations.push(computation)
    }

    /// The computation of a function that is called with `arguments`.
    pub fn function(
        &mut self,
        index: usize,
        arguments: &[ArgumentValue],
        depth: u32,
    ) -> Result<ComputationId, MlirFailure> {
        let function: &Function<'a> = &self.module.functions[index];
        let Some(depth) = depth.checked_sub(1).filter(|_| self.left > 0) else {
            return Err(self.error(function.at, refuse!("calls nest too deep")));
        };
        match self.states[index] {
            State::Done(id) => return Ok(id),
            State::Open => {
                return Err(self.error(function.at, refuse!("the function {:?} calls itself", function.name)));
            }
            State::New => self.states[index] = State::Open,
        }
        self.left -= 1;
        let mut frame = Frame::new(depth);
        // Main is converted first, and nothing calls it.
        let constants = std::mem::take(&mut self.constants);
        for (i, argument) in function.body.arguments.iter().enumerate() {
            if let (Some(&n), Some(array)) = (constants.get(&i), argument.ty.ty.array()) {
                let known = frame.constant(Value::whole(array.element, n));
                frame.scope.values.insert(argument.name, Bound::One(known));
                continue;
            }
            let value = arguments.get(i).filter(|_| self.module.is_open);
            let number = i - constants.range(..i).count();
            parameter(&mut frame, argument, number, value);
        }
        let returned = self.body(&mut frame, &function.body.body, function.at)?;
        let root = single(&mut frame, returned);
        let id = self.finish(frame, function.name, root);
        // With open sizes, the next call may pass others.
        self.states[index] = if self.module.is_open { State::New } else { State::Done(id) };
        Ok(id)
    }

    /// Converts the operations of a body; returns the operands of its return.
    pub(super) fn body(
        &mut self,
        frame: &mut Frame<'a>,
        body: &[Operation<'a>],
        at: usize,
    ) -> Result<Vec<InstructionId>, MlirFailure> {
        for operation in body {
            if operation.name.ends_with(".return") {
                return operation.operands.iter().map(|read| self.read(frame, read)).collect();
            }
            frame.builder.origin = scopes::origin("", self.module.label(operation.location));
            let id = self.operation(frame, operation)?;
            self.bind(frame, operation, id);
        }
        Err(self.error(at, refuse!("a function or a region does not return")))
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
                for (k, &(name, _)) in many.iter().enumerate() {
                    let element = frame.element(id, usize_to_u32(k));
                    frame.scope.values.insert(name, Bound::One(element));
                }
            }
        }
    }

    pub(super) fn read(&self, frame: &mut Frame<'a>, read: &Use<'a>) -> Result<InstructionId, MlirFailure> {
        if let Some(&outer) = frame.scope.outer.get(&(read.name, read.index)) {
            return Ok(outer);
        }
        match frame.scope.values.get(&read.name).copied() {
            Some(Bound::One(id)) if read.index == 0 => Ok(id),
            Some(Bound::Tuple(id)) => {
                let parts = if let Type::Tuple(parts) = frame.builder.ty(id) { parts.len() } else { 0 };
                if (read.index as usize) < parts {
                    return Ok(frame.element(id, read.index));
                }
                Err(self.error(read.at, refuse!("the value {} has {parts} results", clip(&read.name.to_string()))))
            }
            _ => Err(self.error(
                read.at,
                refuse!("the value {} is not defined before it is read", clip(&read.name.to_string())),
            )),
        }
    }

    fn operation(&mut self, frame: &mut Frame<'a>, operation: &Operation<'a>) -> Result<InstructionId, MlirFailure> {
        let name = operation.results.first().map_or_else(|| "unnamed".to_owned(), |(name, _)| name.bare());
        let mut operands = Vec::with_capacity(operation.operands.len());
        for read in &operation.operands {
            operands.push(self.read(frame, read)?);
        }
        let failed =
            |wrong: Refusal| self.error(operation.at, wrong.within(|what| format!("{}: {what}", operation.name)));
        match operation.name.as_str() {
            "func.call" => return self.call(frame, operation, &name, operands),
            "stablehlo.constant" | "mhlo.constant" | "chlo.constant" => return self.constant(frame, operation, &name),
            "stablehlo.while" | "mhlo.while" => return self.loops(frame, operation, &name, operands),
            "stablehlo.case" | "stablehlo.if" | "mhlo.case" | "mhlo.if" => {
                return self.branches(frame, operation, &name, operands);
            }
            "stablehlo.custom_call" | "mhlo.custom_call" => return self.custom_call(frame, operation, &name, operands),
            "stablehlo.composite" | "mhlo.composite" => return self.call(frame, operation, &name, operands),
            MANUAL => {
                return Err(self.error(operation.at, several_devices()));
            }
            _ if is_passed_on(frame, operation, &operands).map_err(failed)? => return Ok(operands[0]),
            _ => {}
        }
        let types: Vec<Type> = operands.iter().map(|&o| frame.builder.ty(o).clone()).collect();
        let types: Vec<&Type> = types.iter().collect();
        if self.module.is_open {
            let declared = declared(&operation.types);
            let fixed = match moving_slice(operation, &mut frame.builder, &operands) {
                Some(slice) => Some(slice),
                None => {
                    with_fixed_sizes(operation, frame.builder.instructions(), &operands, &declared).map_err(failed)?
                }
            };
            if let Some(fixed) = fixed {
                return self.fixed(frame, operation, &name, fixed, Vec::new());
            }
        }
        let op = op_of(operation, &types).map_err(failed)?;
        let op = op.ok_or_else(|| self.error(operation.at, refuse!("{}: it has no meaning here", operation.name)))?;
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
        if let Some(simpler) = self.simpler(frame, &name, &op, &operands, &ty) {
            return Ok(simpler);
        }
        if let Op::Compare(comparison) = op
            && is_total_order(operation)
            && operands.len() == 2
        {
            return Ok(frame.builder.compare_total_order(&name, comparison, [operands[0], operands[1]], ty));
        }
        Ok(frame.builder.push_call(&name, op, operands, called, ty))
    }

    /// The result's type as written, with open sizes taken from the operands.
    pub(super) fn result_type(
        &self,
        operation: &Operation<'a>,
        op: &Op,
        operands: &[&Type],
        called: &[ComputationId],
    ) -> Result<Type, MlirFailure> {
        let declared = declared(&operation.types);
        if operation.types.iter().all(|t| t.open.is_empty()) {
            return Ok(declared);
        }
        let name = &operation.name;
        let open = |wrong: Refusal| MlirFailure {
            cause: Cause::Contradiction,
            ..self.error(operation.at, wrong.advise("export the model with fixed sizes"))
        };
        if matches!(op, Op::Reshape | Op::Broadcast { .. } | Op::Iota { .. } | Op::Opaque(_)) {
            return Err(open(refuse!("{name} has an open size: it does not follow from its operands")));
        }
        let called: Vec<&Signature> = called.iter().map(|c| &self.signatures[c.0 as usize]).collect();
        let inference = Inference { op, operands, called: &called, declared: &declared };
        inference.result().map_err(|wrong| open(refuse!("{name} has an open size: {wrong}")))
    }

    fn constant(
        &self,
        frame: &mut Frame<'a>,
        operation: &Operation<'a>,
        name: &str,
    ) -> Result<InstructionId, MlirFailure> {
        let ty = declared(&operation.types);
        let word = operation.words.iter().find(|w| w.starts_with("dense")).map(|w| attribute(w));
        let value = word.as_ref().or_else(|| operation.attribute("value")).unwrap_or(&Attribute::Other(""));
        let Some(array) = ty.array() else {
            return Err(self.error(operation.at, refuse!("a constant of {ty}")));
        };
        let failed =
            |wrong: Refusal| self.error(operation.at, wrong.within(|what| format!("stablehlo.constant: {what}")));
        Ok(match dense(value, array).map_err(failed)? {
            Dense::Splat(value) => frame.builder.splat(name, value, &array.dims),
            Dense::All(value) => frame.builder.push(name, Op::Constant(Box::new(value)), Vec::new(), ty),
            Dense::Elided => frame.builder.push(name, Op::ElidedConstant, Vec::new(), ty),
        })
    }

    /// The number of the function that a caller calls: `main`, or the first.
    pub fn main(&self) -> Result<usize, ImportError> {
        let main = self.functions.get("main").copied().or((!self.module.functions.is_empty()).then_some(0));
        main.ok_or_else(|| ImportError::from(refuse!(instead = "export the text again", "the module has no function")))
    }

    pub fn program(mut self, main: usize, sizes: &OpenSizes) -> Result<Program, MlirFailure> {
        let function: &Function<'a> = &self.module.functions[main];
        let arguments = function.body.arguments.iter().enumerate();
        let values: Vec<ArgumentValue> = arguments.map(|(i, a)| (sizes.filled(i, &a.ty.ty), None)).collect();
        self.constants.clone_from(&sizes.constants);
        let entry = self.function(main, &values, MOST_NESTING)?;
        let mut parameters = Vec::new();
        let arguments = function.body.arguments.iter().zip(values).enumerate();
        for (i, (argument, (ty, _))) in arguments.filter(|(i, _)| !sizes.constants.contains_key(i)) {
            let Type::Array(ty) = ty else {
                return Err(self.error(function.at, refuse!("an argument of main is {ty}, not an array")));
            };
            let mut name = argument.name.bare();
            // Arguments are counted without the numbers that JAX puts in front of them.
            if name == format!("arg{i}") {
                name = format!("arg{}", sizes.parameter(i));
            }
            parameters.push(ProgramParameter { name, role: Role::Input, ty, data: WeightData::Absent });
        }
        Ok(Program { name: self.module.name.to_owned(), computations: self.computations, entry, parameters })
    }
}

/// Makes a parameter; known numbers replace it.
pub(super) fn parameter<'a>(
    frame: &mut Frame<'a>,
    argument: &MlirArgument<'a>,
    i: usize,
    given: Option<&ArgumentValue>,
) {
    frame.builder.origin = Origin::default();
    let name = &argument.name.bare();
    let (ty, value) = given.cloned().unwrap_or_else(|| (argument.ty.ty.clone(), None));
    let mut id = frame.builder.push(name, Op::Parameter(usize_to_u32(i)), Vec::new(), ty.clone());
    if let Some(value) = value {
        id = frame.builder.push(name, Op::Constant(Box::new(value)), Vec::new(), ty);
    }
    frame.scope.values.insert(argument.name, Bound::One(id));
}

pub(super) fn clip(name: &str) -> String {
    name.chars().take(80).collect()
}

/// Whether an operation passes its first operand on: it marks how the operand is divided, or gives it the size that it has.
fn is_passed_on(frame: &Frame<'_>, operation: &Operation<'_>, operands: &[InstructionId]) -> Result<bool, Refusal> {
    match operation.name.as_str() {
        "sdy.sharding_constraint" | "sdy.reshard" => Ok(operands.len() == 1),
        "stablehlo.set_dimension_size" | "mhlo.set_dimension_size" => {
            sets_full_size(operation, frame.builder.instructions(), operands)
        }
        _ => Ok(false),
    }
}

/// The type of an operation's results: the type of a single result, a tuple of several.
pub(super) fn declared(types: &[OpenType]) -> Type {
    match types {
        [one] => one.ty.clone(),
        many => Type::Tuple(many.iter().map(|t| t.ty.clone()).collect()),
    }
}

/// A single value unchanged, several as a tuple.
pub(super) fn single(frame: &mut Frame<'_>, values: Vec<InstructionId>) -> InstructionId {
    if let [one] = values[..] {
        return one;
    }
    let types = values.iter().map(|&v| frame.builder.ty(v).clone()).collect();
    frame.builder.origin = Origin::default();
    frame.builder.push("results", Op::Tuple, values, Type::Tuple(types))
}
