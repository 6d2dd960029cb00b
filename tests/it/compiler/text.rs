//! HLO text says everything about a module: it reads back to the module it was written from.

use crate::hlo_text::parse;
use neuronscope::compiler::Workflow;
use neuronscope::compiler::hlo::print;
use neuronscope::compiler::passes::optimize;

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
