//! Evaluates a module, instruction by instruction.

use std::rc::Rc;

use super::arithmetic::{Arithmetic, Place, Reference};
use super::compute::compute;
use super::{NoWatch, Watch};
use crate::hlo::{HloInstruction, HloModule, InstrId, Opcode};
use ns_base::{Idx as _, IndexVec, Refusal, refuse};
use ns_tensor::Tensor;

/// Evaluates a verified module with a value for each parameter, by index. Returns the root's value, or a tuple's
/// values. Fails when parameters do not fit, a custom call is unknown, or memory runs out.
pub fn evaluate(module: &HloModule, parameters: &[Rc<Tensor>]) -> Result<Vec<Rc<Tensor>>, Refusal> {
    let mut evaluation = Evaluation::new(module, parameters.to_vec());
    loop {
        if let Some(results) = evaluation.step(u64::MAX, &mut Reference, &mut NoWatch)? {
            return Ok(results);
        }
    }
}

/// An evaluation that can be stopped between instructions. It borrows or shares the module: `M` is a reference or an `Rc`.
pub struct Evaluation<M> {
    module: M,
    parameters: Vec<Rc<Tensor>>,
    values: IndexVec<InstrId, Option<Rc<Tensor>>>,
    last_use: IndexVec<InstrId, InstrId>,
    known_at_load: IndexVec<InstrId, bool>,
    next: usize,
}

impl<M: std::ops::Deref<Target = HloModule>> Evaluation<M> {
    /// An evaluation at its start.
    pub fn new(module: M, parameters: Vec<Rc<Tensor>>) -> Self {
        let values = module.instructions.iter().map(|_| None).collect();
        let (last_use, known_at_load) = (last_uses(&module), module.known_at_load());
        Self { module, parameters, values, last_use, known_at_load, next: 0 }
    }

    /// Instructions done, and instructions in total.
    pub fn progress(&self) -> (u64, u64) {
        (self.next as u64, self.module.instructions.len() as u64)
    }

    /// Evaluates about `budget` more operations, and at least one instruction; returns the results when all are done. Fails when
    /// parameters do not fit, a custom call is unknown, or memory runs out.
    pub fn step(
        &mut self,
        budget: u64,
        arithmetic: &mut dyn Arithmetic,
        watch: &mut dyn Watch,
    ) -> Result<Option<Vec<Rc<Tensor>>>, Refusal> {
        let mut spent = 0u64;
        while self.next < self.module.instructions.len() && spent < budget {
            let id = InstrId::from_usize(self.next);
            self.next += 1;
            spent = spent.saturating_add(self.operations(id));
            if let Some(results) = self.instruction(id, arithmetic, watch)? {
                return Ok(Some(results));
            }
        }
        if self.next < self.module.instructions.len() {
            return Ok(None);
        }
        Err(no_operand(&self.module.instructions[self.module.root].name))
    }

    /// Operations of an instruction, roughly: two for each multiply-accumulate, else one for each element.
    fn operations(&self, id: InstrId) -> u64 {
        let instruction = &self.module.instructions[id];
        let elements = instruction.shape.elements();
        let operand = |n: usize| instruction.operands.get(n).map(|o| &self.module.instructions[*o].shape);
        let depth = match (&instruction.opcode, operand(0), operand(1)) {
            (Opcode::Dot(d), Some(lhs), _) => lhs.dims.get(d.lhs_contracting as usize).copied().unwrap_or(1),
            (Opcode::Convolution { .. }, _, Some(weight)) => weight.dims.iter().skip(1).product(),
            _ => 1,
        };
        elements.saturating_mul(depth).saturating_mul(2).max(1)
    }

