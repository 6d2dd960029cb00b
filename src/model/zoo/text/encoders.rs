//! Encoders of text: sizes from each model's `config.json`.

use crate::zoo::{ModelInfo, ParamInfo, ParamKind, Settings};
use crate::{Distribution, InputSpec};
use ns_base::convert::u64_to_u32;
use ns_tensor::{DType, Shape};

use super::{AlbertConfig, BertConfig, DistilBertConfig, albert, bert, distilbert};

/// Sequence length, at most the size of the position table.
pub(in crate::zoo) static SEQ: [ParamInfo; 1] = [ParamInfo {
    name: "seq",
    help: "tokens of a sequence, padding included",
    kind: ParamKind::Int { default: 128, min: 1, max: 512 },
}];

pub(in crate::zoo) const BATCH_HELP: &str = "batch size b gives b sequences: token ids and masks of [b, seq]";

const BERT: BertConfig = BertConfig {
    prefix: "Bert",
    vocab: 30_522,
    hidden: 768,
    layers: 12,
    heads: 12,
    intermediate: 3072,
    positions: 512,
    position_offset: 0,
    types: 2,
    eps: 1e-12,
    pooler: true,
};

const LARGE: BertConfig = BertConfig { hidden: 1024, layers: 24, heads: 16, intermediate: 4096, ..BERT };

/// Positions count from 2: RoBERTa numbers them after the padding id.
const ROBERTA: BertConfig =
    BertConfig { prefix: "Roberta", vocab: 50_265, positions: 514, position_offset: 2, types: 1, eps: 1e-5, ..BERT };

/// Ids, a mask of ones, and token types if `types` gives their number.
pub(in crate::zoo) fn tokens(batch: u64, seq: u64, vocab: u64, types: Option<u64>) -> Vec<InputSpec> {
    let input = |distribution| InputSpec { shape: Shape::new(DType::S32, [batch, seq]), distribution };
    let mut inputs = vec![input(Distribution::Below(u64_to_u32(vocab))), input(Distribution::Constant(1))];
    inputs.extend(types.map(|types| input(Distribution::Below(u64_to_u32(types)))));
    inputs
}

const fn encoder(
    id: &'static str,
    description: &'static str,
    build: fn(&Settings) -> Box<dyn crate::Module>,
    inputs: fn(&Settings, u64) -> Vec<InputSpec>,
) -> ModelInfo {
    ModelInfo { id, description, default_batch_size: 1, batch_help: BATCH_HELP, parameters: &SEQ, build, inputs }
}

pub(in crate::zoo) static BERT_BASE: ModelInfo = encoder(
    "bert-base-uncased",
    "BERT base: 12 layers of 768 features, last hidden state and pooled first token",
    |_| Box::new(bert(&BERT)),
    |s, batch| tokens(batch, s.int("seq"), BERT.vocab, Some(BERT.types)),
);

pub(in crate::zoo) static BERT_LARGE: ModelInfo = encoder(
    "bert-large-uncased",
    "BERT large: 24 layers of 1024 features, last hidden state and pooled first token",
    |_| Box::new(bert(&LARGE)),
    |s, batch| tokens(batch, s.int("seq"), BERT.vocab, Some(BERT.types)),
);

pub(in crate::zoo) static ROBERTA_BASE: ModelInfo = encoder(
    "roberta-base",
    "RoBERTa base: BERT base with 50265 words",
    |_| Box::new(bert(&ROBERTA)),
    |s, batch| tokens(batch, s.int("seq"), ROBERTA.vocab, None),
);

pub(in crate::zoo) static ROBERTA_LARGE: ModelInfo = encoder(
    "roberta-large",
    "RoBERTa large: BERT large with 50265 words",
    |_| {
        let large = BertConfig { hidden: 1024, layers: 24, heads: 16, intermediate: 4096, ..ROBERTA };
        Box::new(bert(&large))
    },
    |s, batch| tokens(batch, s.int("seq"), ROBERTA.vocab, None),
);

pub(in crate::zoo) static ELECTRA_BASE: ModelInfo = encoder(
    "google/electra-base-discriminator",
    "ELECTRA base discriminator: BERT base without pooler",
    |_| Box::new(bert(&BertConfig { prefix: "Electra", pooler: false, ..BERT })),
    |s, batch| tokens(batch, s.int("seq"), BERT.vocab, Some(BERT.types)),
);

const DISTILBERT: DistilBertConfig =
    DistilBertConfig { vocab: 30_522, dim: 768, layers: 6, heads: 12, hidden: 3072, positions: 512 };

pub(in crate::zoo) static DISTILBERT_BASE: ModelInfo = encoder(
    "distilbert-base-uncased",
    "DistilBERT base: 6 layers of 768 features, last hidden state",
    |_| Box::new(distilbert(&DISTILBERT)),
    |s, batch| tokens(batch, s.int("seq"), DISTILBERT.vocab, None),
);

const ALBERT: AlbertConfig = AlbertConfig {
    vocab: 30_000,
    embedding: 128,
    hidden: 768,
    layers: 12,
    heads: 12,
    intermediate: 3072,
    positions: 512,
};

pub(in crate::zoo) static ALBERT_BASE: ModelInfo = encoder(
    "albert-base-v2",
    "ALBERT base v2: one layer of 768 features applied 12 times, last hidden state and pooled first token",
    |_| Box::new(albert(&ALBERT)),
    |s, batch| tokens(batch, s.int("seq"), ALBERT.vocab, Some(2)),
);
