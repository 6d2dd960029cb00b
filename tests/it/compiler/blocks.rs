//! Blocks of the zoo's models at small sizes: the same bits eagerly, lowered and after the passes, and the resulting HLO.

use neuronscope::compiler::hlo::{HloModule, Opcode};
use neuronscope::compiler::passes::optimize;
use neuronscope::compiler::{Workflow, lower};
use neuronscope::model::zoo::text::{
    AlbertConfig, BertConfig, DistilBertConfig, Gpt2, Gpt2Config, LlamaConfig, Reads, albert, bert, distilbert, llama,
};
use neuronscope::model::zoo::vision::{Clip, ClipConfig, ResNetConfig, Tower, ViTConfig, resnet, unet, vit};
use neuronscope::model::{Distribution, InputSpec, Module, trace};
use neuronscope::tensor::{DType, Shape};

use super::numerics::check;

fn ids(batch: u64, seq: u64, vocab: u32) -> InputSpec {
    InputSpec { shape: Shape::new(DType::S32, [batch, seq]), distribution: Distribution::Below(vocab) }
}

fn images(batch: u64, size: u64) -> InputSpec {
    InputSpec { shape: Shape::f32([batch, 3, size, size]), distribution: Distribution::Normal }
}

fn optimized(module: &dyn Module, inputs: &[InputSpec]) -> HloModule {
    let shapes: Vec<Shape> = inputs.iter().map(|i| i.shape.clone()).collect();
    optimize(lower(&trace(module, &shapes).unwrap(), Workflow::Trace).unwrap()).unwrap().0
}

/// Opcodes of the instructions whose path contains `scope`, in order; values that are known at load are left out.
fn sequence(module: &HloModule, scope: &str) -> Vec<String> {
    let known = module.known_at_load();
    module
        .instructions
        .iter_enumerated()
        .filter(|(id, i)| !known[*id] && i.metadata.op_name.contains(scope))
        .map(|(_, i)| match &i.opcode {
            Opcode::Fusion(body) => {
                let members: Vec<&str> =
                    body.members.iter().map(|m| m.opcode.name()).filter(|n| *n != "broadcast").collect();
                members.join("+")
            }
            op => op.name().to_owned(),
        })
        .filter(|name| name != "broadcast" && name != "constant")
        .collect()
}

const BERT: BertConfig = BertConfig {
    prefix: "Bert",
    vocab: 50,
    hidden: 24,
    layers: 2,
    heads: 3,
    intermediate: 40,
    positions: 16,
    position_offset: 0,
    types: 2,
    eps: 1e-12,
    pooler: true,
};

#[test]
fn a_transformer_encoder() {
    let inputs = [ids(2, 5, 50), ids(2, 5, 2), ids(2, 5, 2)];
    let bert = bert(&BERT);
    let result = check(&bert, &inputs, 3);
    assert_eq!(result.dims(), [2, 5, 24]);
    assert!(result.data().iter().all(|v| v.is_finite()) && result.data().iter().any(|v| v.abs() > 0.1));
    // The mask was drawn with zeros in it; all ones give another result.
    let ones = InputSpec { distribution: Distribution::Constant(1), ..inputs[1].clone() };
    let seen = check(&bert, &[inputs[0].clone(), ones, inputs[2].clone()], 3);
    assert!(!seen.same_bits(&result));
}

#[test]
fn a_bert_layer_is_products_with_their_epilogues_softmax_and_two_normalisations() {
    let bert = bert(&BERT);
    let module = optimized(&bert, &[ids(2, 5, 50), ids(2, 5, 2), ids(2, 5, 2)]);
    let heads = ["dot", "add", "reshape", "transpose"];
    let scores = ["dot", "divide+add", "reduce", "subtract+exponential", "reduce", "divide", "dot"];
    let norm = ["reduce", "multiply", "subtract", "multiply", "reduce", "multiply+add+rsqrt", "multiply+multiply+add"];
    let expected: Vec<&str> = [
        &heads[..],
        &heads,
        &heads,
        &scores,
        &["transpose", "reshape", "dot", "add+add"],
        &norm,
        &["dot", "add+gelu", "dot", "add+add"],
        &norm,
    ]
    .concat();
    assert_eq!(sequence(&module, "BertLayer[1]"), expected);
}

#[test]
fn residual_networks() {
    for bottleneck in [false, true] {
        let config = ResNetConfig { blocks: [1, 1, 1, 2], width: 4, bottleneck, classes: 7 };
        let resnet = resnet(&config);
        let result = check(&resnet, &[images(2, 32)], 5);
        assert_eq!(result.dims(), [2, 7]);
        assert!(result.data().iter().all(|v| v.is_finite()) && result.data().iter().any(|v| v.abs() > 0.01));
        // Scale, shift, shortcut and ReLU are one operation after each convolution.
        let module = optimized(&resnet, &[images(2, 32)]);
        let plain = ["convolution", "multiply+add+maximum"];
        let last = ["convolution", "multiply+add+add+maximum"];
        let inner = vec![plain; if bottleneck { 2 } else { 1 }].concat();
        let class = if bottleneck { "Bottleneck" } else { "BasicBlock" };
        assert_eq!(sequence(&module, &format!("Sequential[layer4]/{class}[1]")), [inner, last.to_vec()].concat());
    }
}

