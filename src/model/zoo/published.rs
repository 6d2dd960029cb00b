//! Compares the zoo with published figures.

use super::{MODELS, ModelSpec};

/// Parameters in millions and multiply-accumulates in billions at batch size 1, with a tolerance of one percent.
///
/// Parameters of transformers are those of the published checkpoints (`model.num_parameters()` of the traced class; also the
/// parameter counts of the Hugging Face model cards). Parameters and operations of image classifiers are the `num_params`
/// and `_ops` of torchvision's weight enums (torchvision 0.21, "GFLOPS" in its table of models, which counts a
/// multiply-accumulate as one). Other sources are named beside their figures.
const PUBLISHED: [(&str, f64, Option<f64>); 23] = [
    // 22.5 billion operations at sequence length 128: Sun et al., MobileBERT, 2020, table 4.
    ("bert-base-uncased", 109.482, Some(22.5 / 2.0)),
    ("bert-large-uncased", 335.142, None),
    ("roberta-base", 124.646, None),
    ("roberta-large", 355.360, None),
    ("distilbert-base-uncased", 66.363, None),
    ("albert-base-v2", 11.684, None),
    ("google/electra-base-discriminator", 108.892, None),
    ("resnet18", 11.689_512, Some(1.814)),
    ("resnet34", 21.797_672, Some(3.664)),
    ("resnet50", 25.557_032, Some(4.089)),
    ("resnet101", 44.549_160, Some(7.801)),
    ("resnet152", 60.192_808, Some(11.514)),
    ("vgg11", 132.863_336, Some(7.609)),
    ("vgg16", 138.357_544, Some(15.470)),
    ("alexnet", 61.100_840, Some(0.714)),
    // 17.564: torchvision's vit_b_16, the same network.
    ("google/vit-base-patch16-224", 86.567_656, Some(17.564)),
    ("openai/clip-vit-base-patch32", 151.277_313, None),
    ("openai/clip-vit-large-patch14", 427.616_513, None),
    // Parameters: `unet_carvana` of milesial/Pytorch-UNet with three channels and two classes.
    ("UNet", 31.037_698, None),
    // The language model's head shares the word table, which is counted once.
    ("gpt2", 124.439_808, None),
    // A decoder with N parameters in its products takes N multiply-accumulates per token, plus attention.
    ("llama-2-7b", 6_738.415_616, None),
    ("llama-2-13b", 13_015.864_320, None),
    ("llama-3-8b", 8_030.261_248, None),
];

#[test]
fn parameters_and_operations_are_the_published_ones() {
    for (text, parameters, operations) in PUBLISHED {
        let spec: ModelSpec = text.parse().unwrap();
        let graph = spec.trace(1).unwrap();
        let found = graph.parameter_count() as f64 / 1e6;
        assert!((found / parameters - 1.0).abs() < 0.001, "{text}: {found} M parameters, published {parameters}");
        if let Some(operations) = operations {
            let found = graph.flops() as f64 / 2e9;
            assert!((found / operations - 1.0).abs() < 0.01, "{text}: {found} GMAC, published {operations}");
        }
    }
}

#[test]
fn every_model_but_the_tutorials_has_its_published_size() {
    let checked: Vec<&str> = PUBLISHED.iter().map(|(id, ..)| *id).collect();
    let others: Vec<&str> = MODELS.iter().map(|m| m.id).filter(|id| !checked.contains(id)).collect();
    assert_eq!(others, ["nn", "matmult", "mlp"]);
}

#[test]
fn outputs_have_their_shapes_and_batches_multiply_them() {
    for (text, batch, shape) in [
        ("bert-base-uncased", 8, "f32[8,128,768]"),
        ("bert-large-uncased:seq=384", 2, "f32[2,384,1024]"),
        ("roberta-large", 4, "f32[4,128,1024]"),
        ("distilbert-base-uncased", 3, "f32[3,128,768]"),
        ("albert-base-v2:seq=64", 1, "f32[1,64,768]"),
        ("electra-base-discriminator", 1, "f32[1,128,768]"),
        ("resnet50", 8, "f32[8,1000]"),
        ("vgg16", 2, "f32[2,1000]"),
        ("alexnet", 2, "f32[2,1000]"),
        ("vit-base-patch16-224", 2, "f32[2,1000]"),
        // Each image against 100 prompts.
        ("clip-vit-base-patch32", 64, "f32[64,100]"),
        ("clip-vit-large-patch14", 4, "f32[4,100]"),
        ("unet", 2, "f32[2,2,224,224]"),
        ("gpt2:seq=32", 2, "f32[2,32,50257]"),
        ("llama-2-7b:context=512", 4, "f32[4,1,32000]"),
        ("llama-3-8b:context=8192", 1, "f32[1,1,128256]"),
    ] {
        let graph = text.parse::<ModelSpec>().unwrap().trace(batch).unwrap();
        assert_eq!(graph.nodes[graph.output].shape.to_string(), shape, "{text}");
    }
}

