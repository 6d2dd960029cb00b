//! One core's part of a decoder, as the libraries of NeuronCores cut it.
//!
//! Queries, keys, values, gate and up are cut by columns, the two output products by rows. Heads, columns and words are rounded
//! up to a multiple of the degree, and the padding costs like the rest.

use super::config::{DecoderConfig, Mlp};
use ns_base::{Refusal, refuse};
use ns_machine::arch::Instance;

/// Tensor parallel degrees that a library accepts on an instance: those of the developer guides that are within its cores.
#[must_use]
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
    /// Repeated until there is one for each query head: the default of the library of Inf2 and Trn1.
    PerQueryHead,
    /// Repeated until each core has one: the library of Trn2.
    PerCore,
}

impl KvRule {
    /// The rule of the library that serves a generation of cores.
    #[must_use]
    pub const fn of_core(core_version: u8) -> Self {
        if core_version >= 3 { Self::PerCore } else { Self::PerQueryHead }
    }
}

/// One core's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shard {
    /// Cores that share the model.
    pub degree: u64,
    /// Query heads.
    pub heads: u64,
    /// Heads of keys and values.
    pub kv_heads: u64,
    pub head_size: u64,
    /// Columns of the feed-forward part.
    pub columns: u64,
    /// Words of the head.
    pub words: u64,
    /// Features of a token, which every core has whole.
    pub hidden: u64,
}

impl Shard {
    /// The part of one of `degree` cores.
    ///
    /// # Errors
    /// When there are more than twice as many cores as query heads.
    pub fn of(config: &DecoderConfig, degree: u32, rule: KvRule) -> Result<Self, Refusal> {
        let n = u64::from(degree.max(1));
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
            _ if config.kv_heads.is_multiple_of(n) => config.kv_heads / n,
            KvRule::PerQueryHead => heads,
            KvRule::PerCore => config.kv_heads.div_ceil(n),
        };
        // Groups are whole on each core.
        let heads = heads.next_multiple_of(kv_heads);
        Ok(Self {
            degree: n,
            heads,
            kv_heads,
            head_size: config.head_size,
            columns: config.intermediate.div_ceil(n),
            words: config.vocabulary.div_ceil(n),
            hidden: config.hidden,
        })
    }

    /// Elements of the matrices of one layer.
    #[must_use]
    pub fn layer_elements(&self, mlp: Mlp) -> u64 {
        let matrices = match mlp {
            Mlp::Gated => 3,
            Mlp::Plain => 2,
        };
        let (q, kv) = (self.heads * self.head_size, self.kv_heads * self.head_size);
        self.hidden * (2 * q + 2 * kv) + matrices * self.hidden * self.columns
    }

    /// Elements of the head's matrix.
    #[must_use]
    pub const fn head_elements(&self) -> u64 {
        self.hidden * self.words
    }

    /// Bytes of keys and values of one layer, for a batch and positions, in 16 bits.
    #[must_use]
    pub const fn cache_bytes(&self, batch: u64, positions: u64) -> u64 {
        (2 * self.kv_heads * self.head_size * 2).saturating_mul(batch).saturating_mul(positions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named_config;
    use ns_machine::arch::instance;

    #[test]
    fn parts_are_padded_as_the_library_does() {
        let part = |name, degree, rule| Shard::of(&named_config(name).unwrap(), degree, rule).unwrap();
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
        assert_eq!((part.layer_elements(Mlp::Gated) * 2 + 5_000) / 10_000, 2_818);
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
