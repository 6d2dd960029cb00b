//! The sizes of a decoder, from which everything else follows.

use ns_base::{Refusal, refuse};

/// What a feed-forward part is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mlp {
    /// Gate and up, multiplied, then down: three matrices.
    Gated,
    /// Up, a function, down: two matrices.
    Plain,
}

/// The norm before each part of a layer, and at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Root mean square: a weight.
    Rms,
    /// Layer norm: a weight and a bias.
    Layer,
}

/// Which products have a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bias {
    /// Queries, keys and values.
    pub qkv: bool,
    /// The output of attention.
    pub output: bool,
    /// The feed-forward part.
    pub mlp: bool,
}

impl Bias {
    pub const NONE: Self = Self { qkv: false, output: false, mlp: false };
    pub const ALL: Self = Self { qkv: true, output: true, mlp: true };
}

/// How a token knows its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// Queries and keys are rotated; no weights.
    Rotary,
    /// A table with a row for each position, and `extra` rows that are not used.
    Learned { extra: u64 },
}

/// One decoder: a stack of equal layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecoderConfig {
    /// Name as the command line takes it: `llama-2-13b`.
    pub name: String,
    /// `llama`, `mistral`, `qwen2`, `qwen3`, `opt`, `gpt2` or `gpt_neox`: `model_type` of a config.json.
    pub family: &'static str,
    pub layers: u64,
    /// Features of a token.
    pub hidden: u64,
    /// Query heads.
    pub heads: u64,
    /// Heads of keys and values.
    pub kv_heads: u64,
    /// Features of a head.
    pub head_size: u64,
    /// Features between the products of a feed-forward part.
    pub intermediate: u64,
    pub vocabulary: u64,
    /// Most tokens of a sequence, prompt and output together.
    pub max_positions: u64,
    pub mlp: Mlp,
    pub norm: Norm,
    pub bias: Bias,
    /// Whether queries and keys are normalised head by head.
    pub qk_norm: bool,
    pub positions: Positions,
    /// Whether the head shares the matrix of the word table.
    pub tied: bool,
    /// What its `config.json` says and the figures leave out, a sentence each.
    pub remarks: Vec<String>,
}

impl DecoderConfig {
    /// Parameters of one layer.
    #[must_use]
    pub fn layer_parameters(&self) -> u64 {
        let (h, q, kv) = (self.hidden, self.heads * self.head_size, self.kv_heads * self.head_size);
        let attention = h * (q + 2 * kv) + q * h;
        let (matrices, inner_biases) = match self.mlp {
            Mlp::Gated => (3, 2),
            Mlp::Plain => (2, 1),
        };
        let biases =
            [(self.bias.qkv, q + 2 * kv), (self.bias.output, h), (self.bias.mlp, inner_biases * self.intermediate + h)];
        let biases: u64 = biases.into_iter().filter(|(has, _)| *has).map(|(_, n)| n).sum();
        let head_norms = if self.qk_norm { 2 * self.head_size } else { 0 };
        attention + matrices * h * self.intermediate + biases + 2 * self.norm_parameters() + head_norms
    }

    fn norm_parameters(&self) -> u64 {
        match self.norm {
            Norm::Rms => self.hidden,
            Norm::Layer => 2 * self.hidden,
        }
    }

    /// Parameters of the whole model.
    #[must_use]
    pub fn parameters(&self) -> u64 {
        let table = self.vocabulary * self.hidden;
        let positions = match self.positions {
            Positions::Rotary => 0,
            Positions::Learned { extra } => (self.max_positions + extra) * self.hidden,
        };
        let head = if self.tied { 0 } else { table };
        table + positions + self.layers * self.layer_parameters() + self.norm_parameters() + head
    }

    /// Checks that the sizes describe a decoder.
    ///
    /// # Errors
    /// The first size that is impossible.
    pub fn check(&self) -> Result<(), Refusal> {
        let sizes = [
            ("layers", self.layers, 1_000),
            ("hidden size", self.hidden, 1 << 20),
            ("attention heads", self.heads, 4_096),
            ("key/value heads", self.kv_heads, 4_096),
            ("head size", self.head_size, 4_096),
            ("intermediate size", self.intermediate, 1 << 22),
            ("vocabulary", self.vocabulary, 1 << 24),
            ("positions", self.max_positions, 1 << 24),
        ];
        for (what, size, most) in sizes {
            if size == 0 || size > most {
                return Err(refuse!("{what} is {size}; it must be between 1 and {most}"));
            }
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            return Err(refuse!(
                "{} attention heads cannot share {} key/value heads; the first number must be a multiple of the second",
                self.heads,
                self.kv_heads
            ));
        }
        if !self.head_size.is_multiple_of(2) {
            return Err(refuse!("head size is {}; it must be even", self.head_size));
        }
        Ok(())
    }
}