#[test]
fn operations_grow_with_the_batch() {
    for info in MODELS {
        let spec = ModelSpec::new(info);
        let [one, four] = [1, 4].map(|batch| spec.trace(batch).unwrap().flops());
        assert!(four > one, "{}", info.id);
    }
}

#[test]
fn names_are_read_in_any_case_and_with_any_organisation() {
    for (text, id) in [
        ("BERT-base-uncased:seq=64", "bert-base-uncased"),
        ("google-bert/bert-base-uncased", "bert-base-uncased"),
        ("electra-base-discriminator", "google/electra-base-discriminator"),
        ("Google/Electra-Base-Discriminator", "google/electra-base-discriminator"),
        ("ResNet50", "resnet50"),
        ("microsoft/resnet-50", "resnet50"),
        ("bert_base_uncased", "bert-base-uncased"),
        ("unet", "UNet"),
        ("OpenAI/CLIP-ViT-Base-Patch32", "openai/clip-vit-base-patch32"),
        ("Llama-2-7B:context=64", "llama-2-7b"),
    ] {
        assert_eq!(text.parse::<ModelSpec>().unwrap().id(), id);
    }
    let spec: ModelSpec = "google/electra-base-discriminator:seq=256".parse().unwrap();
    assert_eq!(spec.to_string().parse::<ModelSpec>().unwrap(), spec);
}

#[test]
fn scopes_are_those_of_the_libraries() {
    let paths = |text: &str| -> Vec<String> {
        text.parse::<ModelSpec>().unwrap().trace(1).unwrap().nodes.iter().map(crate::Node::path).collect()
    };
    let bert = paths("bert-base-uncased");
    for expected in [
        "BertModel[model]/BertEmbeddings[embeddings]/Embedding[word_embeddings]/aten__embedding",
        "BertModel[model]/BertEncoder[encoder]/BertLayer[0]/BertAttention[attention]/BertSelfAttention[self]/Linear[query]/aten__addmm",
        "BertModel[model]/BertEncoder[encoder]/BertLayer[11]/BertOutput[output]/LayerNorm[LayerNorm]/aten__layer_norm",
        "BertModel[model]/BertPooler[pooler]/Tanh[activation]/aten__tanh",
    ] {
        assert!(bert.iter().any(|p| p == expected), "{expected}");
    }
    let resnet = paths("resnet50");
    for expected in [
        "ResNet[model]/Conv2d[conv1]/aten__convolution",
        "ResNet[model]/Sequential[layer1]/Bottleneck[0]/Sequential[downsample]/BatchNorm2d[1]/aten__batch_norm",
        "ResNet[model]/AdaptiveAvgPool2d[avgpool]/aten__mean",
    ] {
        assert!(resnet.iter().any(|p| p == expected), "{expected}");
    }
    let unet = paths("unet");
    assert!(unet.iter().any(|p| p == "UNet[model]/Up[up1]/ConvTranspose2d[up]/aten__convolution"));
    let llama = paths("llama-2-7b");
    let silu = "LlamaForCausalLM[model]/LlamaModel[model]/LlamaDecoderLayer[31]/LlamaMLP[mlp]/SiLU[act_fn]/aten__silu";
    assert!(llama.iter().any(|p| p == silu));
    // Weights have the names of the published checkpoints.
    let spec: ModelSpec = "bert-base-uncased".parse().unwrap();
    let weights = spec.trace(1).unwrap().weights();
    assert!(weights.contains_key("encoder.layer.11.attention.self.query.weight"));
    assert!(weights.contains_key("embeddings.LayerNorm.bias"));
}

#[test]
fn a_decoder_multiplies_each_weight_once_a_token() {
    let spec: ModelSpec = "llama-2-7b:context=2048".parse().unwrap();
    let graph = spec.trace(1).unwrap();
    // All parameters except the word table and the norms, and attention over the cache in each of 32 layers.
    let products = 6_738_415_616 - 32_000 * 4096 - 65 * 4096;
    let attention = 32 * 2 * 2048 * 4096;
    assert_eq!(graph.flops(), 2 * (products + attention));
    // Keys and values of 2048 tokens in each layer are buffers of the model, as are the rotary tables.
    let cache = 2 * 32 * 2048 * 4096;
    let tables = 2 * 2048 * 128;
    assert_eq!(graph.weight_bytes(), 4 * (6_738_415_616 + cache + tables));
}
