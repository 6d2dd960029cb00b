//! The sizes of a decoder, from which everything else follows.

use super::weights::Weights;
use ns_base::{Refusal, refuse};

/// What a feed-forward part is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mlp {
    /// Gate and up, multiplied, then down: three matrices.
    Gated,
    /// Up, a function, down: two matrices.
    Plain,
}

/// The function between the products of a feed-forward part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    Silu,
    Gelu,
    Relu,
    /// The square of the positive part.
    SquaredRelu,
}

/// The norms of a layer, and at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Root mean square: a weight.
    Rms,
    /// Layer norm: a weight and a bias.
    Layer,
    /// Layer norm without a bias.
    LayerWeight,
}

/// Where the norms of a layer stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormPlace {
    /// Before each of the two parts.
    Before,
    /// Before the layer: its two parts, side by side, read the same.
    Shared,
    /// Before and after each part.
    Around,
    /// After each part.
    After,
}

/// The norms of queries and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QkNorm {
    None,
    /// One for the features of a head.
    Head,
    /// One weight for each feature of all heads.
    Full,
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
    pub head: bool,
}

impl Bias {
    pub const NONE: Self = Self { qkv: false, output: false, mlp: false, head: false };
    pub const ALL: Self = Self { qkv: true, output: true, mlp: true, head: false };
}

/// How a token knows its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// Queries and keys are rotated; no weights.
    Rotary,
    /// A table with a row for each position, and `extra` rows that are not used.
    Learned { extra: u64 },
    /// A slope for each head is added to scores, or nothing; no weights.
    Weightless,
}

/// Experts of a layer, of which a router chooses some for each token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Experts {
    pub count: u64,
    pub per_token: u64,
    /// Features between the products of an expert.
    pub intermediate: u64,
    /// Numbers that the router adds for each expert, once or twice.
    pub router_biases: u64,
    /// Whether a gate of one column weighs the expert of all tokens.
    pub has_shared_gate: bool,
}

/// Keys and values that a layer keeps as one short vector for all heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Latent {
    /// Features of the compressed queries; 0 where they are not compressed.
    pub query_rank: u64,
    /// Features of the compressed keys and values.
    pub rank: u64,
    /// Features of a key that know no position.
    pub plain: u64,
    /// Features of a key that are rotated, which all heads share.
    pub rotated: u64,
    /// Features of a value.
    pub value: u64,
}

impl Latent {
    /// Values that a layer keeps for a token.
    pub const fn kept(&self) -> u64 {
        self.rank + self.rotated
    }

    /// Features of a query head.
    pub const fn query(&self) -> u64 {
        self.plain + self.rotated
    }
}

/// What the layers of one kind have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayerKind {
    /// Layers of this kind.
    pub count: u64,
    /// Positions that a layer looks back; all where it is absent.
    pub window: Option<u64>,
    pub kv_heads: u64,
    pub head_size: u64,
    /// Features of the feed-forward part of all tokens, or of its shared experts; 0 where there is none.
    pub intermediate: u64,
    pub has_experts: bool,
    /// Whether values are the keys, without a product of their own.
    pub values_are_keys: bool,
}

/// One decoder: a stack of layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecoderConfig {
    /// Name as the command line takes it: `llama-2-13b`.
    pub name: String,
    /// `model_type` of a config.json, as the table of families has it.
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
    /// Features of a row of the word table, where that differs from a token's.
    pub word_features: u64,
    pub mlp: Mlp,
    pub activation: Activation,
    pub norm: Norm,
    pub norm_place: NormPlace,
    /// Whether a norm stands before the head.
    pub has_last_norm: bool,
    /// Whether the words have a norm of their own before the first layer; its time is not computed.
    pub has_word_norm: bool,
    pub bias: Bias,
    pub qk_norm: QkNorm,
    /// Whether attention has a gate as wide as its queries.
    pub has_attention_gate: bool,
    /// Whether each head has a number beside its scores.
    pub has_sinks: bool,
    /// Whether scores pass through a hyperbolic tangent.
    pub has_score_cap: bool,
    /// Whether the words' values do.
    pub has_word_cap: bool,
    pub positions: Positions,
    pub experts: Option<Experts>,
    pub latent: Option<Latent>,
    /// The kinds of layers; their counts add up to the layers.
    pub kinds: Vec<LayerKind>,
    /// The kind of each layer.
    pub order: Vec<usize>,
    /// Whether the head shares the matrix of the word table.
    pub tied: bool,
    /// How its file stores the weights of products.
    pub stored: Weights,
    /// What its `config.json` says and the figures leave out, a sentence each.
    pub remarks: Vec<String>,
}

impl DecoderConfig {
    /// Matrices of a feed-forward part with their biases between features.
    fn mlp_parameters(&self, width: u64) -> u64 {
        let inner = match self.mlp {
            Mlp::Gated => 2,
            Mlp::Plain => 1,
        };
        let biases = if self.bias.mlp { inner * width + self.hidden } else { 0 };
        if width == 0 { 0 } else { (inner + 1) * self.hidden * width + biases }
    }

