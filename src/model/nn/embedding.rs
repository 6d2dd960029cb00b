//! `torch.nn.Embedding`.

use crate::{Ctx, Init, Module, Parameter, Value};
use ns_base::Refusal;

/// A table of vectors, looked up by integer ids.
#[derive(Clone, Debug)]
pub struct Embedding {
    weight: Parameter,
}

impl Embedding {
    /// A table of `entries` vectors.
    pub fn new(entries: u64, features: u64) -> Self {
        // Models of the transformers library are initialised with a standard deviation of 0.02.
        Self { weight: Parameter::new("weight", [entries, features], Init::Normal { std: 0.02 }) }
    }

    /// The vectors of positions `start..start + count`: a look-up of consecutive ids is a slice of the table. Call it in
    /// the scope of a [`Positions`] child. Fails when the table is shorter.
    fn rows(&self, cx: &mut Ctx, start: u64, count: u64) -> Result<Value, Refusal> {
        let table = cx.weight(&self.weight)?;
        cx.slice(&table, 0, start, start.saturating_add(count))
    }
}

impl Module for Embedding {
    fn class(&self) -> &str {
        "Embedding"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let ids = cx.one_input(inputs)?;
        let table = cx.weight(&self.weight)?;
        cx.embedding(&table, ids)
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.weight]
    }
}

/// An embedding of positions 0, 1, 2, ... of a sequence `[batch, seq, ..]`: its rows `[seq, features]`.
#[derive(Clone, Debug)]
pub struct Positions {
    table: Embedding,
    offset: u64,
}

impl Positions {
    /// A table of `entries` vectors whose first used row is `offset` (RoBERTa keeps two for padding).
    pub fn new(entries: u64, features: u64, offset: u64) -> Self {
        Self { table: Embedding::new(entries, features), offset }
    }
}

impl Module for Positions {
    fn class(&self) -> &str {
        "Embedding"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let seq = cx.one_input(inputs)?.dims().get(1).copied().unwrap_or(1);
        self.table.rows(cx, self.offset, seq)
    }

    fn parameters(&self) -> Vec<&Parameter> {
        self.table.parameters()
    }
}
