//! HLO text reads back to the module it was written from, and errors say where.

use neuronscope::compiler::Workflow;
use neuronscope::compiler::hlo::{parse, print};
use neuronscope::compiler::passes::optimize;
use proptest::prelude::*;

use super::lowered;

#[test]
fn every_model_reads_back_before_and_after_the_passes() {
    for spec in [
        "nn",
        "matmult:n=8,loop_count=3",
        "matmult:n=8,loop_count=3,chained=false",
        "mlp",
        "distilbert-base-uncased",
        "resnet18",
        "openai/clip-vit-base-patch32",
        "UNet",
        "llama-3-8b",
    ] {
        for workflow in [Workflow::MarkStep, Workflow::Trace] {
            let module = lowered(spec, workflow);
            assert_eq!(parse(&print(&module)).unwrap(), module);
            let (module, _) = optimize(module).unwrap();
            assert_eq!(parse(&print(&module)).unwrap(), module);
        }
    }
}

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn errors_say_where_and_what() {
    let head = "HloModule m\nENTRY {\n  %x = f32[2,3] parameter(0), input=0\n  ";
    let e = |line: &str| error(&format!("{head}{line}\n}}"));
    assert_eq!(error(""), "line 1, column 1: expected HloModule, found the end");
    assert_eq!(e("ROOT %y = f32[2,3] tan(%x)"), "line 4, column 22: unknown opcode \"tan\"");
    assert_eq!(e("ROOT %y = f32[2,3] tanh(%z)"), "line 4, column 27: %z is not defined before this line");
    assert_eq!(e("ROOT %y = g32[2,3] tanh(%x)"), "line 4, column 13: unknown element type \"g32\"");
    assert_eq!(e("ROOT %y = f32[2,3 tanh(%x)"), "line 4, column 21: expected ',', found \"tanh\"");
    assert_eq!(e("%y = f32[2,3] tanh(%x)"), "line 5, column 2: no instruction is marked ROOT");
    assert_eq!(e("ROOT %x = f32[2,3] tanh(%x)"), "line 4, column 3: %x is defined twice");
    assert_eq!(
        e("ROOT %y = f32[3,2] tanh(%x)"),
        "line 4, column 3: instruction %y (tanh): the result is declared f32[3,2], its operands give f32[2,3]"
    );
    assert_eq!(e("ROOT %y = f32[3,2] transpose(%x)"), "line 4, column 22: transpose needs the attribute dimensions");
    assert_eq!(e("ROOT %y = f32[2,3] tanh(%x), dimensions={0}"), "line 4, column 22: tanh has no attribute dimensions");
    assert_eq!(
        e("ROOT %y = f32[2,3] add(%x)"),
        "line 4, column 3: instruction %y (add): add takes 2 operands, it has 1"
    );
    assert_eq!(
        e("ROOT %y = f32[2,3] tanh(%x), metadata={op_name=\"a"),
        "line 4, column 50: this text has no closing quote"
    );
    assert_eq!(e("ROOT %y = f32[2,3] $"), "line 4, column 22: '$' has no meaning here");
    assert_eq!(
        e("ROOT %y = f32[2,3] fusion(%x), calls={ ROOT %m = f32[2,3] fusion(%x), calls={} }"),
        "line 4, column 61: a fusion cannot be a member of a fusion"
    );
}

proptest! {
    #[test]
    fn any_text_is_a_module_or_a_placed_error(text in "[ -~\n]{0,200}") {
        if let Err(e) = parse(&text) {
            prop_assert!(e.line >= 1 && e.column >= 1);
        }
    }

    #[test]
    fn damaged_text_never_panics(at in 0usize..4000, junk in "[ -~]{0,3}") {
        let mut text = print(&optimize(lowered("mlp", Workflow::Trace)).unwrap().0);
        let at = at % text.len();
        text.replace_range(at..(at + 1).min(text.len()), &junk);
        if let Ok(module) = parse(&text) {
            prop_assert_eq!(&parse(&print(&module)).unwrap(), &module);
        }
    }
}
