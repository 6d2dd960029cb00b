//! Converts regions to computations. Regions of loops and branches take the outer values they read as arguments; regions of reductions and sorts
//! may read only constants from outside, which are copied into them.

use super::convert::{Bound, Converter, Frame, clip, parameter, single};
use super::failure::MlirFailure;
use super::known;
use super::ops::op_of;
use super::syntax::{MlirArgument, Name, Operation, Region, Use};
use ns_base::FxHashSet;
use ns_base::convert::usize_to_u32;
use ns_base::refuse;
use ns_program::{ArrayType, ComputationId, Foreign, InstructionId, Op, Type, Value, chosen_branch};

impl<'a> Converter<'_, 'a> {
    /// `applies stablehlo.add`: a computation of one operation on two numbers.
    pub(super) fn applied(
        &mut self,
        operation: &Operation<'a>,
        callee: &str,
        types: &[&Type],
    ) -> Result<ComputationId, MlirFailure> {
        let element = types.first().and_then(|t| t.array()).map(|a| a.element);
        let element = element.ok_or_else(|| self.error(operation.at, refuse!("it reduces no array")))?;
        let one = Type::Array(ArrayType::new(element, []));
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

    /// A region on single numbers: of a reduction, a sort, a scatter. Constants that it reads from outside are copied into it.
    pub(super) fn plain_region(
        &mut self,
        around: &mut Frame<'a>,
        region: &Region<'a>,
        at: usize,
    ) -> Result<ComputationId, MlirFailure> {
        let mut frame = self.frame_in(around, at)?;
        for read in outer_reads(&[region]) {
            let id = self.read(around, &read)?;
            let copied = copy_constant(around, &mut frame, id);
            let copied = copied.ok_or_else(|| {
                self.error(read.at, refuse!("the region reads {} around it", clip(&read.name.to_string())))
            })?;
            frame.scope.outer.insert((read.name, read.index), copied);
        }
        for (i, argument) in region.arguments.iter().enumerate() {
            parameter(&mut frame, argument, i, None);
        }
        let returned = self.body(&mut frame, &region.body, at)?;
        let root = single(&mut frame, returned);
        Ok(self.finish(frame, "region", root))
    }

    fn frame_in(&self, around: &Frame<'a>, at: usize) -> Result<Frame<'a>, MlirFailure> {
        around.depth.checked_sub(1).map(Frame::new).ok_or_else(|| self.error(at, refuse!("regions nest too deep")))
    }

    pub(super) fn loops(
        &mut self,
        frame: &mut Frame<'a>,
        operation: &Operation<'a>,
        name: &str,
        mut operands: Vec<InstructionId>,
    ) -> Result<InstructionId, MlirFailure> {
        let [condition, body] = &operation.regions[..] else {
            return Err(self.error(operation.at, refuse!("a loop has a condition and a body")));
        };
        let carried = operands.len();
        let constants = self.loop_constants(frame, body, &operands);
        let (captured, copied) = self.captured(frame, &[condition, body])?;
        for read in &captured {
            operands.push(self.read(frame, read)?);
        }
        let types: Vec<Type> = operands.iter().map(|&o| frame.builder.ty(o).clone()).collect();
        let whole = Type::Tuple(types);
        let mut called = Vec::new();
        for (i, region) in [condition, body].into_iter().enumerate() {
            if region.arguments.len() != carried {
                let taken = region.arguments.len();
                let wrong = refuse!("a loop carries {carried} values and its region takes {taken}");
                return Err(self.error(operation.at, wrong));
            }
            let mut inner = self.frame_in(frame, operation.at)?;
            let passed_on = open_tuple(&mut inner, &whole, &region.arguments, &captured);
            copy_known(&mut inner, &copied);
            for (k, value) in &constants {
                let known = inner.constant(value.clone());
                inner.scope.values.insert(region.arguments[*k].name, Bound::One(known));
            }
            let mut returned = self.body(&mut inner, &region.body, operation.at)?;
            let root = if i == 1 {
                returned.extend(passed_on);
                let types = returned.iter().map(|&r| inner.builder.ty(r).clone()).collect();
                inner.builder.push("next", Op::Tuple, returned, Type::Tuple(types))
            } else {
                single(&mut inner, returned)
            };
            called.push(self.finish(inner, if i == 0 { "condition" } else { "body" }, root));
        }
        let start = frame.builder.push(&format!("{name}.start"), Op::Tuple, operands.clone(), whole.clone());
        let end = frame.builder.push_call(name, Op::While, vec![start], called, whole);
        for (k, _) in &constants {
            frame.take_as(end, usize_to_u32(*k), operands[*k]);
        }
        Ok(self.loop_result(frame, operation, end))
    }

    /// Numbers that no turn of a loop changes, by their place in the state of the loop.
    fn loop_constants(&self, frame: &Frame<'a>, body: &Region<'a>, operands: &[InstructionId]) -> Vec<(usize, Value)> {
        let end = body.body.iter().find(|o| o.name.ends_with(".return")).filter(|_| self.module.is_open);
        let returned = end.map(|o| o.operands.as_slice()).unwrap_or_default();
        let same = returned.iter().zip(&body.arguments).map(|(read, a)| read.name == a.name && read.index == 0);
        let same = same.zip(operands).enumerate().filter(|(_, (is_same, _))| *is_same);
        same.filter_map(|(k, (_, &o))| Some((k, known::value(frame.builder.instructions(), o)?))).collect()
    }

    /// What regions read around them: values that they take as arguments, and known numbers, which are copied into them.
    fn captured(&self, frame: &mut Frame<'a>, regions: &[&Region<'a>]) -> Result<Captures<'a>, MlirFailure> {
        let (mut taken, mut copied) = (Vec::new(), Vec::new());
        for read in outer_reads(regions) {
            let id = self.read(frame, &read)?;
            match known::value(frame.builder.instructions(), id).filter(|_| self.module.is_open) {
                Some(value) => copied.push((read, value)),
                None => taken.push(read),
            }
        }
        Ok((taken, copied))
    }

    /// A single result of a loop as that value; several as a tuple.
    fn loop_result(&self, frame: &mut Frame<'a>, operation: &Operation<'a>, end: InstructionId) -> InstructionId {
        match operation.results[..] {
            [(_, 1)] => frame.element(end, 0),
            _ => end,
        }
    }

    /// The branch that a known number chooses: the platform, or what is computed from sizes. A case without such a branch has its last.
    fn known_branch<'r>(
        &self,
        frame: &Frame<'a>,
        operation: &'r Operation<'a>,
        operands: &[InstructionId],
    ) -> Option<&'r Region<'a>> {
        let chosen = operands.first().filter(|_| self.module.is_open);
        let &chosen = known::numbers(frame.builder.instructions(), *chosen?)?.first()?;
        let at = chosen_branch(chosen, operation.name.ends_with(".if"), operation.regions.len());
        operation.regions.get(at)
    }

    pub(super) fn branches(
        &mut self,
        frame: &mut Frame<'a>,
        operation: &Operation<'a>,
        name: &str,
        mut operands: Vec<InstructionId>,
    ) -> Result<InstructionId, MlirFailure> {
        if let Some(region) = self.known_branch(frame, operation, &operands) {
            let returned = self.body(frame, &region.body, operation.at)?;
            return Ok(single(frame, returned));
        }
        let mut called = Vec::new();
        for (i, region) in operation.regions.iter().enumerate() {
            let (captured, copied) = self.captured(frame, &[region])?;
            let mut values = Vec::new();
            for read in &captured {
                values.push(self.read(frame, read)?);
            }
            let types: Vec<Type> = values.iter().map(|&o| frame.builder.ty(o).clone()).collect();
            let whole = Type::Tuple(types);
            operands.push(frame.builder.push(&format!("{name}.branch{i}"), Op::Tuple, values, whole.clone()));
            let mut inner = self.frame_in(frame, operation.at)?;
            open_tuple(&mut inner, &whole, &[], &captured);
            copy_known(&mut inner, &copied);
            let returned = self.body(&mut inner, &region.body, operation.at)?;
            let root = single(&mut inner, returned);
            called.push(self.finish(inner, "branch", root));
        }
        let ty = called.first().map(|c| self.signatures[c.0 as usize].result.clone());
        let ty = ty.ok_or_else(|| self.error(operation.at, refuse!("a choice has no branches")))?;
        Ok(frame.builder.push_call(name, Op::Conditional, operands, called, ty))
    }
}

