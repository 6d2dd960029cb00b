//! Language models, with the sizes of their published configurations.

mod attention;
mod bert;
mod encoders;

pub use bert::{Bert, BertConfig, Layer as BertLayer};
pub(super) use encoders::{BERT_BASE, BERT_LARGE, ELECTRA_BASE, ROBERTA_BASE, ROBERTA_LARGE};
