//! The zoo as shown on a page or in a terminal.

use serde::Serialize;

use super::{MODELS, ModelSpec, ParamKind};
use crate::Distribution;
use ns_base::Refusal;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputListing {
    /// Shape as HLO text: `f32[4,4]`.
    pub shape: String,
    /// How its values are drawn: `uniform` in [0, 1), `normal`, `integer` (ids) or `constant`.
    pub distribution: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParamListing {
    /// Name in a specification.
    pub name: &'static str,
    /// `int`, `bool` or `kernel`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The default, as specifications write it.
    pub default: String,
    /// Smallest value of an `int`.
    pub min: Option<u64>,
    /// Largest value of an `int`.
    pub max: Option<u64>,
    pub help: &'static str,
}

/// The properties of a specification at a batch size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelSummary {
    /// The class of the root module, as shown in profiles.
    pub class: String,
    /// Batch size of the figures below.
    pub batch_size: u64,
    /// Example inputs.
    pub inputs: Vec<InputListing>,
    /// The result's shape as HLO text.
    pub output: String,
    /// Number of weight elements.
    pub parameter_count: u64,
    /// Bytes of all weights.
    pub weight_bytes: u64,
    /// Floating-point operations of the matrix products of one call, two per multiply-accumulate.
    pub flops: u64,
}

/// A zoo entry with its parameters, and its properties with their defaults.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelListing {
    /// Name in a specification.
    pub id: &'static str,
    pub description: &'static str,
    /// A batch of one, in words.
    pub batch: &'static str,
    pub parameters: Vec<ParamListing>,
    /// The model with its defaults at its default batch size.
    pub summary: ModelSummary,
}

/// The properties of a specification at a batch size. Fails when it cannot be traced.
pub fn summarize(spec: &ModelSpec, batch: u64) -> Result<ModelSummary, Refusal> {
    let graph = spec.trace(batch)?;
    let inputs = spec.inputs(batch)?.into_iter().map(|i| InputListing {
        shape: i.shape.to_string(),
        distribution: match i.distribution {
            Distribution::Uniform => "uniform",
            Distribution::Normal => "normal",
            Distribution::Below(_) => "integer",
            Distribution::Constant(_) => "constant",
        },
    });
    Ok(ModelSummary {
        class: graph.name.clone(),
        batch_size: batch,
        inputs: inputs.collect(),
        output: graph.nodes[graph.output].shape.to_string(),
        parameter_count: graph.parameter_count(),
        weight_bytes: graph.weight_bytes(),
        flops: graph.flops(),
    })
}

/// Every model of the zoo.
/// Never fails for the models that ship; if one had a defect, the error would name it.
pub fn list() -> Result<Vec<ModelListing>, Refusal> {
    MODELS
        .iter()
        .map(|info| {
            let parameters = info.parameters.iter().map(|p| {
                let (kind, default, min, max) = match p.kind {
                    ParamKind::Int { default, min, max } => ("int", default.to_string(), Some(min), Some(max)),
                    ParamKind::Bool { default } => ("bool", default.to_string(), None, None),
                    ParamKind::Kernel { default } => ("kernel", default.to_owned(), None, None),
                    ParamKind::Operator { default } => ("operator", default.to_owned(), None, None),
                    ParamKind::Shapes => ("shapes", String::new(), None, None),
                };
                ParamListing { name: p.name, kind, default, min, max, help: p.help }
            });
            Ok(ModelListing {
                id: info.id,
                description: info.description,
                batch: info.batch_help,
                parameters: parameters.collect(),
                summary: summarize(&ModelSpec::new(info), info.default_batch_size)?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named_parameters;

    #[test]
    fn the_listing_has_the_tutorials_sizes() {
        let all = list().unwrap();
        let figures: Vec<_> = all
            .iter()
            .take(3)
            .map(|m| (m.id, m.summary.parameter_count, m.summary.flops, m.summary.inputs[0].shape.as_str()))
            .collect();
        let mlp_weights = 784 * 4096 + 4096 * 2048 + 2048 * 10;
        assert_eq!(
            figures,
            [
                ("nn", 16 + 4 + 8 + 2, 2 * (64 + 32), "f32[4,4]"),
                // The guide's PE TOPS formula: 2 * batch * n^3 * loop_count.
                ("matmult", 1024 * 1024 + 1024, 2 * 1024 * 1024 * 1024 * 1000, "f32[1,1024,1024]"),
                ("mlp", mlp_weights + 4096 + 2048 + 10, 2 * 32 * mlp_weights, "f32[32,784]"),
            ]
        );
    }

    #[test]
    fn declared_weights_are_the_traced_ones_in_every_model() {
        for info in MODELS {
            let spec = ModelSpec::new(info);
            let module = spec.module();
            let mut declared: Vec<_> =
                named_parameters(&*module).into_iter().map(|(path, p)| (path, p.shape.clone())).collect();
            declared.sort_by(|a, b| a.0.cmp(&b.0));
            let traced: Vec<_> =
                spec.trace(1).unwrap().weights().into_iter().map(|(path, w)| (path, w.shape)).collect();
            assert_eq!(declared, traced, "{}", info.id);
        }
    }

    #[test]
    fn defaults_lie_within_their_ranges() {
        for p in MODELS.iter().flat_map(|m| m.parameters) {
            if let ParamKind::Int { default, min, max } = p.kind {
                assert!((min..=max).contains(&default), "{}", p.name);
            }
        }
    }
}
