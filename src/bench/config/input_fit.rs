//! Inputs decide a model's sizes, as in NeuronPerf, where a tensor of 64 tokens makes the model run 64 tokens: parameters
//! that the specification leaves open are set so that the model takes the inputs that are given.

use super::configuration::Configuration;
use super::inputs::InputTuple;
use ns_base::Order;
use ns_model::InputSpec;
use ns_model::zoo::{ModelSpec, ParamKind};

/// Largest size that is tried for a parameter: more than any input has.
const MOST_SIZES: usize = 32;

/// Batch sizes up to this one are tried; above it, only the first size of the input.
const MOST_BATCHES: u64 = 4_096;

/// Sets open parameters of the configuration's model from its inputs; returns a note for the user, if any. Inputs
/// that fit no setting stay as they are, and their row says what the model takes.
pub(crate) fn fit(configuration: &mut Configuration) -> Option<String> {
    let given = configuration.inputs.clone()?;
    let fitted = model_that_fits(&configuration.model, u64::from(configuration.batch_size), &given)?;
    let note = (fitted.asked != given).then(|| {
        let (model, takes) = (&fitted.model, fitted.asked.0.len());
        format!(
            "inputs: {model} takes {takes} inputs of the same shape, {} are given; their shape is used",
            given.0.len()
        )
    });
    if configuration.model_name == configuration.model {
        configuration.model_name.clone_from(&fitted.model);
    }
    (configuration.model, configuration.inputs) = (fitted.model, Some(fitted.inputs));
    note
}

/// The batch size of inputs: the largest one at which the model takes them, which is usually the first size of
/// the first input. `None` when the model takes them at no batch size.
pub fn batch_of_inputs(model: &str, inputs: &InputTuple) -> Option<u32> {
    let first = *inputs.0.first()?.first()?;
    let mut batches: Vec<u64> = (1..=first.min(MOST_BATCHES)).filter(|b| first.is_multiple_of(*b)).collect();
    batches.extend((first > MOST_BATCHES).then_some(first));
    let batch = batches.into_iter().rev().find(|b| model_that_fits(model, *b, inputs).is_some())?;
    u32::try_from(batch).ok()
}

struct InputFit {
    model: String,
    /// The inputs of the model itself, as they are asked for.
    asked: InputTuple,
    /// The inputs of a call: a training step has labels, too.
    inputs: InputTuple,
}

fn model_that_fits(model: &str, batch: u64, given: &InputTuple) -> Option<InputFit> {
    let spec: ModelSpec = model.parse().ok()?;
    if let Some([asked, inputs]) = fitting_inputs(&spec, batch, given) {
        return Some(InputFit { model: model.to_owned(), asked, inputs });
    }
    // Parameters set in the specification are kept.
    let written: Vec<&str> = model
        .split_once(':')
        .map_or("", |(_, p)| p)
        .split(',')
        .filter_map(|p| p.split('=').next())
        .map(str::trim)
        .collect();
    let open: Vec<(&str, u64, u64)> = spec
        .info()
        .parameters
        .iter()
        .filter(|p| !written.contains(&p.name))
        .filter_map(|p| match p.kind {
            ParamKind::Int { min, max, .. } => Some((p.name, min, max)),
            _ => None,
        })
        .collect();
    let mut sizes: Vec<u64> = given.0.iter().flatten().copied().collect();
    sizes.order();
    sizes.dedup();
    sizes.truncate(MOST_SIZES);
    let mut settings: Vec<String> = Vec::new();
    for (name, min, max) in &open {
        settings.extend(sizes.iter().filter(|s| (min..=max).contains(s)).map(|s| format!("{name}={s}")));
    }
    let separator = if model.contains(':') { ',' } else { ':' };
    let attempt = |text: String| {
        let spec: ModelSpec = text.parse().ok()?;
        let [asked, inputs] = fitting_inputs(&spec, batch, given)?;
        Some(InputFit { model: spec.to_string(), asked, inputs })
    };
    let one = settings.iter().find_map(|s| attempt(format!("{model}{separator}{s}")));
    one.or_else(|| {
        let pairs = settings.iter().enumerate().flat_map(|(i, a)| settings[i + 1..].iter().map(move |b| (a, b)));
        pairs.into_iter().find_map(|(a, b)| attempt(format!("{model}{separator}{a},{b}")))
    })
}

