//! Random modules: text reads back, and passes keep the meaning, bit for bit.

use std::rc::Rc;

use crate::hlo_text::parse;
use neuronscope::base::IndexVec;
use neuronscope::compiler::Workflow;
use neuronscope::compiler::hlo::{
    DotDims, HloInstruction, HloModule, InstrId, Literal, OpMetadata, Opcode, ParameterRole, ReduceKind, evaluate,
    print, verify,
};
use neuronscope::compiler::passes::{CommonSubexpressions, DeadCode, Fusion, PassManager, Simplify, Views, optimize};
use neuronscope::tensor::{Shape, Tensor};
use proptest::prelude::*;

/// Rows and columns of every matrix.
const N: u64 = 3;

fn matrix() -> Shape {
    Shape::f32([N, N])
}

/// One step: the operation, the earlier matrices it reads, and a constant's bits.
type Step = (u8, u16, u16, u32);

struct Build {
    instructions: IndexVec<InstrId, HloInstruction>,
    matrices: Vec<InstrId>,
    label: String,
}

impl Build {
    fn push(&mut self, opcode: Opcode, operands: Vec<InstrId>, shape: Shape) -> InstrId {
        let name = format!("{}.{}", opcode.name(), self.instructions.len());
        let metadata = OpMetadata { op_type: self.label.clone(), op_name: format!("{}/{name}", self.label) };
        self.instructions.push(HloInstruction { name, opcode, operands, shape, metadata })
    }

    fn step(&mut self, (what, a, b, bits): Step) {
        let pick = |n: u16| self.matrices[n as usize % self.matrices.len()];
        let (a, b) = (pick(a), pick(b));
        let id = match what % 16 {
            0 => self.push(Opcode::Add, vec![a, b], matrix()),
            1 => self.push(Opcode::Multiply, vec![a, b], matrix()),
            2 => self.push(Opcode::Maximum, vec![a, b], matrix()),
            3 => self.push(Opcode::Divide, vec![a, b], matrix()),
            4 => self.push(Opcode::Tanh, vec![a], matrix()),
            5 => self.push(Opcode::Negate, vec![a], matrix()),
            6 | 7 => self.push(Opcode::Transpose { permutation: vec![1, 0] }, vec![a], matrix()),
            8 => {
                let dims = DotDims { batch: 0, lhs_contracting: 1, rhs_contracting: (bits & 1) };
                self.push(Opcode::Dot(dims), vec![a, b], matrix())
            }
            9 => {
                let kind = if bits & 1 == 0 { ReduceKind::Sum } else { ReduceKind::Max };
                let dimension = bits >> 1 & 1;
                let row = self.push(Opcode::Reduce { kind, dimensions: vec![dimension] }, vec![a], Shape::f32([N]));
                self.push(Opcode::Broadcast { dimensions: vec![1 - dimension] }, vec![row], matrix())
            }
            10 | 11 => {
                let value = self.push(Opcode::Constant(Literal(f32::from_bits(bits))), vec![], Shape::f32([]));
                self.push(Opcode::Broadcast { dimensions: vec![] }, vec![value], matrix())
            }
            12 | 13 => {
                let flat = self.push(Opcode::Reshape, vec![a], Shape::f32([N * N]));
                self.push(Opcode::Reshape, vec![flat], matrix())
            }
            14 => self.push(Opcode::CustomCall { target: "relu".to_owned() }, vec![a], matrix()),
            _ => self.push(Opcode::Subtract, vec![a, b], matrix()),
        };
        self.matrices.push(id);
    }
}

fn build(steps: &[Step], name: &str, label: &str) -> HloModule {
    let mut b = Build { instructions: IndexVec::new(), matrices: Vec::new(), label: label.to_owned() };
    for index in 0..2 {
        let id = b.push(Opcode::Parameter { index, role: ParameterRole::Input(index) }, vec![], matrix());
        b.matrices.push(id);
    }
    for step in steps {
        b.step(*step);
    }
    let root = *b.matrices.last().unwrap();
    HloModule { name: name.to_owned(), workflow: Workflow::Trace, instructions: b.instructions, root }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Early operands are picked often, so that values with several readers and equal work are common.
    prop::collection::vec((any::<u8>(), 0u16..6, any::<u16>(), any::<u32>()), 0..40)
}

proptest! {
    #[test]
    fn text_reads_back(steps in steps(), name in "\\PC{0,12}", label in "(\\PC|\n){0,12}") {
        let mut module = build(&steps, &name, &label);
        // NaN is not equal to itself: compare by text.
        for _ in 0..2 {
            let text = print(&module);
            let back = parse(&text).unwrap();
            prop_assert_eq!(&print(&back), &text);
            if !text.contains("constant(nan)") {
                prop_assert_eq!(&back, &module);
            }
            module = optimize(module).unwrap().0;
        }
    }

    #[test]
    fn passes_keep_every_bit(steps in steps()) {
        let module = build(&steps, "m", "");
        verify(&module).unwrap();
        let inputs: Vec<Rc<Tensor>> = (0..2)
            .map(|n| Rc::new(Tensor::from_fn(matrix(), |i| (i as f32 - 4.0) * 0.37 + n as f32).unwrap()))
            .collect();
        let expected = evaluate(&module, &inputs).unwrap();
        let lists: [fn() -> PassManager; 8] = [
            || PassManager::empty().with(Views),
            || PassManager::empty().with(Views).with(Simplify).with(Views).with(Fusion).with(Views),
            PassManager::default,
            || PassManager::empty().with(DeadCode),
            || PassManager::empty().with(Simplify),
            || PassManager::empty().with(CommonSubexpressions),
            || PassManager::empty().with(Fusion),
            || PassManager::empty().with(Fusion).with(CommonSubexpressions).with(DeadCode).with(Fusion).with(Simplify),
        ];
        for list in lists {
            let manager = list();
            let (after, _) = manager.run(module.clone()).unwrap();
            let found = evaluate(&after, &inputs).unwrap();
            prop_assert!(found[0].same_bits(&expected[0]), "{:?}\n{}\n{}", manager.names(), print(&module), print(&after));
        }
    }
}
