//! Language models, with the sizes of their published configurations.

mod albert;
mod attention;
mod bert;
mod decoders;
mod distilbert;
mod encoders;
mod gpt2;
mod llama;

pub use albert::{AlbertConfig, albert};
pub use attention::{extended_mask, merge_heads, self_attention, split_heads};
pub use bert::{BertConfig, bert};
pub(super) use decoders::{LLAMA_2_7B_INFO, LLAMA_2_13B_INFO, LLAMA_3_8B_INFO};
pub use distilbert::{DistilBertConfig, distilbert};
pub(super) use encoders::{
    ALBERT_BASE, BERT_BASE, BERT_LARGE, DISTILBERT_BASE, ELECTRA_BASE, ROBERTA_BASE, ROBERTA_LARGE, tokens,
};
pub(super) use gpt2::INFO as GPT2_INFO;
pub use gpt2::{Gpt2, Gpt2Config};
pub use llama::{LlamaConfig, Reads, llama};
