//! What the passes remove, share and fuse.

use neuronscope::compiler::Workflow;
use neuronscope::compiler::hlo::{HloModule, Opcode, parse, print};
use neuronscope::compiler::passes::{CommonSubexpressions, DeadCode, Fusion, PassManager, Simplify, optimize};

use super::lowered;

fn count(module: &HloModule, opcode: &str) -> usize {
    module.instructions.iter().filter(|i| i.opcode.name() == opcode).count()
}

#[test]
fn the_guides_unchained_loop_loses_all_but_its_last_iteration_by_dead_code_removal_alone() {
    let module = lowered("matmult:n=16,loop_count=50,chained=false", Workflow::Trace);
    assert_eq!(count(&module, "dot"), 50);
    let (after, log) = PassManager::empty().with(DeadCode).run(module).unwrap();
    assert_eq!(count(&after, "dot"), 1);
    // Each lost iteration had a view, a transposed weight, a product, a broadcast bias, a sum and a view back.
    assert_eq!(log[0].changes, 49 * 6);
    assert!(log[0].examples[0].contains("Matmult[model]/Linear[matmult]/"), "{:?}", log[0].examples[0]);
}

#[test]
fn the_chained_loop_loses_nothing_that_computes() {
    let module = lowered("matmult:n=16,loop_count=50", Workflow::Trace);
    let (after, log) = PassManager::empty().with(DeadCode).run(module.clone()).unwrap();
    assert_eq!((log[0].changes, &after), (0, &module));
    let (after, _) = optimize(module).unwrap();
    assert_eq!(count(&after, "dot"), 50);
    assert_eq!(count(&after, "fusion"), 50);
    // One transposed weight serves all, and the views around the layers are gone.
    assert_eq!((count(&after, "transpose"), count(&after, "reshape")), (1, 0));
}

#[test]
fn nn_is_fused_behind_each_product() {
    let (after, log) = optimize(lowered("nn", Workflow::MarkStep)).unwrap();
    let fused: Vec<(String, Vec<String>)> = after
        .instructions
        .iter()
        .filter_map(|i| match &i.opcode {
            Opcode::Fusion(body) => Some((i.name.clone(), body.members.iter().map(|m| m.name.clone()).collect())),
            _ => None,
        })
        .collect();
    let names = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        fused,
        [
            ("fused_0".to_owned(), names(&["broadcast.1", "add", "broadcast.2", "maximum"])),
            ("fused_1".to_owned(), names(&["broadcast", "add.1", "tanh"])),
        ]
    );
    assert_eq!(after.instructions[after.root].metadata.op_name, "NN[model]/Tanh[nl2]/aten__tanh_tanh");
    let last = log.last().unwrap();
    assert_eq!((last.pass.as_str(), last.changes), ("fusion", 2));
    assert_eq!(last.examples[1], "%fused_1 = {broadcast, add.1, tanh}");
}

#[test]
fn a_value_with_another_reader_is_not_fused() {
    let module = parse(
        "HloModule m\nENTRY {\n %x = f32[4] parameter(0), input=0\n %e = f32[4] exponential(%x)\n \
         %s = f32[] reduce(%e), dimensions={0}, to_apply=add\n %b = f32[4] broadcast(%s), dimensions={}\n \
         ROOT %d = f32[4] divide(%e, %b)\n}",
    )
    .unwrap();
    let (after, _) = PassManager::empty().with(Fusion).run(module).unwrap();
    let fusion = &after.instructions[after.root];
    let Opcode::Fusion(body) = &fusion.opcode else { panic!("{}", print(&after)) };
    assert_eq!(body.members.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(), ["b", "d"]);
    assert!(after.find("e").is_some());
}

#[test]
fn a_diamond_inside_a_chain_is_fused_once() {
    let module = parse(
        "HloModule m\nENTRY {\n %x = f32[4] parameter(0), input=0\n %t = f32[4] tanh(%x)\n \
         %n = f32[4] negate(%t)\n ROOT %m = f32[4] maximum(%t, %n)\n}",
    )
    .unwrap();
    let (after, _) = PassManager::empty().with(Fusion).run(module).unwrap();
    assert_eq!(after.instructions.len(), 2);
    assert_eq!(after.instructions[after.root].operands.len(), 1);
}

#[test]
fn running_fusion_twice_keeps_names_apart() {
    let module = parse(
        "HloModule m\nENTRY {\n %x = f32[4] parameter(0), input=0\n %t = f32[4] tanh(%x)\n \
         %n = f32[4] negate(%t)\n %c = f32[4] custom-call(%n), custom_call_target=\"relu\"\n \
         %a = f32[4] exponential(%c)\n ROOT %l = f32[4] log(%a)\n}",
    )
    .unwrap();
    let (once, _) = PassManager::empty().with(Fusion).run(module).unwrap();
    assert_eq!(once.instructions.len(), 4);
    let (twice, log) = PassManager::empty().with(Fusion).run(once.clone()).unwrap();
    assert_eq!((log[0].changes, twice), (0, once));
}

#[test]
fn equal_work_is_shared_through_equal_operands() {
    let module = parse(
        "HloModule m\nENTRY {\n %x = f32[2,2] parameter(0), input=0\n %w = f32[2,2] parameter(1), weight=\"w\"\n \
         %t = f32[2,2] transpose(%w), dimensions={1,0}\n %t.1 = f32[2,2] transpose(%w), dimensions={1,0}\n \
         %d = f32[2,2] dot(%x, %t), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n \
         %d.1 = f32[2,2] dot(%x, %t.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n \
         ROOT %a = f32[2,2] add(%d, %d.1)\n}",
    )
    .unwrap();
    let (after, log) = PassManager::empty().with(CommonSubexpressions).run(module).unwrap();
    assert_eq!(log[0].examples, ["%t.1 is %t", "%d.1 is %d"]);
    let root = &after.instructions[after.root];
    assert_eq!(root.operands[0], root.operands[1]);
}

#[test]
fn a_transpose_and_its_inverse_cancel_and_others_do_not() {
    let text = |second: &str| {
        format!(
            "HloModule m\nENTRY {{\n %x = f32[2,3,4] parameter(0), input=0\n \
             %t = f32[4,2,3] transpose(%x), dimensions={{2,0,1}}\n ROOT %u = {second}\n}}"
        )
    };
    let run = |second: &str| PassManager::empty().with(Simplify).run(parse(&text(second)).unwrap()).unwrap().0;
    let back = run("f32[2,3,4] transpose(%t), dimensions={1,2,0}");
    assert_eq!(back.instructions[back.root].name, "x");
    let other = run("f32[3,4,2] transpose(%t), dimensions={2,0,1}");
    assert_eq!(other.instructions[other.root].name, "u");
}
