//! A decoder from the fields of its `config.json`.

use serde_json::{Map, Value};

use super::config::{DecoderConfig, Experts, Latent, LayerKind};
use super::config_family::{family_of, text_part};
use super::config_fields::{
    EXPERT_WIDTH, EXPERTS, FIRST_SPARSE, HEAD_SIZE, HEADS, HIDDEN, INTERMEDIATE, KV_HEADS, LAYERS, PATTERN, PER_TOKEN,
    POSITIONS, SHARED, SHARED_WIDTH, SPARSE_STEP, WINDOW,
};
use super::config_remarks::remarks_of;
use super::config_values::{activation_of, flag, missing, needed, stored_of, whole};
use super::families::Family;
use super::model_rows::Sizes;
use ns_base::convert::u64_to_usize;
use ns_base::{Refusal, refuse};

/// A decoder from the fields of its `config.json`.
pub fn config_of(name: &str, whole_file: &Map<String, Value>) -> Result<DecoderConfig, Refusal> {
    let (fields, of_class) = &text_part(whole_file);
    let (family, remark) = family_of(fields)?;
    let kv_heads = whole(fields, KV_HEADS)?;
    let skipped = fields.get("cross_attention_layers").and_then(Value::as_array).map_or(0, Vec::len);
    let sizes = sizes_of(fields, family, kv_heads, skipped.try_into().unwrap_or(0))?;
    let mut config = DecoderConfig::of_family(family, name, sizes);
    config.tied = flag(fields, "tie_word_embeddings")?.unwrap_or(family.tied);
    for (field, change) in family.switches {
        if let Some(on) = flag(fields, field)? {
            change(&mut config, on);
        }
    }
    // A switch for one head does not count where the heads are said, but in the older form of falcon.
    let is_older = family.name == "falcon" && flag(fields, "new_decoder_architecture")? != Some(true);
    config.kv_heads = kv_heads.filter(|_| !is_older || config.kv_heads != 1).unwrap_or(config.kv_heads);
    config.word_features = whole(fields, &["word_embed_proj_dim"])?.unwrap_or(config.hidden);
    config.has_last_norm = flag(fields, "do_layer_norm_before")?.unwrap_or(true);
    config.has_score_cap = fields.get("attn_logit_softcapping").is_some_and(Value::is_number);
    config.has_word_cap = fields.get("final_logit_softcapping").is_some_and(Value::is_number);
    if let Some(known) = activation_of(fields).and_then(|(_, activation)| activation) {
        config.activation = known;
    }
    config.latent = latent_of(fields, family)?;
    config.experts = experts_of(fields, family)?;
    config.check()?;
    set_layers(fields, family, &mut config)?;
    config.check()?;
    config.remarks = remarks_of(fields, &config, family);
    config.stored = stored_of(fields).unwrap_or_default();
    config.remarks.extend(remark);
    if !of_class.is_empty() {
        config.remarks.push(format!(
            "The text part does not say these sizes, which are those of its class: {}.",
            of_class.join(", ")
        ));
    }
    if skipped > 0 {
        config.remarks.push(format!("The {skipped} layers of cross_attention_layers read pictures and are left out."));
    }
    Ok(config)
}

/// The sizes of a file, without the layers that are skipped.
fn sizes_of(
    fields: &Map<String, Value>,
    family: &Family,
    kv_heads: Option<u64>,
    skipped: u64,
) -> Result<Sizes, Refusal> {
    let (hidden, heads) = (needed(fields, HIDDEN)?, needed(fields, HEADS)?);
    let head_size = match whole(fields, HEAD_SIZE)? {
        Some(size) => size,
        None if hidden % heads == 0 => hidden / heads,
        None if family.is_latent => needed(fields, &["v_head_dim"])?,
        None => return Err(refuse!("hidden_size {hidden} is not a multiple of num_attention_heads {heads}")),
    };
    let ratio = whole(fields, &["expansion_ratio"])?.unwrap_or(4);
    let intermediate = match whole(fields, &["intermediate_size_mlp"])?.or(whole(fields, INTERMEDIATE)?) {
        Some(size) => size,
        None if family.is_four_wide => hidden.saturating_mul(ratio),
        None => whole(fields, EXPERT_WIDTH)?.ok_or_else(|| missing(INTERMEDIATE))?,
    };
    let positions = match whole(fields, POSITIONS)? {
        None if family.name == "falcon" => FALCON_POSITIONS,
        _ => needed(fields, POSITIONS)?,
    };
    Ok([
        needed(fields, LAYERS)?.saturating_sub(skipped),
        hidden,
        heads,
        kv_heads.unwrap_or(heads),
        head_size,
        intermediate,
        needed(fields, &["vocab_size"])?,
        positions,
    ])
}

/// Positions of a falcon whose file says none.
const FALCON_POSITIONS: u64 = 2_048;

fn latent_of(fields: &Map<String, Value>, family: &Family) -> Result<Option<Latent>, Refusal> {
    if !family.is_latent {
        return Ok(None);
    }
    let size = |field: &'static str| {
        let size = needed(fields, &[field])?;
        if size > 1 << 16 { Err(refuse!("{field} is {size}; it must be between 1 and {}", 1 << 16)) } else { Ok(size) }
    };
    Ok(Some(Latent {
        query_rank: if whole(fields, &["q_lora_rank"])?.is_some() { size("q_lora_rank")? } else { 0 },
        rank: size("kv_lora_rank")?,
        plain: size("qk_nope_head_dim")?,
        rotated: size("qk_rope_head_dim")?,
        value: size("v_head_dim")?,
    }))
}

