//! Attention to one short vector for each token.

use ns_base::convert::u64_to_f32;
use ns_base::{Refusal, refuse};
use ns_model::nn::{Linear, RmsNorm};
use ns_model::{Child, Ctx, Entry, Init, Module, Parameter, Value};
use ns_tensor::kernels::BinaryOp;

use super::super::config::{DecoderConfig, Latent};
use super::super::shard::Shard;
use super::attention::{in_pieces, joined, masked_softmax, query_pieces, rotate};
use super::{AnyNorm, EPS, Part, Scores, Segment, linear, normed, pieces, stored};

/// Attention to one short vector for each token: queries are brought to its features, and what they find is brought back.
pub(super) struct LatentAttention {
    norms: Vec<Child<AnyNorm>>,
    /// Down to the compressed queries, with their norm.
    q_a: Option<(Child<Linear>, Child<RmsNorm>)>,
    q_b: Child<Linear>,
    kv_a: Child<Linear>,
    kv_norm: Child<RmsNorm>,
    /// Keys and values of the heads of a prompt.
    kv_b: Child<Linear>,
    o_proj: Child<Linear>,
    /// From a head's query to the features that are kept, and from those to its values.
    absorbed: [Parameter; 2],
    pieces: Vec<Child<LatentPiece>>,
    shard: Shard,
    latent: Latent,
    of: Segment,
}

/// Attention of some sequences to the latent vectors in their cache: features without a position, and features with one.
struct LatentPiece {
    kept: Parameter,
    kept_rotated: Parameter,
    batch: u64,
    heads: u64,
    latent: Latent,
}

impl Module for LatentPiece {
    fn class(&self) -> &str {
        "LatentPiece"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [plain, turned, k_up, v_up, mask, hidden] = inputs else { return Err(cx.wrong_inputs(6, inputs.len())) };
        let (batch, heads, l) = (self.batch, self.heads, self.latent);
        let (kept, kept_rotated) = (cx.weight(&self.kept)?, cx.weight(&self.kept_rotated)?);
        let plain = cx.permute(plain, &[1, 0, 2])?;
        let q = cx.matmul(&plain, k_up)?;
        let q = cx.permute(&q, &[1, 0, 2])?;
        let keys = cx.transpose(&kept, 1, 2)?;
        let scores = cx.matmul(&q, &keys)?;
        let keys = cx.transpose(&kept_rotated, 1, 2)?;
        let further = cx.matmul(turned, &keys)?;
        let scores = cx.add(&scores, &further)?;
        let weights = masked_softmax(cx, &scores, [mask, hidden], (batch * heads, l.query()), false)?;
        let weights = cx.view(&weights, &[batch, heads, mask.dims().last().copied().unwrap_or(1)])?;
        let found = cx.matmul(&weights, &kept)?;
        let found = cx.permute(&found, &[1, 0, 2])?;
        let context = cx.matmul(&found, v_up)?;
        let context = cx.permute(&context, &[1, 0, 2])?;
        cx.view(&context, &[batch, heads * l.value])
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.kept, &self.kept_rotated]
    }
}

impl LatentAttention {
    pub(super) fn new(config: &DecoderConfig, shard: &Shard, of: Segment, latent: Latent) -> Self {
        let Shard { hidden, heads, .. } = *shard;
        let (batch, bucket) = match of {
            Segment::Decode { batch, bucket } => (batch, bucket),
            _ => (1, 1),
        };
        let from = if latent.query_rank == 0 { hidden } else { latent.query_rank };
        let norm = |name: &str, features| Child::new(name, RmsNorm::new(features, EPS));
        let init = Init::Normal { std: 1.0 };
        let piece = |(n, batch): (usize, u64)| {
            let kept = Parameter::buffer("kept", [batch, bucket, latent.rank], init);
            let kept_rotated = Parameter::buffer("kept_rotated", [batch, bucket, latent.rotated], init);
            Child::new(format!("sequences{n}"), LatentPiece { kept, kept_rotated, batch, heads, latent })
        };
        let is_decode = matches!(of, Segment::Decode { .. });
        let pieces = if is_decode { pieces(batch, heads) } else { Vec::new() };
        Self {
            norms: AnyNorm::of_segment(config, shard, Part::Attention),
            q_a: (latent.query_rank > 0).then(|| {
                (linear("q_a_proj", hidden, latent.query_rank, false), norm("q_a_layernorm", latent.query_rank))
            }),
            q_b: linear("q_b_proj", from, heads * latent.query(), false),
            kv_a: linear("kv_a_proj", hidden, latent.kept(), false),
            kv_norm: norm("kv_a_layernorm", latent.rank),
            kv_b: linear("kv_b_proj", latent.rank, heads * (latent.plain + latent.value), false),
            o_proj: linear("o_proj", heads * latent.value, hidden, false),
            absorbed: [
                Parameter::new("k_up", [heads, latent.plain, latent.rank], init),
                Parameter::new("v_up", [heads, latent.rank, latent.value], init),
            ],
            pieces: pieces.into_iter().enumerate().map(piece).collect(),
            shard: *shard,
            latent,
            of,
        }
    }

