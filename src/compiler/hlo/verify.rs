//! Checks that a module is well formed. Runs after lowering and after every pass.

use std::collections::BTreeSet;

use ns_base::{Idx as _, Refusal, refuse};
use ns_tensor::Shape;

use super::infer::{arity, check};
use super::{FusionBody, HloInstruction, HloModule, InstrId, Opcode};

/// Checks single assignment, order, names, parameter numbers, shapes and fusion bodies. Fails with the first defect, with the
/// instruction's name.
pub fn verify(module: &HloModule) -> Result<(), Refusal> {
    let count = module.instructions.len();
    if module.root.index() >= count {
        return Err(refuse!(
            "module {module}: its root is instruction number {root}, it has {count}",
            module = module.name,
            root = module.root.0
        ));
    }
    let mut seen = ModuleNames { names: BTreeSet::new(), member_ids: BTreeSet::new(), parameters: BTreeSet::new() };
    for (id, instruction) in module.instructions.iter_enumerated() {
        seen.name(instruction)?;
        for (position, operand) in instruction.operands.iter().enumerate() {
            if *operand >= id {
                return Err(refuse!(
                    "instruction %{name}: operand {position} is instruction number {operand}, which does not come before it",
                    name = instruction.name,
                    operand = operand.0
                ));
            }
        }
        check_shape(instruction, |o| Some(&module.instructions[o].shape))?;
        match &instruction.opcode {
            Opcode::Parameter { index, .. } if !seen.parameters.insert(*index) => {
                return Err(wrong_number(&instruction.name, *index));
            }
            Opcode::Fusion(body) => verify_fusion(module, instruction, body, &mut seen)?,
            Opcode::Tuple if id != module.root => {
                let problem = "only the root may be a tuple".to_owned();
                return Err(shape_error(instruction, problem));
            }
            _ => {}
        }
    }
    check_parameter_numbers(module, &seen.parameters)
}

struct ModuleNames<'m> {
    names: BTreeSet<&'m str>,
    member_ids: BTreeSet<InstrId>,
    parameters: BTreeSet<u32>,
}

impl<'m> ModuleNames<'m> {
    fn name(&mut self, instruction: &'m HloInstruction) -> Result<(), Refusal> {
        if self.names.insert(&instruction.name) {
            Ok(())
        } else {
            Err(refuse!("instruction %{}: the name is used twice", instruction.name))
        }
    }
}

fn shape_error(instruction: &HloInstruction, problem: String) -> Refusal {
    refuse!("instruction %{name} ({opcode}): {problem}", name = instruction.name, opcode = instruction.opcode.name())
}

fn check_shape<'s>(
    instruction: &HloInstruction,
    shape_of: impl Fn(InstrId) -> Option<&'s Shape>,
) -> Result<(), Refusal> {
    let shapes: Option<Vec<&Shape>> = instruction.operands.iter().map(|o| shape_of(*o)).collect();
    let shapes = shapes.ok_or_else(|| shape_error(instruction, "an operand does not exist".to_owned()))?;
    check(instruction, &shapes).map_err(|problem| shape_error(instruction, problem))
}

fn wrong_number(name: &str, index: u32) -> Refusal {
    refuse!("instruction %{name}: parameter {index} is there twice, or a lower number is missing")
}

fn check_parameter_numbers(module: &HloModule, numbers: &BTreeSet<u32>) -> Result<(), Refusal> {
    let missing = numbers.iter().zip(0u32..).find(|(number, expected)| **number != *expected);
    let Some((&index, _)) = missing else { return Ok(()) };
    let has_index = |i: &&HloInstruction| matches!(i.opcode, Opcode::Parameter { index: n, .. } if n == index);
    let name = module.instructions.iter().find(has_index).map(|i| i.name.clone()).unwrap_or_default();
    Err(wrong_number(&name, index))
}