/// Values that regions read around them, and known numbers that they read.
type Captures<'a> = (Vec<Use<'a>>, Vec<(Use<'a>, Value)>);

/// Makes constants of the known numbers that a region reads around it.
fn copy_known<'a>(frame: &mut Frame<'a>, copied: &[(Use<'a>, Value)]) {
    for (read, value) in copied {
        let known = frame.constant(value.clone());
        frame.scope.outer.insert((read.name, read.index), known);
    }
}

/// Makes the one parameter of a region and names its elements: the region's arguments, then the outer values that it reads, which it returns.
fn open_tuple<'a>(
    frame: &mut Frame<'a>,
    whole: &Type,
    arguments: &[MlirArgument<'a>],
    captured: &[Use<'a>],
) -> Vec<InstructionId> {
    let tuple = frame.builder.push("carried", Op::Parameter(0), Vec::new(), whole.clone());
    for (k, argument) in arguments.iter().enumerate() {
        let id = frame.element(tuple, usize_to_u32(k));
        frame.scope.values.insert(argument.name, Bound::One(id));
    }
    let mut kept = Vec::new();
    for (k, read) in captured.iter().enumerate() {
        let id = frame.element(tuple, usize_to_u32(arguments.len() + k));
        kept.push(id);
        frame.scope.outer.insert((read.name, read.index), id);
    }
    kept
}

/// Values that regions read but do not define, each once, in the order they are read.
fn outer_reads<'a>(regions: &[&Region<'a>]) -> Vec<Use<'a>> {
    let mut found: Vec<Use<'a>> = Vec::new();
    let mut seen: FxHashSet<(Name<'a>, u32)> = FxHashSet::default();
    for region in regions {
        let mut own = region.arguments.iter().map(|a| a.name).collect();
        let mut reads = Vec::new();
        gather_reads(region, &mut own, &mut reads);
        found.extend(reads.into_iter().filter(|read| seen.insert((read.name, read.index))));
    }
    found
}

/// Reads of names that no operation before them in the region defines.
fn gather_reads<'a>(region: &Region<'a>, own: &mut FxHashSet<Name<'a>>, reads: &mut Vec<Use<'a>>) {
    for operation in &region.body {
        reads.extend(operation.operands.iter().filter(|read| !own.contains(&read.name)).cloned());
        for inner in &operation.regions {
            let mut visible = own.clone();
            visible.extend(inner.arguments.iter().map(|a| a.name));
            gather_reads(inner, &mut visible, reads);
        }
        own.extend(operation.results.iter().map(|(name, _)| *name));
    }
}

/// A copy of a constant, or of one repeated number, in another computation.
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