/// The model's own inputs, and those of a call, when the given ones fit: the same shapes, or all of one shape if the model takes more or
/// fewer of that shape. For example, a mask or token types that a script leaves at their defaults are inputs here.
fn fitting_inputs(spec: &ModelSpec, batch: u64, given: &InputTuple) -> Option<[InputTuple; 2]> {
    let dims = |inputs: Vec<InputSpec>| inputs.iter().map(|i| i.shape.dims.to_vec()).collect::<Vec<Vec<u64>>>();
    let own = dims(spec.forward_inputs(batch).ok()?);
    let first = given.0.first()?;
    let all_alike = given.0.iter().chain(&own).all(|shape| shape == first) && first.len() == 2;
    if own != given.0 && !all_alike {
        return None;
    }
    let whole = dims(spec.inputs(batch).ok()?);
    Some([InputTuple(own), InputTuple(whole)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchConfig, Sweep, expand, parse_inputs};
    use ns_model::zoo::MODELS;

    fn swept(model: &str, batch: u32, inputs: &str) -> Sweep {
        let config = BenchConfig {
            model: model.to_owned(),
            batch_sizes: vec![batch],
            inputs: parse_inputs(inputs).unwrap(),
            n_models: Some(vec![1]),
            workers_per_model: Some(vec![1]),
            ..BenchConfig::default()
        };
        expand(&config).unwrap()
    }

    fn model(model: &str, batch: u32, inputs: &str) -> String {
        swept(model, batch, inputs).configurations[0].model.clone()
    }

    #[test]
    fn tokens_set_the_length_of_a_sequence() {
        assert_eq!(model("distilbert-base-uncased", 6, "(6x64,6x64)"), "distilbert-base-uncased:seq=64");
        assert_eq!(model("distilbert-base-uncased", 6, "(6x128,6x128)"), "distilbert-base-uncased");
        let sweep = swept("bert-base-uncased", 6, "(6x64,6x64)");
        assert_eq!(sweep.configurations[0].model, "bert-base-uncased:seq=64");
        assert_eq!(sweep.configurations[0].model_name, "bert-base-uncased:seq=64");
        assert!(
            sweep.messages.iter().any(|m| m.contains("takes 3 inputs of the same shape, 2 are given")),
            "{:?}",
            sweep.messages
        );
    }

    #[test]
    fn what_the_specification_says_stays_and_what_fits_nothing_is_said_by_its_row() {
        assert_eq!(model("bert-base-uncased:seq=32", 6, "(6x64,6x64)"), "bert-base-uncased:seq=32");
        let row = swept("nn", 1, "1x7").configurations.remove(0);
        let error = crate::service_times(&row, &ns_device::ModelLibrary::default()).unwrap_err().to_string();
        assert!(error.starts_with("inputs: nn at batch size 1 takes "), "{error}");
    }

    #[test]
    fn the_batch_size_follows_the_inputs() {
        let batch = |model: &str, inputs: &str| batch_of_inputs(model, &inputs.parse().unwrap());
        assert_eq!(batch("distilbert-base-uncased", "(6x64,6x64)"), Some(6));
        // One request of the tutorial's network is four rows.
        assert_eq!((batch("nn", "4x4"), batch("nn", "24x4"), batch("nn", "6x4")), (Some(1), Some(6), None));
        assert_eq!(batch("fixed:device_ms=1", "6x4"), None);
    }

    #[test]
    fn the_own_inputs_of_every_model_fit() {
        for info in MODELS {
            let spec = ModelSpec::new(info);
            let own = spec.inputs(2).unwrap().iter().map(|i| i.shape.dims.to_vec()).collect();
            let fitted = model_that_fits(info.id, 2, &InputTuple(own)).unwrap();
            assert_eq!(fitted.model, info.id);
        }
        // The tokens in the example of `--help` fit every text model.
        let tokens: InputTuple = "(6x128,6x128)".parse().unwrap();
        for info in MODELS.iter().filter(|m| m.parameters.iter().any(|p| p.name == "seq")) {
            assert!(model_that_fits(info.id, 6, &tokens).is_some(), "{}", info.id);
        }
    }
}
