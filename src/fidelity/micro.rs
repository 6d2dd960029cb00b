//! Rows that name no model of the zoo but measure a known one: the matmult microbenchmark and the custom operator
//! tutorial.

use super::PublishedRow;
use super::predict::{Placement, PlacementBasis, Prediction, instance_of};
use ns_base::Refusal;
use ns_base::convert::u64_to_f64;
use ns_compiler::Workflow;
use ns_device::Device;
use ns_neuron::sim::{NoObserver, simulate};

/// The measurement of a row without a model of the zoo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Micro {
    /// `loop_count` dependent products of `n` x `n` matrices; throughput in TFLOPS.
    Matmult { n: u64, loop_count: u64 },
    /// The MLP with the custom ReLU that reads and writes element by element; throughput in steps a second.
    CustomRelu,
}

impl Micro {
    /// The kind of a row, if it is one of these.
    pub fn of(row: &PublishedRow) -> Option<Self> {
        let (model, unit) = (row.model.to_ascii_lowercase(), row.throughput_unit.to_ascii_lowercase());
        if model.starts_with("matmult") && unit.starts_with("tflops") {
            let n = setting(&row.sequence_or_image, "n")?;
            return Some(Self::Matmult { n, loop_count: setting(&row.sequence_or_image, "loop_count")? });
        }
        let custom = model.starts_with("mlp 784-4096-2048-10") && model.contains("element-wise");
        (custom && unit.starts_with("iter/s")).then_some(Self::CustomRelu)
    }

    /// Predicts the row from the device's time alone: both loops keep the device busy. Fails when the instance is not known or not
    /// simulated.
    pub fn predict(&self, row: &PublishedRow) -> Result<Prediction, Refusal> {
        let device = Device::of_instance(instance_of(&row.instance)?.name)?;
        let (model, workflow) = match self {
            Self::Matmult { n, loop_count } => {
                (format!("matmult:n={n},loop_count={loop_count},add_bias=true"), Workflow::Trace)
            }
            Self::CustomRelu => ("mlp".to_owned(), Workflow::MarkStep),
        };
        let executable = device.compile(&model, row.batch_size, workflow)?;
        let outcome = simulate(&executable, &device.costs, &mut NoObserver)?;
        let seconds = outcome.window.to_secs_f64();
        let throughput = match self {
            Self::Matmult { n, loop_count } => {
                let n = u64_to_f64(*n);
                2.0 * n * n * n * u64_to_f64(*loop_count) / seconds / 1e12
            }
            Self::CustomRelu => 1.0 / seconds,
        };
        let placement = Placement { n_models: 1, workers_per_model: 1, basis: PlacementBasis::Stated };
        Ok(Prediction { model, throughput, placement, solved: Some(self.solved()) })
    }

    /// The constant of the cost table that was solved from this row, or derived with this row in view.
    fn solved(&self) -> &'static str {
        match self {
            Self::Matmult { .. } => "sustained_matmul_permille",
            Self::CustomRelu => "hbm_access_ns",
        }
    }
}

/// A number of `n=1024, loop_count=1000`.
fn setting(text: &str, name: &str) -> Option<u64> {
    let settings = text.split(',').filter_map(|part| part.split_once('='));
    settings.filter(|(key, _)| key.trim() == name).find_map(|(_, value)| value.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_microbenchmark_is_predicted_in_tflops() {
        let row = PublishedRow {
            model: "Matmult 1024x1024x1024".into(),
            instance: "trn1".into(),
            throughput_unit: "TFLOPS (PE TOPS)".into(),
            sequence_or_image: "n=1024, loop_count=20, timed_iters=1000".into(),
            batch_size: Some(1),
            ..PublishedRow::default()
        };
        let micro = Micro::of(&row).unwrap();
        assert_eq!(micro, Micro::Matmult { n: 1_024, loop_count: 20 });
        let tflops = micro.predict(&row).unwrap().throughput;
        assert!((70.0..80.0).contains(&tflops), "{tflops}");
        assert_eq!(Micro::of(&PublishedRow { throughput_unit: "inf/s".into(), ..row }), None);
    }
}
