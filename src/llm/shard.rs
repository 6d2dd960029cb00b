//! One core's part of a decoder, as the libraries of NeuronCores cut it.
//!
//! Queries, keys, values, gate and up are cut by columns, the two output products by rows. Heads, columns and words are rounded
//! up to a multiple of the degree, and the padding costs like the rest.

use super::config::{DecoderConfig, Latent, LayerKind, Mlp};
use super::route::Route;
use ns_base::{Refusal, refuse};
use ns_machine::arch::Instance;

/// Tensor parallel degrees that a library accepts on an instance: those of the developer guides that are within its cores.
pub fn degrees(instance: &Instance, lnc: Option<u32>) -> Vec<u32> {
    const INF2: &[u32] = &[1, 2, 4, 8, 12, 24];
    // A group of a 2D torus; 16 ranks since runtime 2.15.
    const TRN1: &[u32] = &[1, 2, 8, 16, 32];
    const POWERS: &[u32] = &[1, 2, 4, 8, 16, 32, 64, 128, 256];
    let of_family = match instance.core_version {
        2 if instance.name.starts_with("inf2") => INF2,
        2 => TRN1,
        3 | 4 => POWERS,
        _ => &[],
    };
    let cores = instance.logical_cores(lnc);
    of_family.iter().copied().filter(|degree| *degree <= cores).collect()
}

/// How keys and values are given to cores that outnumber their heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KvRule {
    /// Repeated until there is one for each query head: transformers-neuronx.
    PerQueryHead,
    /// Repeated until each core has one: NeuronX Distributed Inference.
    PerCore,
}

impl KvRule {
    /// The rule of the library of a route.
    pub const fn of_route(route: Route) -> Self {
        match route {
            Route::Tnx => Self::PerQueryHead,
            Route::Nxdi | Route::Vllm => Self::PerCore,
        }
    }
}

/// How many cores share a model, and how many groups of them its experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    pub degree: u32,
    /// 1 where every core has a part of every expert.
    pub expert_groups: u32,
}

impl Cut {
    /// Checks that groups and experts divide.
    /// An error says what does not, and the nearest number of groups that is possible.
    pub fn check(self, config: &DecoderConfig) -> Result<(), Refusal> {
        let Self { degree, expert_groups: groups } = self;
        if groups == 1 {
            return Ok(());
        }
        let Some(experts) = config.experts else {
            return Err(refuse!(
                "{} has no experts that {groups} groups of cores could share; leave --ep out",
                config.name
            ));
        };
        let is_possible = |groups: u32| {
            groups > 0 && degree.is_multiple_of(groups) && experts.count.is_multiple_of(u64::from(groups))
        };
        if is_possible(groups) {
            return Ok(());
        }
        let nearest =
            (1..=degree).filter(|groups| is_possible(*groups)).min_by_key(|n| n.abs_diff(groups)).unwrap_or(1);
        Err(refuse!(
            "{}: {} experts on {degree} cores cannot be shared by {groups} groups, which must divide both; the nearest is --ep {nearest}",
            config.name,
            experts.count
        ))
    }
}

impl From<u32> for Cut {
    fn from(degree: u32) -> Self {
        Self { degree, expert_groups: 1 }
    }
}

/// One core's part of a layer of one kind, and of the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shard {
    /// Cores that share the model.
    pub degree: u64,
    /// Query heads.
    pub heads: u64,
    /// Heads of keys and values.
    pub kv_heads: u64,
    pub head_size: u64,
    /// Columns of the feed-forward part of all tokens; 0 where there is none.
    pub columns: u64,
    /// Words of the head.
    pub words: u64,
    /// Features of a token, which every core has whole.
    pub hidden: u64,
    /// Experts of the layer; 0 where there are none.
    pub experts: u64,
    /// Groups of cores that share the experts. A core has `expert_columns` of each expert of its group.
    pub expert_groups: u64,
    pub expert_columns: u64,
    pub latent: Option<Latent>,
    pub values_are_keys: bool,
    pub has_gate: bool,
    /// Whether products that read the same are one, and the norms elsewhere: in prompts of Trn2.
    pub is_fused: bool,
    /// Matrices of a feed-forward part.
    pub matrices: u64,
}

impl Shard {
    /// The part of one core: of the first kind of layers.
    /// Fails when there are more than twice as many cores as query heads.
    pub fn of(config: &DecoderConfig, cut: Cut, rule: KvRule) -> Result<Self, Refusal> {
        let first = config.kinds.first().ok_or_else(|| refuse!("{}: it has no layers", config.name))?;
        Self::of_kind(config, first, cut, rule)
    }

    /// The same of any kind of layers.
    /// Fails as [`Self::of`].
    pub fn of_kind(config: &DecoderConfig, kind: &LayerKind, cut: Cut, rule: KvRule) -> Result<Self, Refusal> {
        let (n, groups) = (u64::from(cut.degree.max(1)), u64::from(cut.expert_groups.max(1)));
        // Padding at most doubles the heads.
        let most = config.heads * 2;
        if n > most {
            return Err(refuse!(
                "{}: {} attention heads cannot be shared by {n} cores; the most is {most}",
                config.name,
                config.heads
            ));
        }
        let heads = config.heads.div_ceil(n);
        let kv_heads = match rule {
            _ if config.latent.is_some() => 1,
            _ if kind.kv_heads.is_multiple_of(n) => kind.kv_heads / n,
            KvRule::PerQueryHead => heads,
            KvRule::PerCore => kind.kv_heads.div_ceil(n),
        };
        let experts = config.experts.filter(|_| kind.has_experts);
        // Groups are whole on each core.
        let heads = heads.next_multiple_of(kv_heads);
        Ok(Self {
            degree: n,
            heads,
            kv_heads,
            head_size: kind.head_size,
            columns: kind.intermediate.div_ceil(n),
            words: config.vocabulary.div_ceil(n),
            hidden: config.hidden,
            experts: experts.map_or(0, |e| e.count),
            expert_groups: groups,
            expert_columns: experts.map_or(0, |e| e.intermediate.div_ceil(n / groups.min(n))),
            latent: config.latent,
            values_are_keys: kind.values_are_keys,
            has_gate: config.has_attention_gate,
            is_fused: false,
            matrices: match config.mlp {
                Mlp::Gated => 3,
                Mlp::Plain => 2,
            },
        })
    }