    /// All tokens of each prompt, with keys and values of every head.
    fn prefill(
        &self,
        cx: &mut Ctx,
        q: &Value,
        [kept, turned]: [&Value; 2],
        mask: Option<&Value>,
        (batch, tokens): (u64, u64),
    ) -> Result<Value, Refusal> {
        let (heads, l) = (self.shard.heads, self.latent);
        let pairs = self.kv_b.call(cx, kept)?;
        let pairs = cx.view(&pairs, &[batch, tokens, heads, l.plain + l.value])?;
        let pairs = cx.permute(&pairs, &[0, 2, 1, 3])?;
        let keys = cx.slice(&pairs, 3, 0, l.plain)?;
        let values = cx.slice(&pairs, 3, l.plain, l.plain + l.value)?;
        // The rotated features are the same for all heads.
        let turned: Vec<&Value> = (0..heads).map(|_| turned).collect();
        let turned = cx.cat(&turned, 1)?;
        let keys = cx.cat(&[&keys, &turned], 3)?;
        let scale = (BinaryOp::Mul, 1.0 / u64_to_f32(l.query()).sqrt());
        let mut contexts = Vec::new();
        if matches!(self.of, Segment::Prefill { scores: Scores::Measured, .. }) {
            contexts.push(values.clone());
        }
        for (from, to, read) in query_pieces(self.of, tokens) {
            let q = cx.slice(q, 2, from, to)?;
            let (keys, values) = (cx.slice(&keys, 2, 0, read)?, cx.slice(&values, 2, 0, read)?);
            let mask = mask.map(|mask| cx.slice(mask, 1, 0, read)).transpose()?;
            contexts.push(cx.attention([&q, &keys, &values], Some(scale), mask.as_ref())?);
        }
        let context = joined(cx, &contexts, 2)?;
        let context = cx.permute(&context, &[0, 2, 1, 3])?;
        cx.view(&context, &[batch * tokens, heads * l.value])
    }
}

impl Module for LatentAttention {
    fn class(&self) -> &str {
        "LatentAttention"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, cos, sin, masks @ ..] = inputs else { return Err(cx.wrong_inputs(3, inputs.len())) };
        let (heads, l) = (self.shard.heads, self.latent);
        let (batch, tokens) = match self.of {
            Segment::Decode { batch, .. } => (batch, 1),
            Segment::Prefill { batch, tokens, .. } => (batch, tokens),
            _ => return Err(refuse!("a segment without attention")),
        };
        let x = normed(cx, &self.norms, x)?;
        let narrow = match &self.q_a {
            Some((q_a, norm)) => {
                let narrow = q_a.call(cx, &x)?;
                norm.call(cx, &narrow)?
            }
            None => x.clone(),
        };
        let q = self.q_b.call(cx, &narrow)?;
        let q = cx.view(&q, &[batch, tokens, heads, l.query()])?;
        let q = cx.permute(&q, &[0, 2, 1, 3])?;
        let plain = cx.slice(&q, 3, 0, l.plain)?;
        let turned = cx.slice(&q, 3, l.plain, l.query())?;
        let turned = rotate(cx, &turned, cos, sin)?;
        let own = self.kv_a.call(cx, &x)?;
        let kept = cx.slice(&own, 1, 0, l.rank)?;
        let kept = self.kv_norm.call(cx, &kept)?;
        let key = cx.slice(&own, 1, l.rank, l.kept())?;
        let key = cx.view(&key, &[batch, 1, tokens, l.rotated])?;
        let key = rotate(cx, &key, cos, sin)?;
        let context = match (self.of, masks) {
            (Segment::Decode { .. }, [mask, hidden]) => {
                let plain = cx.view(&plain, &[batch, heads, l.plain])?;
                let turned = cx.view(&turned, &[batch, heads, l.rotated])?;
                let [k_up, v_up] = [cx.weight(&self.absorbed[0])?, cx.weight(&self.absorbed[1])?];
                in_pieces(cx, &self.pieces, &[&plain, &turned], &[&k_up, &v_up, mask, hidden])?
            }
            _ => {
                let q = cx.cat(&[&plain, &turned], 3)?;
                self.prefill(cx, &q, [&kept, &key], masks.first(), (batch, tokens))?
            }
        };
        let out = self.o_proj.call(cx, &context)?;
        let out = stored(cx, out, &self.shard)?;
        cx.tuple(&[&out, &kept, &key])
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let narrow = self.q_a.iter().flat_map(|(q_a, norm)| [q_a.entry(), norm.entry()]);
        let all = [self.q_b.entry(), self.kv_a.entry(), self.kv_norm.entry(), self.o_proj.entry()];
        let prompt = matches!(self.of, Segment::Prefill { .. }).then(|| self.kv_b.entry());
        let pieces = self.pieces.iter().map(Child::entry);
        self.norms.iter().map(Child::entry).chain(narrow).chain(all).chain(prompt).chain(pieces).collect()
    }

    fn parameters(&self) -> Vec<&Parameter> {
        match self.of {
            Segment::Decode { .. } => self.absorbed.iter().collect(),
            _ => Vec::new(),
        }
    }
}
