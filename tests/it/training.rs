//! Training steps: their values before and after the passes, their profile, their benchmark, and what is refused.

use std::process::{Command, Output};

use neuronscope::compiler::hlo::evaluate;
use neuronscope::compiler::passes::optimize;
use neuronscope::compiler::{Workflow, lower, parameter_values};
use neuronscope::model::{
    AtenOp, ModelSpec, Node, evaluate as evaluate_graph, input_tensor, input_tensors, weight_tensor,
};

fn neuronscope(command: &str, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_neuronscope")).arg(command).args(args).output().unwrap()
}

/// Graph, lowered and optimised program give the same bits for every result: the loss and all new values.
#[test]
fn a_step_has_the_same_bits_before_and_after_the_passes() {
    for (text, batch) in [("nn:training=adamw", 2), ("mlp:hidden1=24,hidden2=20,training=sgd", 3)] {
        let spec: ModelSpec = text.parse().unwrap();
        let graph = spec.trace(batch).unwrap();
        let inputs = spec.inputs(batch).unwrap();
        let given = |node: &Node| match &node.op {
            AtenOp::Input(n) => input_tensor(5, *n, &inputs[*n as usize]).ok(),
            AtenOp::Weight { path, init, .. } => weight_tensor(5, path, &node.shape, *init).ok(),
            _ => None,
        };
        let values = evaluate_graph(&graph, &given).unwrap();
        let tensors = input_tensors(5, &inputs).unwrap();
        let lowered = lower(&graph, Workflow::Trace).unwrap();
        let (optimised, _) = optimize(lowered.clone()).unwrap();
        for module in [lowered, optimised] {
            let parameters = parameter_values(&module, &graph, &tensors, 5).unwrap();
            let results = evaluate(&module, &parameters).unwrap();
            let expected = &graph.nodes[graph.output].inputs;
            assert_eq!(results.len(), expected.len());
            for (result, node) in results.iter().zip(expected) {
                assert!(result.same_bits(&values[*node]), "{text}: {}", graph.nodes[*node].path());
            }
        }
    }
}

#[test]
fn a_profile_shows_forward_backward_and_update() {
    let run = |args: &[&str]| neuronscope("profile", args);
    let args = ["--model", "mlp:hidden1=120,hidden2=84", "--training", "--optimizer", "sgd"];
    let summary = run(&[&args[..], &["--summary"]].concat());
    assert!(summary.status.success(), "{}", String::from_utf8_lossy(&summary.stderr));
    let text = String::from_utf8(summary.stdout).unwrap();
    let line = text.lines().find(|l| l.contains("Of the training step")).unwrap();
    assert!(["forward ", "backward ", "update "].iter().all(|part| line.contains(part)), "{line}");
    let operators = String::from_utf8(run(&args).stdout).unwrap();
    for name in ["my_ops__relu_custom-call", "my_ops__relu_backward_custom-call", "aten__sub_subtract"] {
        assert!(operators.contains(name), "{name} is not in {operators}");
    }
    let inference = String::from_utf8(run(&["--model", "mlp", "--summary"]).stdout).unwrap();
    assert!(!inference.contains("training step"), "{inference}");
}

#[test]
fn a_benchmark_counts_samples_and_the_reduction_of_gradients() {
    let rate = |model: &str, extra: &[&str]| {
        let args = ["--model", model, "--workers_per_model", "1", "--duration", "1", "--json", "--jitter", "0"];
        let ran = neuronscope("bench", &[&args[..], extra].concat());
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let reports: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        reports["reports"][0]["throughput_avg"].as_f64().unwrap()
    };
    let resnet = ["--instance", "trn1.2xlarge", "--batch_sizes", "4"];
    let with = |more: &[&'static str]| [&resnet[..], more].concat();
    let inference = rate("resnet18", &with(&["--n_models", "1"]));
    let one = rate("resnet18", &with(&["--n_models", "1", "--training"]));
    let two = rate("resnet18", &with(&["--n_models", "2", "--training"]));
    assert!(one < inference / 2.0, "{one} of {inference}");
    assert!(two > one && two < 2.0 * one, "{two} of twice {one}");
}

/// Throughput of each row.
fn rates(args: &[&str]) -> Vec<f64> {
    let common = ["--workers_per_model", "1", "--duration", "1", "--json", "--jitter", "0"];
    let ran = neuronscope("bench", &[args, &common].concat());
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let reports: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let rows = reports["reports"].as_array().unwrap();
    rows.iter().map(|row| row["throughput_avg"].as_f64().unwrap()).collect()
}

/// With many micro-batches a call takes the time of one without update, and no copy waits for the others' gradients.
#[test]
fn micro_batches_share_the_update_and_the_reduction() {
    let of = |model: &str| {
        rates(&["--model", model, "--instance", "trn1.2xlarge", "--batch_sizes", "4", "--n_models", "1,2"])
    };
    let each = of("distilbert-base-uncased:training=adamw");
    let some = of("distilbert-base-uncased:training=adamw,accumulate=4");
    let many = of("distilbert-base-uncased:training=adamw,accumulate=4096");
    let none = of("distilbert-base-uncased:training=accumulate");
    assert!(each[0] < some[0] && some[0] < many[0], "{each:?} {some:?} {many:?}");
    for (many, none) in many.iter().zip(&none) {
        assert!((many / none - 1.0).abs() < 0.01, "{many} of {none}");
    }
    assert!(each[1] / each[0] < 1.9 && none[1] / none[0] > 1.99, "{each:?} {none:?}");
}

/// Whole sequences, more saved values than SBUF holds, and operations that read many of them.
#[test]
fn decoders_train_on_whole_sequences() {
    // At 1,024 tokens the operands of one operation fill SBUF.
    let gpt2 = [256, 512, 1024].map(|seq| {
        let model = format!("gpt2:seq={seq},training=adamw");
        rates(&["--model", &model, "--instance", "trn1.2xlarge", "--n_models", "1"])[0]
    });
    assert!(gpt2[0] > gpt2[1] && gpt2[1] > gpt2[2] && gpt2[2] > 1.0, "{gpt2:?}");
    let llama = |layers: u32| {
        let model = format!("llama-2-7b:layers={layers},context=256,training=sgd");
        rates(&["--model", &model, "--instance", "trn1.2xlarge", "--n_models", "1"])[0]
    };
    let (one, two) = (llama(1), llama(2));
    assert!(one > two && two > one / 2.0, "{one} {two}");
}

#[test]
fn what_can_not_be_trained_says_why() {
    let error = |args: &[&str]| {
        let ran = neuronscope("profile", args);
        assert!(!ran.status.success(), "{args:?}");
        String::from_utf8(ran.stderr).unwrap()
    };
    let llama = error(&["--model", "llama-2-7b:layers=4", "--training"]);
    assert!(llama.contains("of device memory on one core") && llama.contains("are missing"), "{llama}");
    let file = error(&["--model", "resnet50.onnx", "--training"]);
    assert!(file.contains("has no backward pass"), "{file}");
    let large = error(&["--model", "gpt2:seq=1024", "--batch-size", "8", "--training"]);
    assert!(large.contains("of device memory on one core") && large.contains("are missing"), "{large}");
    let optimizer = error(&["--model", "nn", "--optimizer", "sgd"]);
    assert!(optimizer.contains("--training"), "{optimizer}");
}