    /// Elements of the matrices of one layer that every token uses: all but its experts.
    pub fn shared_elements(&self) -> u64 {
        let attention = match self.latent {
            Some(l) => {
                let q = self.heads * l.query();
                let queries = if l.query_rank == 0 { self.hidden * q } else { l.query_rank * (self.hidden + q) };
                queries + self.hidden * l.kept() + self.heads * (l.rank * (l.plain + l.value) + l.value * self.hidden)
            }
            None => {
                let (q, kv) = (self.heads * self.head_size, self.kv_heads * self.head_size);
                let queries = if self.has_gate { 3 } else { 2 };
                self.hidden * (queries * q + if self.values_are_keys { kv } else { 2 * kv })
            }
        };
        attention + self.hidden * (self.matrices * self.columns + self.experts)
    }

    /// Elements of a core's part of one expert.
    pub const fn expert_elements(&self) -> u64 {
        self.matrices * self.hidden * self.expert_columns
    }

    /// Rows of a core's part of one expert as they lie in device memory: the columns of gate and up side by side, those of down as they are.
    pub const fn expert_rows(&self) -> u64 {
        self.hidden + self.expert_columns
    }

    /// Rows in which the compiler of today's libraries fetches the matrices of a feed-forward part: a row has tiles of 128 columns, as many as
    /// divide the tiles of a core, at most 16. A core with 43 tiles has rows of one (found in the rows of `served.csv`: of 22 models the three
    /// that read slowly have 43 or 74).
    pub fn fetched_rows(&self) -> u64 {
        const TILE: u64 = 128;
        const MOST: u64 = 16;
        let all = self.matrices * self.hidden * self.columns;
        if !self.columns.is_multiple_of(TILE) {
            return all / (TILE * MOST / 2);
        }
        let tiles = self.columns / TILE;
        let block = (1..=MOST).rev().find(|block| tiles.is_multiple_of(*block)).unwrap_or(1);
        all / (TILE * block)
    }

    /// Elements of the matrices of one layer.
    pub fn layer_elements(&self) -> u64 {
        self.shared_elements() + self.experts / self.expert_groups * self.expert_elements()
    }

    /// Elements of the head's matrix.
    pub const fn head_elements(&self) -> u64 {
        self.hidden * self.words
    }

    /// Bytes of keys and values of one layer, for a batch and positions, in 16 bits.
    pub fn cache_bytes(&self, batch: u64, positions: u64) -> u64 {
        let values = self.latent.map_or(2 * self.kv_heads * self.head_size, |l| l.kept());
        (2 * values).saturating_mul(batch).saturating_mul(positions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named_config;
    use ns_machine::arch::instance;

    #[test]
    fn parts_are_padded_as_the_library_does() {
        let part = |name, degree, rule| Shard::of(&named_config(name).unwrap(), Cut::from(degree), rule).unwrap();
        let heads = |s: Shard| (s.heads, s.kv_heads);
        use KvRule::{PerCore, PerQueryHead};
        assert_eq!(heads(part("llama-2-7b", 24, PerQueryHead)), (2, 2));
        assert_eq!(heads(part("llama-2-13b", 32, PerQueryHead)), (2, 2));
        assert_eq!(heads(part("llama-3-8b", 24, PerQueryHead)), (2, 2));
        assert_eq!(heads(part("llama-3-8b", 8, PerQueryHead)), (4, 1));
        assert_eq!(heads(part("llama-3-70b", 64, PerCore)), (1, 1));
        let whole = part("llama-3-8b", 1, PerQueryHead);
        assert_eq!((whole.heads, whole.kv_heads, whole.columns, whole.words), (32, 8, 14_336, 128_256));
        // The worked example of the analytical model: 28.18 MB a layer, 13.7 MB for the head.
        let part = part("llama-2-13b", 24, PerQueryHead);
        assert_eq!((part.layer_elements() * 2 + 5_000) / 10_000, 2_818);
        assert_eq!((part.head_elements() * 2 + 50_000) / 100_000, 137);
    }

    #[test]
    fn an_instance_has_some_degrees() {
        let of = |name, lnc| degrees(instance(name).unwrap(), lnc);
        assert_eq!(of("inf2.48xlarge", None), [1, 2, 4, 8, 12, 24]);
        assert_eq!(of("inf2.xlarge", None), [1, 2]);
        assert_eq!(of("trn1.32xlarge", None), [1, 2, 8, 16, 32]);
        assert_eq!(of("trn2.48xlarge", None).last(), Some(&64));
        assert_eq!(of("trn2.48xlarge", Some(1)).last(), Some(&128));
        assert!(of("inf1.xlarge", None).is_empty());
    }
}