    fn instruction(
        &mut self,
        id: InstrId,
        arithmetic: &mut dyn Arithmetic,
        watch: &mut dyn Watch,
    ) -> Result<Option<Vec<Rc<Tensor>>>, Refusal> {
        let instruction = &self.module.instructions[id];
        let operands = gather(instruction, |o| self.values.get(o).cloned().flatten())?;
        if matches!(instruction.opcode, Opcode::Tuple) && id == self.module.root {
            return Ok(Some(operands));
        }
        let place = Place { id, is_result: self.is_result(id), known_at_load: self.known_at_load[id] };
        let value = match &instruction.opcode {
            Opcode::Parameter { index, .. } => {
                let given = parameter(instruction, *index, &self.parameters)?;
                arithmetic.store(place, instruction, given)
            }
            Opcode::Fusion(_) => fusion(place, instruction, &operands, arithmetic, watch)?,
            _ => one(place, instruction, &operands, arithmetic, watch)?,
        };
        if id == self.module.root {
            return Ok(Some(vec![value]));
        }
        self.values[id] = Some(value);
        // Values are dropped after their last use: a chain of a thousand products holds two.
        for &operand in &instruction.operands {
            if self.last_use[operand] == id && operand != self.module.root {
                self.values[operand] = None;
                arithmetic.forget(operand);
            }
        }
        Ok(None)
    }

    fn is_result(&self, id: InstrId) -> bool {
        let root = &self.module.instructions[self.module.root];
        id == self.module.root || (matches!(root.opcode, Opcode::Tuple) && root.operands.contains(&id))
    }
}

/// One instruction: its operands as a product reads them, its value as it is stored.
fn one(
    place: Place,
    instruction: &HloInstruction,
    operands: &[Rc<Tensor>],
    arithmetic: &mut dyn Arithmetic,
    watch: &mut dyn Watch,
) -> Result<Rc<Tensor>, Refusal> {
    let is_product = matches!(instruction.opcode, Opcode::Dot(_) | Opcode::Convolution { .. });
    let computed = if is_product {
        let read = |(id, value): (&InstrId, &Rc<Tensor>)| arithmetic.product_operand(*id, value);
        let operands: Vec<Rc<Tensor>> = instruction.operands.iter().zip(operands).map(read).collect();
        compute(instruction, &operands, arithmetic.accumulation())?
    } else {
        compute(instruction, operands, arithmetic.accumulation())?
    };
    let value = arithmetic.store(place, instruction, Rc::new(computed));
    watch.produced(instruction, operands, &value);
    Ok(value)
}

/// Members in order; operands that are not members are the fusion's.
fn fusion(
    place: Place,
    instruction: &HloInstruction,
    operands: &[Rc<Tensor>],
    arithmetic: &mut dyn Arithmetic,
    watch: &mut dyn Watch,
) -> Result<Rc<Tensor>, Refusal> {
    let no_result = || no_operand(&instruction.name);
    let Opcode::Fusion(body) = &instruction.opcode else { return Err(no_result()) };
    let mut values: Vec<(InstrId, Rc<Tensor>)> =
        instruction.operands.iter().copied().zip(operands.iter().cloned()).collect();
    for (n, (member, &id)) in body.members.iter().zip(&body.ids).enumerate() {
        let find = |o: InstrId| values.iter().find(|(id, _)| *id == o).map(|(_, v)| Rc::clone(v));
        let is_result = place.is_result && n + 1 == body.members.len();
        let result = one(Place { id, is_result, ..place }, member, &gather(member, find)?, arithmetic, watch)?;
        values.push((id, result));
    }
    values.pop().map(|(_, v)| v).ok_or_else(no_result)
}

/// The module is not well formed.
pub(super) fn no_operand(name: &str) -> Refusal {
    refuse!("instruction %{name}: an operand has no value; verify the module")
}

fn last_uses(module: &HloModule) -> IndexVec<InstrId, InstrId> {
    let mut last: IndexVec<InstrId, InstrId> = module.instructions.ids().collect();
    for (id, instruction) in module.instructions.iter_enumerated() {
        for &operand in &instruction.operands {
            if operand.index() < last.len() {
                last[operand] = id;
            }
        }
    }
    last
}

fn gather(
    instruction: &HloInstruction,
    value: impl Fn(InstrId) -> Option<Rc<Tensor>>,
) -> Result<Vec<Rc<Tensor>>, Refusal> {
    let all: Option<Vec<_>> = instruction.operands.iter().map(|o| value(*o)).collect();
    all.ok_or_else(|| no_operand(&instruction.name))
}