    fn attention_parameters(&self, kind: &LayerKind) -> u64 {
        let h = self.hidden;
        if let Some(l) = self.latent {
            let q = self.heads * l.query();
            let queries = if l.query_rank == 0 { h * q } else { l.query_rank * (h + 1 + q) };
            let pairs = h * l.kept() + l.rank + l.rank * self.heads * (l.plain + l.value);
            return queries + pairs + self.heads * l.value * h;
        }
        let (q, kv) = (self.heads * kind.head_size, kind.kv_heads * kind.head_size);
        let pairs = if kind.values_are_keys { kv } else { 2 * kv };
        let gate = if self.has_attention_gate { h * q } else { 0 };
        let biases = [(self.bias.qkv, q + pairs), (self.bias.output, h), (self.has_sinks, self.heads)];
        let biases: u64 = biases.into_iter().filter(|(has, _)| *has).map(|(_, n)| n).sum();
        let norms = match self.qk_norm {
            QkNorm::None => 0,
            QkNorm::Head => 2 * kind.head_size,
            QkNorm::Full => q + kv,
        };
        h * (q + pairs) + q * h + gate + biases + norms
    }

    /// Parameters of a layer of one kind, with so many of its experts.
    fn layer_parameters(&self, kind: &LayerKind, experts: u64) -> u64 {
        let norms = match self.norm_place {
            NormPlace::Before | NormPlace::After => 2,
            NormPlace::Shared => 1,
            NormPlace::Around => 4,
        };
        let sparse = self.experts.filter(|_| kind.has_experts).map_or(0, |e| {
            let gate = if e.has_shared_gate { self.hidden } else { 0 };
            experts * self.mlp_parameters(e.intermediate) + e.count * (self.hidden + e.router_biases) + gate
        });
        let dense = self.mlp_parameters(kind.intermediate);
        self.attention_parameters(kind) + dense + sparse + norms * self.norm_parameters()
    }

    const fn norm_parameters(&self) -> u64 {
        match self.norm {
            Norm::Rms | Norm::LayerWeight => self.hidden,
            Norm::Layer => 2 * self.hidden,
        }
    }

    fn parameters_with(&self, experts: u64) -> u64 {
        let table = self.vocabulary * self.word_features;
        let positions = match self.positions {
            Positions::Rotary | Positions::Weightless => 0,
            Positions::Learned { extra } => (self.max_positions + extra) * self.hidden,
        };
        let projections = if self.word_features == self.hidden { 0 } else { 2 * self.word_features * self.hidden };
        let head = if self.tied { 0 } else { table } + if self.bias.head { self.vocabulary } else { 0 };
        let last = if self.has_last_norm { self.norm_parameters() } else { 0 };
        let words = if self.has_word_norm { self.norm_parameters() } else { 0 };
        let layers: u64 = self.kinds.iter().map(|kind| kind.count * self.layer_parameters(kind, experts)).sum();
        table + words + positions + projections + layers + last + head
    }

    /// Parameters of the whole model.
    pub fn parameters(&self) -> u64 {
        self.parameters_with(self.experts.map_or(0, |e| e.count))
    }

    /// Parameters that one token uses.
    pub fn active_parameters(&self) -> u64 {
        self.parameters_with(self.experts.map_or(0, |e| e.per_token))
    }

    /// Bytes of the cache of all layers for `positions` tokens of a sequence, in 16 bits, on all cores together without repeated heads.
    pub fn cache_bytes(&self, positions: u64) -> u64 {
        let of_kind = |kind: &LayerKind| {
            let values = self.latent.map_or(2 * kind.kv_heads * kind.head_size, |l| l.kept());
            2 * values * kind.count * positions.min(kind.window.unwrap_or(u64::MAX))
        };
        self.kinds.iter().map(of_kind).sum()
    }

    /// Checks that the sizes describe a decoder.
    /// An error names the first size that is impossible, by the name of its field.
    pub fn check(&self) -> Result<(), Refusal> {
        let experts = self.experts.unwrap_or(Experts {
            count: 1,
            per_token: 1,
            intermediate: 1,
            router_biases: 0,
            has_shared_gate: false,
        });
        let sizes = [
            ("num_hidden_layers", self.layers, 1_000),
            ("hidden_size", self.hidden, 1 << 20),
            ("num_attention_heads", self.heads, 4_096),
            ("num_key_value_heads", self.kv_heads, 4_096),
            ("head_dim", self.head_size, 4_096),
            ("intermediate_size", self.intermediate, 1 << 22),
            ("vocab_size", self.vocabulary, 1 << 24),
            ("max_position_embeddings", self.max_positions, 1 << 24),
            ("num_experts", experts.count, 1_024),
            ("num_experts_per_tok", experts.per_token, experts.count),
            ("moe_intermediate_size", experts.intermediate, 1 << 20),
        ];
        for (what, size, most) in sizes {
            if size == 0 || size > most {
                return Err(refuse!("{what} is {size}; it must be between 1 and {most}"));
            }
        }
        let kinds = self.kinds.iter().map(|kind| (kind.kv_heads, kind.head_size));
        for (kv_heads, head_size) in kinds.chain([(self.kv_heads, self.head_size)]) {
            if kv_heads == 0 || !self.heads.is_multiple_of(kv_heads) {
                return Err(refuse!(
                    "{} attention heads cannot share {kv_heads} key/value heads; num_attention_heads must be a multiple of num_key_value_heads",
                    self.heads
                ));
            }
            if head_size == 0 || head_size > 4_096 || !head_size.is_multiple_of(2) {
                return Err(refuse!("head_dim is {head_size}; it must be even, and between 2 and 4096"));
            }
        }
        Ok(())
    }
}
