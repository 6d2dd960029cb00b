//! The feed-forward part, an expert, and the head.

use ns_base::{Refusal, refuse};
use ns_model::nn::Linear;
use ns_model::{Child, Ctx, Entry, Module, Value};
use ns_tensor::DType;

use super::super::config::{Activation, DecoderConfig, Mlp};
use super::super::shard::Shard;
use super::{AnyNorm, Part, activated, capped, linear, normed, stored};

pub(super) struct FeedForward {
    shard: Shard,
    norms: Vec<Child<AnyNorm>>,
    /// What chooses the experts of a token.
    router: Option<Child<Linear>>,
    mlp: Option<Mlps>,
}

/// The products of a feed-forward part, with the gate and what it weighs in one matrix or in two.
struct Mlps {
    gate_proj: Option<Child<Linear>>,
    up_proj: Child<Linear>,
    down_proj: Child<Linear>,
    activation: Activation,
}

impl Mlps {
    fn new(config: &DecoderConfig, hidden: u64, columns: u64) -> Self {
        let bias = config.bias.mlp;
        Self {
            gate_proj: (config.mlp == Mlp::Gated).then(|| linear("gate_proj", hidden, columns, bias)),
            up_proj: linear("up_proj", hidden, columns, bias),
            down_proj: linear("down_proj", columns, hidden, bias),
            activation: config.activation,
        }
    }

    fn call(&self, cx: &mut Ctx, x: &Value) -> Result<Value, Refusal> {
        let inner = match &self.gate_proj {
            Some(gate_proj) => {
                let gate = gate_proj.call(cx, x)?;
                let gate = activated(cx, self.activation, &gate)?;
                let up = self.up_proj.call(cx, x)?;
                cx.mul(&gate, &up)?
            }
            None => {
                let up = self.up_proj.call(cx, x)?;
                activated(cx, self.activation, &up)?
            }
        };
        self.down_proj.call(cx, &inner)
    }

    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.gate_proj.iter().chain([&self.up_proj, &self.down_proj]).map(Child::entry)
    }
}

impl FeedForward {
    pub(super) fn new(config: &DecoderConfig, shard: &Shard) -> Self {
        Self {
            shard: *shard,
            norms: AnyNorm::of_segment(config, shard, Part::FeedForward),
            router: (shard.experts > 0).then(|| linear("router", shard.hidden, shard.experts, false)),
            mlp: (shard.columns > 0).then(|| Mlps::new(config, shard.hidden, shard.columns)),
        }
    }
}

impl Module for FeedForward {
    fn class(&self) -> &str {
        "FeedForward"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = normed(cx, &self.norms, x)?;
        let chosen = match &self.router {
            Some(router) => {
                let scores = router.call(cx, &x)?;
                Some(cx.softmax(&scores, 1)?)
            }
            None => None,
        };
        let out = self.mlp.as_ref().map(|mlp| mlp.call(cx, &x)).transpose()?;
        let out = out.map(|out| stored(cx, out, &self.shard)).transpose()?;
        match (chosen, out) {
            (Some(chosen), Some(out)) => cx.tuple(&[&out, &chosen]),
            (Some(only), None) | (None, Some(only)) => Ok(only),
            (None, None) => Err(refuse!("a layer without a feed-forward part")),
        }
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let products = self.mlp.iter().flat_map(Mlps::entries);
        self.norms.iter().map(Child::entry).chain(self.router.iter().map(Child::entry)).chain(products).collect()
    }
}

/// A core's part of one expert.
pub(super) struct Expert {
    mlp: Mlps,
}

impl Expert {
    pub(super) fn new(config: &DecoderConfig, shard: &Shard) -> Self {
        Self { mlp: Mlps::new(config, shard.hidden, shard.expert_columns) }
    }
}

impl Module for Expert {
    fn class(&self) -> &str {
        "Expert"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.to(cx.one_input(inputs)?, DType::F32)?;
        self.mlp.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        self.mlp.entries().collect()
    }
}

pub(super) struct Head {
    norms: Vec<Child<AnyNorm>>,
    /// From a token's features to those of a word, where they differ.
    project_out: Option<Child<Linear>>,
    lm_head: Child<Linear>,
    has_cap: bool,
}

impl Head {
    pub(super) fn new(config: &DecoderConfig, shard: &Shard) -> Self {
        let (from, to) = (shard.hidden, config.word_features);
        Self {
            norms: AnyNorm::before(config, Part::Head),
            project_out: (from != to).then(|| linear("project_out", from, to, false)),
            lm_head: linear("lm_head", to, shard.words, config.bias.head),
            has_cap: config.has_word_cap,
        }
    }
}

impl Module for Head {
    fn class(&self) -> &str {
        "Head"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let mut x = normed(cx, &self.norms, x)?;
        if let Some(project_out) = &self.project_out {
            x = project_out.call(cx, &x)?;
        }
        let words = self.lm_head.call(cx, &x)?;
        if self.has_cap { capped(cx, &words) } else { Ok(words) }
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let products = self.project_out.iter().chain([&self.lm_head]).map(Child::entry);
        self.norms.iter().map(Child::entry).chain(products).collect()
    }
}