fn parameter(instruction: &HloInstruction, index: u32, given: &[Rc<Tensor>]) -> Result<Rc<Tensor>, Refusal> {
    let name = || instruction.name.clone();
    let value = given
        .get(index as usize)
        .ok_or_else(|| refuse!("instruction %{}: no value was given for parameter {index}", name()))?;
    if *value.shape() != instruction.shape {
        let (expected, found) = (instruction.shape.clone(), value.shape().clone());
        return Err(refuse!("instruction %{}: parameter {index} is {expected}, a value of {found} was given", name()));
    }
    Ok(Rc::clone(value))
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_1_SQRT_2;

    use super::*;
    use crate::hlo_text::parse;
    use ns_tensor::Shape;

    fn run(lines: &str, inputs: &[(&[u64], &[f32])]) -> Result<Vec<Rc<Tensor>>, Refusal> {
        let mut text = "HloModule m\nENTRY {\n".to_owned();
        for (i, (dims, _)) in inputs.iter().enumerate() {
            text += &format!("%p{i} = {} parameter({i}), input={i}\n", Shape::f32(*dims));
        }
        let values: Vec<_> =
            inputs.iter().map(|(d, v)| Rc::new(Tensor::new(Shape::f32(*d), v.to_vec()).unwrap())).collect();
        evaluate(&parse(&format!("{text}{lines}\n}}")).unwrap(), &values)
    }

    fn one(lines: &str, inputs: &[(&[u64], &[f32])]) -> Vec<f32> {
        run(lines, inputs).unwrap()[0].data().to_vec()
    }

    #[test]
    fn every_elementwise_opcode_has_its_meaning() {
        let (a, b): (&[f32], &[f32]) = (&[4.0, 1.0], &[2.0, -8.0]);
        for (op, expected) in [
            ("add", [6.0, -7.0]),
            ("subtract", [2.0, 9.0]),
            ("multiply", [8.0, -8.0]),
            ("divide", [2.0, -0.125]),
            ("maximum", [4.0, 1.0]),
            ("minimum", [2.0, -8.0]),
        ] {
            assert_eq!(one(&format!("ROOT %r = f32[2] {op}(%p0, %p1)"), &[(&[2], a), (&[2], b)]), expected, "{op}");
        }
        for (op, expected) in [
            ("negate", [-4.0, -1.0]),
            ("exponential", [libm::expf(4.0), libm::expf(1.0)]),
            ("log", [libm::logf(4.0), 0.0]),
            ("tanh", [libm::tanhf(4.0), libm::tanhf(1.0)]),
            ("sqrt", [2.0, 1.0]),
            ("rsqrt", [0.5, 1.0]),
            ("gelu", [2.0 * (1.0 + libm::erff(4.0 * FRAC_1_SQRT_2)), 0.5 * (1.0 + libm::erff(FRAC_1_SQRT_2))]),
            ("logistic", [1.0 / (1.0 + libm::expf(-4.0)), 1.0 / (1.0 + libm::expf(-1.0))]),
        ] {
            assert_eq!(one(&format!("ROOT %r = f32[2] {op}(%p0)"), &[(&[2], a)]), expected, "{op}");
        }
    }

    #[test]
    fn other_opcodes_have_theirs() {
        let x: (&[u64], &[f32]) = (&[2, 3], &[1.0, 2.0, 3.0, -4.0, 5.0, 6.5]);
        assert_eq!(one("ROOT %r = f32[3,2] transpose(%p0), dimensions={1,0}", &[x]), [1.0, -4.0, 2.0, 5.0, 3.0, 6.5]);
        assert_eq!(one("ROOT %r = f32[6] reshape(%p0)", &[x]), x.1);
        assert_eq!(one("ROOT %r = s32[2,3] convert(%p0)", &[x]), [1.0, 2.0, 3.0, -4.0, 5.0, 6.0]);
        assert_eq!(one("ROOT %r = f32[3] reduce(%p0), dimensions={0}, to_apply=maximum", &[x]), [1.0, 5.0, 6.5]);
        assert_eq!(one("ROOT %r = f32[2] reduce(%p0), dimensions={1}, to_apply=add", &[x]), [6.0, 7.5]);
        assert_eq!(
            one("ROOT %r = f32[2,3] custom-call(%p0), custom_call_target=\"relu\"", &[x]),
            [1.0, 2.0, 3.0, 0.0, 5.0, 6.5]
        );
        assert_eq!(one("ROOT %r = f32[2] constant(-inf)", &[]), [f32::NEG_INFINITY; 2]);
        let dot = "ROOT %r = f32[2,2] dot(%p0, %p0), lhs_contracting_dims={1}, rhs_contracting_dims={1}";
        assert_eq!(one(dot, &[x]), [14.0, 25.5, 25.5, 83.25]);
    }

    #[test]
    fn windows_rows_and_parts() {
        let image: (&[u64], &[f32]) = (&[1, 1, 2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let kernel: (&[u64], &[f32]) = (&[1, 1, 1, 2], &[1.0, 10.0]);
        let line = "ROOT %r = f32[1,1,2,2] convolution(%p0, %p1), window={size=1x2}";
        assert_eq!(one(line, &[image, kernel]), [21.0, 32.0, 54.0, 65.0]);
        // Each element spread over two columns: 1 * (1, 10), 2 * (1, 10), 3 * (1, 10), ...
        let line = "ROOT %r = f32[1,1,2,6] convolution(%p0, %p1), \
                    window={size=1x2 pad=0_0x1_1 lhs_dilate=1x2 rhs_reversal=0x1}";
        assert_eq!(one(line, &[image, kernel]), [1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0, 5.0, 50.0, 6.0, 60.0]);
        let line = "ROOT %r = f32[1,1,1,2] reduce-window(%p0), window={size=1x1x2x2}, to_apply=maximum";
        assert_eq!(one(line, &[image]), [5.0, 6.0]);
        let line = "ROOT %r = f32[1,1,1,2] reduce-window(%p0), window={size=1x1x2x2}, to_apply=add";
        assert_eq!(one(line, &[image]), [12.0, 16.0]);
        let table: (&[u64], &[f32]) = (&[3, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let ids: (&[u64], &[f32]) = (&[2], &[2.0, 0.0]);
        let line = "%i = s32[2] convert(%p1)\n ROOT %r = f32[2,2] gather(%p0, %i)";
        assert_eq!(one(line, &[table, ids]), [4.0, 5.0, 0.0, 1.0]);
        assert_eq!(one("ROOT %r = f32[1,1] slice(%p0), slice={[1:2], [0:2:2]}", &[table]), [2.0]);
        let line = "ROOT %r = f32[3,3] concatenate(%p0, %p1), dimensions={1}";
        assert_eq!(one(line, &[table, (&[3, 1], &[7.0; 3])]), [0.0, 1.0, 7.0, 2.0, 3.0, 7.0, 4.0, 5.0, 7.0]);
        let line = "%c = s32[] constant(2)\n %z = s32[] constant(0)\n \
                    ROOT %r = f32[3,2] dynamic-update-slice(%p0, %p1, %c, %z)";
        assert_eq!(one(line, &[table, (&[1, 2], &[8.0, 9.0])]), [0.0, 1.0, 2.0, 3.0, 8.0, 9.0]);
    }

    #[test]
    fn a_tuple_gives_several_results() {
        let results = run("%n = f32[1] negate(%p0)\nROOT %t = f32[1] tuple(%p0, %n)", &[(&[1], &[2.0])]).unwrap();
        assert_eq!(results.iter().map(|t| t.data()[0]).collect::<Vec<_>>(), [2.0, -2.0]);
    }

    #[test]
    fn errors_name_the_instruction() {
        let unknown = run("ROOT %r = f32[1] custom-call(%p0), custom_call_target=\"gelu\"", &[(&[1], &[2.0])]);
        assert!(
            unknown.unwrap_err().to_string().starts_with("instruction %r: there is no kernel \"gelu\": use relu, ")
        );
        let module = parse("HloModule m\nENTRY { ROOT %p0 = f32[2] parameter(0), input=0 }").unwrap();
        let missing = evaluate(&module, &[]).unwrap_err();
        assert_eq!(missing.to_string(), "instruction %p0: no value was given for parameter 0");
        let wrong = Rc::new(Tensor::splat(Shape::f32([3]), 0.0).unwrap());
        let e = evaluate(&module, &[wrong]).unwrap_err();
        assert_eq!(e.to_string(), "instruction %p0: parameter 0 is f32[2], a value of f32[3] was given");
        let huge = run("ROOT %r = f32[1000000,1000000] constant(1)", &[]).unwrap_err();
        assert!(huge.to_string().starts_with("instruction %r: a tensor of f32[1000000,1000000] has"), "{huge}");
    }
}
