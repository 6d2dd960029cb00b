//! What the passes remove, share and fuse.

use crate::hlo_text::parse;
use neuronscope::compiler::Workflow;
use neuronscope::compiler::hlo::{HloModule, Opcode, print};
use neuronscope::compiler::passes::{
    CommonSubexpressions, DeadCode, FoldTransposes, Fusion, PassManager, Simplify, Views, optimize,
};

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

#[test]
fn a_batched_product_reads_what_its_operand_transposes() {
    let text = |transpose: &str, product: &str| {
        format!(
            "HloModule m\nENTRY {{\n %q = f32[2,3,4] parameter(0), input=0\n %k = f32[2,5,4] parameter(1), input=1\n \
             %t = {transpose}\n ROOT %s = {product}\n}}"
        )
    };
    let turned = text(
        "f32[2,4,5] transpose(%k), dimensions={0,2,1}",
        "f32[2,3,5] dot(%q, %t), batch_dims=1, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
    );
    let (after, log) = PassManager::empty().with(FoldTransposes).run(parse(&turned).unwrap()).unwrap();
    assert_eq!(log[0].examples, ["%s reads %k"]);
    let Opcode::Dot(dims) = &after.instructions[after.root].opcode else { panic!("{}", print(&after)) };
    assert_eq!((dims.lhs_contracting, dims.rhs_contracting), (2, 2));
    // A transpose that moves the batch is not absorbed.
    let moved = text(
        "f32[5,2,4] transpose(%k), dimensions={1,0,2}",
        "f32[5,2,2] dot(%t, %t), batch_dims=1, lhs_contracting_dims={2}, rhs_contracting_dims={2}",
    );
    let (_, log) = PassManager::empty().with(FoldTransposes).run(parse(&moved).unwrap()).unwrap();
    assert_eq!(log[0].changes, 0);
}

#[test]
fn transposes_compose_and_moving_dimensions_of_one_is_a_view() {
    let run = |lines: &str| {
        let text = format!("HloModule m\nENTRY {{\n %x = f32[2,3,4] parameter(0), input=0\n {lines}\n}}");
        PassManager::empty().with(Simplify).with(DeadCode).run(parse(&text).unwrap()).unwrap().0
    };
    let twice = run("%t = f32[4,2,3] transpose(%x), dimensions={2,0,1}\n \
         ROOT %u = f32[3,4,2] transpose(%t), dimensions={2,0,1}");
    assert_eq!(twice.instructions.len(), 2);
    let expected = Opcode::Transpose { permutation: vec![1, 2, 0] };
    assert_eq!(twice.instructions[twice.root].opcode, expected);
    let one = run("%r = f32[2,1,3,4] reshape(%x)\n ROOT %t = f32[2,3,1,4] transpose(%r), dimensions={0,2,1,3}");
    assert_eq!(one.instructions[one.root].opcode, Opcode::Reshape);
}

#[test]
fn a_linear_layer_on_a_view_is_computed_on_what_is_viewed() {
    let text = "HloModule m\nENTRY {\n %x = f32[2,3,4] parameter(0), input=0\n %w = f32[4,5] parameter(1), weight=\"w\"\n \
         %b = f32[5] parameter(2), weight=\"b\"\n %v = f32[6,4] reshape(%x)\n \
         %d = f32[6,5] dot(%v, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n \
         %c = f32[6,5] broadcast(%b), dimensions={1}\n %a = f32[6,5] add(%d, %c)\n \
         %y = f32[2,3,5] reshape(%a)\n ROOT %t = f32[2,3,5] tanh(%y)\n}";
    let (after, log) = PassManager::empty().with(Views).with(DeadCode).run(parse(text).unwrap()).unwrap();
    assert_eq!((log[0].changes, count(&after, "reshape")), (2, 0));
    let shape = |name: &str| after.instructions[after.find(name).unwrap()].shape.to_string();
    assert_eq!((shape("d"), shape("a")), ("f32[2,3,5]".to_owned(), "f32[2,3,5]".to_owned()));
    assert!(print(&after).contains("lhs_contracting_dims={2}"));
}

#[test]
fn results_of_weights_alone_are_known_and_stay_out_of_fusions() {
    let text = "HloModule m\nENTRY {\n %x = f32[2,3] parameter(0), input=0\n %w = f32[3] parameter(1), weight=\"w\"\n \
         %e = f32[] constant(0.5)\n %f = f32[3] broadcast(%e), dimensions={}\n %s = f32[3] add(%w, %f)\n \
         %r = f32[3] rsqrt(%s)\n %b = f32[2,3] broadcast(%r), dimensions={1}\n ROOT %m = f32[2,3] multiply(%x, %b)\n}";
    let (after, _) = PassManager::empty().with(Fusion).run(parse(text).unwrap()).unwrap();
    let known = after.known_at_load();
    let names: Vec<&str> =
        after.instructions.iter_enumerated().filter(|(id, _)| known[*id]).map(|(_, i)| i.name.as_str()).collect();
    assert_eq!(names, ["w", "s", "r"]);
    assert_eq!(count(&after, "fusion"), 1);
}