fn verify_fusion<'m>(
    module: &'m HloModule,
    fusion: &HloInstruction,
    body: &'m FusionBody,
    seen: &mut ModuleNames<'m>,
) -> Result<(), Refusal> {
    let wrong = |problem: String| refuse!("instruction %{} (fusion): {problem}", fusion.name);
    let Some(root) = body.members.last() else {
        return Err(wrong("it has no members".to_owned()));
    };
    if body.ids.len() != body.members.len() {
        return Err(wrong(format!("{} members have {} ids", body.members.len(), body.ids.len())));
    }
    if root.shape != fusion.shape {
        return Err(wrong(format!("its root %{} is {}, the fusion is {}", root.name, root.shape, fusion.shape)));
    }
    let mut read: BTreeSet<InstrId> = BTreeSet::new();
    for (i, (member, &id)) in body.members.iter().zip(&body.ids).enumerate() {
        seen.name(member)?;
        if id.index() < module.instructions.len() || !seen.member_ids.insert(id) {
            return Err(wrong(format!("member %{} has id {}, which is another instruction's", member.name, id.0)));
        }
        if arity(&member.opcode).is_none() || matches!(member.opcode, Opcode::Parameter { .. }) {
            return Err(wrong(format!("a {} cannot be a member", member.opcode.name())));
        }
        let (before, _) = body.ids.split_at(i);
        let shape_of = |o: InstrId| match before.iter().position(|m| *m == o) {
            Some(at) => Some(&body.members[at].shape),
            None => fusion.operands.contains(&o).then(|| &module.instructions[o].shape),
        };
        check_shape(member, shape_of)?;
        read.extend(&member.operands);
    }
    if let Some(unread) = fusion.operands.iter().find(|o| !read.contains(o)) {
        return Err(wrong(format!("no member reads its operand %{}", module.instructions[*unread].name)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo_text::parse;

    const FUSED: &str = "HloModule m\nENTRY {\n %x = f32[2,3] parameter(0), input=0\n %y = f32[3] parameter(1), input=1\n \
         ROOT %fused_0 = f32[2,3] fusion(%x, %y), calls={\n %b = f32[2,3] broadcast(%y), dimensions={1}\n \
         ROOT %a = f32[2,3] add(%x, %b)\n }\n}";

    fn broken(change: impl FnOnce(&mut HloModule)) -> String {
        let mut module = parse(FUSED).unwrap();
        change(&mut module);
        verify(&module).unwrap_err().to_string()
    }

    fn body(module: &mut HloModule) -> &mut FusionBody {
        match &mut module.instructions[InstrId(2)].opcode {
            Opcode::Fusion(body) => body,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn defects_of_the_module_are_named() {
        assert_eq!(broken(|m| m.root = InstrId(9)), "module m: its root is instruction number 9, it has 3");
        assert_eq!(
            broken(|m| m.instructions[InstrId(1)].name = "x".to_owned()),
            "instruction %x: the name is used twice"
        );
        assert_eq!(
            broken(|m| m.instructions[InstrId(2)].operands[1] = InstrId(2)),
            "instruction %fused_0: operand 1 is instruction number 2, which does not come before it"
        );
        assert_eq!(
            broken(|m| m.instructions[InstrId(1)].shape.dims = vec![u64::MAX, 2]),
            format!("instruction %y (parameter): f32[{},2] has more elements than 64 bits can count", u64::MAX)
        );
        let renumber = |m: &mut HloModule| {
            if let Opcode::Parameter { index, .. } = &mut m.instructions[InstrId(1)].opcode {
                *index = 3;
            }
        };
        assert_eq!(broken(renumber), "instruction %y: parameter 3 is there twice, or a lower number is missing");
    }

    #[test]
    fn defects_of_a_fusion_are_named() {
        let start = "instruction %fused_0 (fusion): ";
        assert_eq!(broken(|m| body(m).members.clear()), format!("{start}it has no members"));
        assert_eq!(
            broken(|m| {
                body(m).ids.pop();
            }),
            format!("{start}2 members have 1 ids")
        );
        assert_eq!(
            broken(|m| body(m).ids[0] = InstrId(1)),
            format!("{start}member %b has id 1, which is another instruction's")
        );
        assert_eq!(
            broken(|m| body(m).members[1].operands[0] = InstrId(4)),
            "instruction %a (add): an operand does not exist"
        );
        assert_eq!(
            broken(|m| m.instructions[InstrId(2)].shape.dims[0] = 5),
            format!("{start}its root %a is f32[2,3], the fusion is f32[5,3]")
        );
        let unread = |m: &mut HloModule| {
            let first = body(m).ids[0];
            body(m).members[1].operands[0] = first;
        };
        assert_eq!(broken(unread), format!("{start}no member reads its operand %x"));
    }

    #[test]
    fn each_opcode_checks_its_operands() {
        for (line, problem) in [
            (
                "f32[3,2] dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                "dimension 1 of the first is 3",
            ),
            ("f32[2,2] dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={4}", "must exist"),
            ("f32[3,2] transpose(%x), dimensions={0,0}", "is not a permutation"),
            ("f32[2,3] broadcast(%y), dimensions={0}", "do not place f32[3] in f32[2,3]"),
            ("f32[7] reshape(%x)", "the same number of elements"),
            ("bf16[3,2] convert(%x)", "declared bf16[3,2]"),
            ("f32[2,3] add(%x, %y)", "must have the same shape"),
            ("f32[3] reduce(%x), dimensions={2}, to_apply=add", "are not dimensions of f32[2,3]"),
            ("f32[2] reduce(%x), dimensions={0}, to_apply=add", "its operands give f32[3]"),
            ("f32[3] custom-call(%x), custom_call_target=\"relu\"", "its operands give f32[2,3]"),
            ("f32[1,2,6,6] convolution(%m, %w), window={size=3x3}", "do not make 1 groups of 2"),
            ("f32[1,4,6,6] slice(%m), slice={[0:1]}", "expected a range within each dimension"),
            ("f32[1,4,6,6] concatenate(), dimensions={0}", "takes at least one operand"),
            ("f32[4,4,6,6] gather(%m, %m)", "indices must be s32"),
            ("f32[1,4,6,6] dynamic-update-slice(%m, %m, %i, %s, %s, %s)", "a start must be a scalar"),
            ("f32[1,4,6,6] dynamic-update-slice(%m, %m, %s)", "there are 1 starts"),
        ] {
            let text = format!(
                "HloModule m\nENTRY {{\n %x = f32[2,3] parameter(0), input=0\n %y = f32[3] parameter(1), input=1\n \
                 %m = f32[1,4,6,6] parameter(2), input=2\n %w = f32[2,2,3,3] parameter(3), input=3\n \
                 %i = s32[2] parameter(4), input=4\n %s = s32[] parameter(5), input=5\n ROOT %z = {line}\n}}"
            );
            let e = parse(&text).unwrap_err();
            assert!(e.starts_with("instruction %z (") && e.contains(problem), "{line}: {e}");
        }
    }
}