#[test]
fn other_encoders() {
    let inputs = [ids(2, 5, 50), ids(2, 5, 2), ids(2, 5, 2)];
    let distilbert =
        distilbert(&DistilBertConfig { vocab: 50, dim: 24, layers: 2, heads: 3, hidden: 40, positions: 16 });
    assert_eq!(check(&distilbert, &inputs[..2], 3).dims(), [2, 5, 24]);
    let albert = albert(&AlbertConfig {
        vocab: 50,
        embedding: 16,
        hidden: 24,
        layers: 3,
        heads: 3,
        intermediate: 40,
        positions: 16,
    });
    assert_eq!(check(&albert, &inputs, 3).dims(), [2, 5, 24]);
    let roberta = bert(&BertConfig { prefix: "Roberta", position_offset: 2, types: 1, pooler: false, ..BERT });
    assert_eq!(check(&roberta, &inputs[..2], 3).dims(), [2, 5, 24]);
}

#[test]
fn vision_transformers() {
    let config = ViTConfig { image: 32, patch: 8, hidden: 24, layers: 2, heads: 3, intermediate: 40, classes: 7 };
    let result = check(&vit(&config), &[images(2, 32)], 5);
    assert_eq!(result.dims(), [2, 7]);
    let tower = Tower { hidden: 24, layers: 2, heads: 3, intermediate: 40 };
    let text = Tower { hidden: 16, heads: 2, ..tower };
    let clip = Clip::new(&ClipConfig { vision: tower, text, image: 32, patch: 8, vocab: 50, projection: 12 });
    let ones = InputSpec { distribution: Distribution::Constant(1), ..ids(6, 5, 2) };
    let inputs = [images(2, 32), ids(6, 5, 50), ones];
    assert_eq!(check(&clip, &inputs, 5).dims(), [2, 6]);
}

#[test]
fn a_unet() {
    let unet = unet(3, 2, 4);
    let result = check(&unet, &[images(1, 32)], 5);
    assert_eq!(result.dims(), [1, 2, 32, 32]);
    assert!(result.data().iter().all(|v| v.is_finite()) && result.data().iter().any(|v| v.abs() > 0.01));
}

#[test]
fn a_causal_decoder_does_not_see_what_comes_later() {
    let gpt2 = Gpt2::new(&Gpt2Config { vocab: 50, hidden: 24, layers: 2, heads: 3, positions: 16 });
    let result = check(&gpt2, &[ids(1, 6, 50)], 4);
    assert_eq!(result.dims(), [1, 6, 50]);
    // The first three positions give the same scores without the other three.
    let tokens = neuronscope::model::input_tensor(4, 0, &ids(1, 6, 50)).unwrap();
    let first = neuronscope::tensor::Tensor::new(ids(1, 3, 50).shape, tokens.data()[..3].to_vec()).unwrap();
    let shorter = neuronscope::model::run_eager(&gpt2, vec![first], 4).unwrap();
    for (a, b) in result.data().iter().zip(shorter.data()) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn a_llama_with_grouped_heads() {
    let config = LlamaConfig {
        vocab: 50,
        hidden: 32,
        layers: 2,
        heads: 4,
        kv_heads: 2,
        intermediate: 40,
        theta: 10_000.0,
        context: 9,
        reads: Reads::LastToken,
    };
    let llama = llama(&config);
    let integer = |dims: &[u64], value| InputSpec {
        shape: Shape::new(DType::S32, dims),
        distribution: Distribution::Constant(value),
    };
    let inputs = [ids(2, 1, 50), integer(&[2, 9], 1), integer(&[1], 8)];
    let result = check(&llama, &inputs, 6);
    assert_eq!(result.dims(), [2, 1, 50]);
    assert!(result.data().iter().all(|v| v.is_finite()));
    // Another position rotates the query differently and writes elsewhere in the cache.
    let other = check(&llama, &[inputs[0].clone(), inputs[1].clone(), integer(&[1], 3)], 6);
    assert!(!other.same_bits(&result));
    let norm = ["multiply", "reduce", "multiply+add+rsqrt", "multiply+multiply"];
    let rotary = ["dot", "reshape", "slice", "slice", "negate", "concatenate", "multiply+multiply+add"];
    let scores = ["dot", "divide+add", "reduce", "subtract+exponential", "reduce", "divide", "dot"];
    let expected: Vec<&str> = [
        &norm[..],
        &["dot", "reshape", "dynamic-update-slice"],
        &rotary,
        &["dynamic-update-slice"],
        &rotary,
        &["reshape"],
        &scores,
        &["reshape", "dot", "add"],
        &norm,
        &["dot", "dot", "logistic+multiply+multiply", "dot", "add"],
    ]
    .concat();
    assert_eq!(sequence(&optimized(&llama, &inputs), "LlamaDecoderLayer[1]"), expected);
}