fn experts_of(fields: &Map<String, Value>, family: &Family) -> Result<Option<Experts>, Refusal> {
    let named = EXPERTS.iter().find_map(|field| Some((*field, whole(fields, &[field]).transpose()?)));
    let Some((field, count)) = named else { return Ok(None) };
    let (count, on) = (count?, flag(fields, "enable_moe_block")?.unwrap_or(true));
    let Some(rule) = family.experts.filter(|_| on) else {
        return Ok(None);
    };
    if count == 0 {
        let is_dense = whole(fields, PER_TOKEN)?.unwrap_or(0) == 0;
        return if is_dense { Ok(None) } else { Err(refuse!("{field} is 0; it must be at least 1")) };
    }
    let intermediate =
        whole(fields, EXPERT_WIDTH)?.or(whole(fields, INTERMEDIATE)?).ok_or_else(|| missing(EXPERT_WIDTH))?;
    Ok(Some(Experts {
        count,
        per_token: needed(fields, PER_TOKEN)?,
        intermediate,
        router_biases: rule.router_biases,
        has_shared_gate: rule.has_shared_gate,
    }))
}

/// Sets the kinds of layers, of which each has a window or none, and experts or none.
fn set_layers(fields: &Map<String, Value>, family: &Family, config: &mut DecoderConfig) -> Result<(), Refusal> {
    let window = window_of(fields, family, config)?;
    let types = fields.get("layer_types").and_then(Value::as_array);
    if let Some(count) = types.map(Vec::len).filter(|count| *count < u64_to_usize(config.layers)) {
        return Err(refuse!("layer_types has {count} entries for {} layers; it must have one for each", config.layers));
    }
    let full_of = match PATTERN.iter().find_map(|field| fields.get(*field)) {
        Some(Value::String(pattern)) => u64::try_from(pattern.len()).unwrap_or(0),
        Some(Value::Number(n)) => n.as_u64().unwrap_or(family.full_of),
        _ => family.full_of,
    };
    let windows_from = match flag(fields, "use_sliding_window")? {
        Some(true) => whole(fields, &["max_window_layers"])?.unwrap_or(0),
        _ => 0,
    };
    let has_window = |layer: u64| match types.and_then(|types| types.get(u64_to_usize(layer))) {
        Some(kind) => kind != "full_attention",
        None if full_of <= 1 => full_of == 1 && layer >= windows_from,
        None => !(layer + 1).is_multiple_of(full_of),
    };
    let first = whole(fields, FIRST_SPARSE)?.unwrap_or(0);
    let listed = fields.get("moe_layer_freq").and_then(Value::as_array);
    let step = if listed.is_some() { 1 } else { whole(fields, SPARSE_STEP)?.unwrap_or(1).max(1) };
    let dense_only = fields.get("mlp_only_layers").and_then(Value::as_array);
    let has_experts = |layer: u64| {
        let is_listed = listed.is_none_or(|all| all.get(u64_to_usize(layer)).and_then(Value::as_u64) != Some(0));
        let is_dense = dense_only.is_some_and(|all| all.contains(&Value::from(layer)));
        config.experts.is_some() && is_listed && !is_dense && layer >= first && (layer + 1).is_multiple_of(step)
    };
    let shared = shared_width(fields, family, config)?;
    let global = (whole(fields, &["num_global_key_value_heads"])?, whole(fields, &["global_head_dim"])?);
    let same = flag(fields, "attention_k_eq_v")?.unwrap_or(false);
    let keeps_dense = family.experts.is_some_and(|rule| rule.is_beside_dense);
    let (mut kinds, mut order) = (Vec::<LayerKind>::new(), Vec::new());
    for layer in 0..config.layers {
        let window = window.filter(|_| has_window(layer));
        let has_experts = has_experts(layer);
        let is_global = window.is_none();
        let kind = LayerKind {
            count: 0,
            window,
            kv_heads: global.0.filter(|_| is_global).unwrap_or(config.kv_heads),
            head_size: global.1.filter(|_| is_global).unwrap_or(config.head_size),
            intermediate: if has_experts && !keeps_dense { shared } else { config.intermediate },
            has_experts,
            values_are_keys: same && is_global,
        };
        let at = kinds.iter().position(|known| LayerKind { count: 0, ..*known } == kind).unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        kinds[at].count += 1;
        order.push(at);
    }
    (config.kinds, config.order) = (kinds, order);
    Ok(())
}

/// Features of the feed-forward part that all tokens share beside experts.
fn shared_width(fields: &Map<String, Value>, family: &Family, config: &DecoderConfig) -> Result<u64, Refusal> {
    const MOST: u64 = 1 << 22;
    let of_expert = config.experts.map_or(0, |e| e.intermediate);
    let count = whole(fields, SHARED)?.or(family.experts.map(|rule| rule.shared)).unwrap_or(0);
    let width = whole(fields, SHARED_WIDTH)?.unwrap_or_else(|| count.saturating_mul(of_expert));
    if width > MOST { Err(refuse!("shared experts are {width} wide; the most is {MOST}")) } else { Ok(width) }
}

/// Positions that a layer with a window looks back; `None` where it leaves none out.
fn window_of(fields: &Map<String, Value>, family: &Family, config: &DecoderConfig) -> Result<Option<u64>, Refusal> {
    let types = fields.get("layer_types").is_some_and(Value::is_array);
    if flag(fields, "use_sliding_window")? == Some(false) || (family.full_of == 0 && !types) {
        return Ok(None);
    }
    Ok(whole(fields, WINDOW)?.filter(|window| (1..config.max_positions).contains(window)))
}
