//! A small model of every family.

use std::collections::BTreeSet;

use super::super::{Loss, Optimizer};
use super::check;
use crate::zoo::text::{
    AlbertConfig, BertConfig, DistilBertConfig, Gpt2, Gpt2Config, LlamaConfig, Reads, albert, bert, distilbert, llama,
};
use crate::zoo::vision::{ResNetConfig, ViTConfig, resnet, unet, vit};
use crate::zoo::{Mlp, tutorial_network};
use crate::{Distribution, InputSpec, Module, trace};
use ns_tensor::{DType, Shape};

/// A small model of a family, with its inputs and the loss that it is trained with.
pub(in crate::training) type Case = (&'static str, Box<dyn Module>, Vec<InputSpec>, Loss);

fn image(dims: [u64; 4]) -> InputSpec {
    InputSpec { shape: Shape::f32(dims), distribution: Distribution::Normal }
}

fn tokens(batch: u64, seq: u64, vocab: u32, with_types: bool) -> Vec<InputSpec> {
    let input = |distribution| InputSpec { shape: Shape::new(DType::S32, [batch, seq]), distribution };
    let mut all = vec![input(Distribution::Below(vocab)), input(Distribution::Constant(1))];
    all.extend(with_types.then(|| input(Distribution::Below(2))));
    all
}

pub(in crate::training) const BERT: BertConfig = BertConfig {
    prefix: "Bert",
    vocab: 13,
    hidden: 8,
    layers: 1,
    heads: 2,
    intermediate: 12,
    positions: 6,
    position_offset: 0,
    types: 2,
    eps: 1e-12,
    pooler: true,
};

fn loss_of(module: &dyn Module, inputs: &[InputSpec]) -> Loss {
    let shapes: Vec<Shape> = inputs.iter().map(|i| i.shape.clone()).collect();
    Loss::of(&trace(module, &shapes).unwrap())
}

/// Small models of text.
pub(in crate::training) fn families_of_text() -> Vec<Case> {
    let albert = albert(&AlbertConfig {
        vocab: 11,
        embedding: 4,
        hidden: 8,
        layers: 2,
        heads: 2,
        intermediate: 12,
        positions: 6,
    });
    let distilbert = distilbert(&DistilBertConfig { vocab: 11, dim: 8, layers: 1, heads: 2, hidden: 12, positions: 6 });
    let gpt2 = Gpt2Config { vocab: 11, hidden: 8, layers: 1, heads: 2, positions: 6 };
    let llama = llama(&LlamaConfig {
        vocab: 11,
        hidden: 16,
        layers: 1,
        heads: 4,
        kv_heads: 2,
        intermediate: 12,
        theta: 10_000.0,
        context: 3,
        reads: Reads::Sequence,
    });
    let ids = vec![tokens(2, 3, 11, false).remove(0)];
    let masked = Loss::MaskedLanguageModel;
    vec![
        ("bert", Box::new(bert(&BERT)), tokens(2, 3, 13, true), masked),
        ("albert", Box::new(albert), tokens(2, 3, 11, true), masked),
        ("distilbert", Box::new(distilbert), tokens(2, 3, 11, false), masked),
        ("gpt2", Box::new(Gpt2::new(&gpt2)), ids.clone(), Loss::CrossEntropy),
        ("llama", Box::new(llama), ids, Loss::CrossEntropy),
    ]
}

#[test]
fn every_family_of_text_models_trains_with_its_loss() {
    for (name, module, inputs, loss) in families_of_text() {
        assert_eq!(loss_of(&*module, &inputs), loss, "{name}");
        let step = check(name, &*module, &inputs, Optimizer::AdamW);
        let trained: BTreeSet<&str> = step.gradients.iter().map(|(path, _)| path.as_str()).collect();
        let own = step.graph.weights().into_iter().filter(|(_, w)| !w.buffer).map(|(path, _)| path);
        let idle: Vec<String> = own.filter(|path| !trained.contains(path.as_str())).collect();
        assert!(idle.is_empty(), "{name}: {idle:?}");
    }
}

/// Small models of images and of rows of numbers.
pub(in crate::training) fn families_of_images() -> Vec<Case> {
    let small = |bottleneck| resnet(&ResNetConfig { blocks: [1, 1, 1, 1], width: 64, bottleneck, classes: 3 });
    let vit = vit(&ViTConfig { image: 8, patch: 4, hidden: 8, layers: 1, heads: 2, intermediate: 12, classes: 3 });
    let mse = Loss::MeanSquaredError;
    let matrix = |rows, columns| InputSpec { shape: Shape::f32([rows, columns]), distribution: Distribution::Normal };
    vec![
        ("resnet of basic blocks", Box::new(small(false)), vec![image([4, 3, 64, 64])], Loss::CrossEntropy),
        ("resnet of bottlenecks", Box::new(small(true)), vec![image([4, 3, 64, 64])], Loss::CrossEntropy),
        ("vit", Box::new(vit), vec![image([2, 3, 8, 8])], Loss::CrossEntropy),
        ("unet", Box::new(unet(3, 2, 2)), vec![image([2, 3, 64, 64])], mse),
        ("mlp", Box::new(Mlp::new(9, [7, 6], 4)), vec![matrix(5, 9)], Loss::NegativeLogLikelihood),
        ("nn", Box::new(tutorial_network()), vec![matrix(4, 4)], mse),
    ]
}

#[test]
fn every_family_of_vision_models_trains_with_its_loss() {
    // Few values in a channel make a batch norm steep, so the image is large enough for the last stage.
    let resnet = resnet(&ResNetConfig { blocks: [1, 1, 1, 1], width: 4, bottleneck: true, classes: 3 });
    let mut cases = families_of_images();
    cases.retain(|(name, ..)| !name.starts_with("resnet"));
    cases.push(("resnet", Box::new(resnet), vec![image([3, 3, 96, 96])], Loss::CrossEntropy));
    for (name, module, inputs, loss) in cases {
        assert_eq!(loss_of(&*module, &inputs), loss, "{name}");
        let step = check(name, &*module, &inputs, Optimizer::Sgd);
        let parameters = step.graph.weights().values().filter(|w| !w.buffer).count();
        assert_eq!(step.gradients.len(), parameters, "{name}");
    }
}
