//! A model that computes on the processor.

use std::rc::Rc;

use crate::config::configuration::Configuration;
use crate::run::times::check_inputs;
use crate::values::ModelValues;
use ns_base::convert::u64_to_f64;
use ns_base::units::format_bytes;
use ns_base::{Refusal, refuse};
use ns_compiler::CompileOptions;
use ns_compiler::hlo::{Arithmetic, Evaluation, HloModule, InstrId, NoWatch};
use ns_device::{ModelFileValues, ModelKind, ModelLibrary, model_label};
use ns_model::ModelSpec;
use ns_neuron::numerics::SizeLimits;
use ns_tensor::Tensor;
use ns_tensor::kernels::Accumulation;

/// A loaded copy: its program, its weights and one batch of inputs.
pub struct CpuModel {
    program: Program,
    inputs: Vec<Rc<Tensor>>,
}

enum Program {
    /// A model of the zoo after the compiler's passes, with the values of its parameters.
    Zoo { module: Rc<HloModule>, parameters: Vec<Rc<Tensor>> },
    /// A model file, one operation after another in double precision.
    File(Box<ModelFileValues>),
}

/// Products in the fastest order; everything else as the reference computes it.
struct Fastest;

impl Arithmetic for Fastest {
    fn accumulation(&self) -> Accumulation {
        Accumulation::Fastest
    }

    fn forget(&mut self, _: InstrId) {}
}

/// The values of a configuration's model file, which every copy takes; `None` for a model of the zoo. Fails when the file is not
/// open, is too large, or does not take these inputs.
pub fn file_values(configuration: &Configuration, models: &ModelLibrary) -> Result<Option<ModelFileValues>, Refusal> {
    if ModelKind::of(&configuration.model) != ModelKind::File {
        return Ok(None);
    }
    configuration.check()?;
    check_inputs(configuration, models)?;
    let batch = u64::from(configuration.batch_size);
    let values = ModelFileValues::of(models, &configuration.model, Some(batch), configuration.seed);
    values.map(Some).map_err(|e| e.within(|what| format!("{}: {what}", model_label(&configuration.model))))
}

impl CpuModel {
    /// Compiles the model of a configuration and draws its weights. Fails when the model is not known, cannot be compiled, or is
    /// too large for the memory.
    pub fn load(configuration: &Configuration) -> Result<Self, Refusal> {
        configuration.check()?;
        match ModelKind::of(&configuration.model) {
            ModelKind::Fixed => {
                return Err(refuse!(
                    "model fixed is given by its times: there is nothing to run on a processor; name another model, such as nn"
                ));
            }
            ModelKind::File => {
                return Err(refuse!("{}: the file is not open; open it again", model_label(&configuration.model)));
            }
            ModelKind::Zoo => {}
        }
        let spec: ModelSpec = configuration.model.parse()?;
        check_inputs(configuration, &ModelLibrary::default())?;
        let batch = u64::from(configuration.batch_size);
        check_size(&spec, batch)?;
        let values = ModelValues::of(&spec, batch, CompileOptions::default(), configuration.seed);
        let values = values.map_err(|error| error.within(|what| format!("{}: {what}", configuration.model)))?;
        let program = Program::Zoo { module: values.module, parameters: values.parameters };
        Ok(Self { program, inputs: values.inputs })
    }

    /// The copy of a model file with these values. Fails when an input is not a real number.
    pub fn of_file(values: Box<ModelFileValues>) -> Result<Self, Refusal> {
        let inputs = values.inputs()?.into_iter().map(Rc::new).collect();
        Ok(Self { program: Program::File(values), inputs })
    }

    /// The batch that every inference takes.
    pub fn inputs(&self) -> &[Rc<Tensor>] {
        &self.inputs
    }

    /// One inference, from inputs to outputs. Fails when memory runs out.
    pub fn infer(&self) -> Result<Vec<Rc<Tensor>>, Refusal> {
        let (module, parameters) = match &self.program {
            Program::Zoo { module, parameters } => (module, parameters),
            Program::File(values) => return Ok(values.compute(None)?.into_iter().map(Rc::new).collect()),
        };
        let mut evaluation = Evaluation::new(Rc::clone(module), parameters.clone());
        loop {
            if let Some(results) = evaluation.step(u64::MAX, &mut Fastest, &mut NoWatch)? {
                return Ok(results);
            }
        }
    }
}

/// Refuses a model whose first inference would not end in minutes, or whose weights do not fit, before anything is drawn.
fn check_size(spec: &ModelSpec, batch: u64) -> Result<(), Refusal> {
    let graph = spec.trace(batch)?;
    let weights = graph.weights().values().fold(0u64, |n, w| n.saturating_add(w.shape.elements()));
    let (mflop, most) = (graph.flops() / 1_000_000, SizeLimits::NATIVE);
    if mflop <= most.mflop && weights <= most.weights {
        return Ok(());
    }
    Err(refuse!(
        "device_type cpu: {spec} at batch size {batch} takes {mflop} MFLOP for an inference and {} for its weights in fp32; one thread computes models of up to {} MFLOP and {}: use a smaller batch or model, or device_type neuron",
        format_bytes(u64_to_f64(weights) * 4.0),
        most.mflop,
        format_bytes(u64_to_f64(most.weights) * 4.0)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchConfig, DeviceType, RunOptions, expand};
    use ns_device::ModelFileSettings;
    use ns_readers::read_model;

    const PRODUCT: &str = "HloModule m\n\nENTRY main {\n  x = f32[2,8]{1,0} parameter(0)\n  w = f32[8,3]{1,0} parameter(1)\n  \
        ROOT d = f32[2,3]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";

    fn on_cpu(model: &str, batch: u32) -> Configuration {
        let options = RunOptions { device_type: DeviceType::Cpu, ..RunOptions::default() };
        let config =
            BenchConfig { model: model.to_owned(), batch_sizes: vec![batch], options, ..BenchConfig::default() };
        expand(&config).unwrap().configurations.remove(0)
    }

    #[test]
    fn a_model_file_computes_its_results() {
        let models = ModelLibrary::new(read_model);
        let bytes = Rc::new(PRODUCT.as_bytes().to_vec());
        let id = models.open("m.hlo", bytes, ModelFileSettings::default()).unwrap().id;
        let values = file_values(&on_cpu(&id, 2), &models).unwrap().unwrap();
        let expected = values.compute(None).unwrap();
        let model = CpuModel::of_file(Box::new(values)).unwrap();
        assert_eq!(model.inputs()[0].data().len(), 16);
        assert!(model.infer().unwrap()[0].same_bits(&expected[0]));
        assert!(file_values(&on_cpu("nn", 1), &models).unwrap().is_none());
    }

    #[test]
    fn a_model_that_is_too_large_is_refused_before_its_weights_are_drawn() {
        let said = CpuModel::load(&on_cpu("llama-2-7b", 1)).err().unwrap().to_string();
        assert!(said.starts_with("device_type cpu: llama-2-7b at batch size 1 takes "), "{said}");
        assert!(
            said.contains(" MFLOP for an inference and 2") && said.contains("use a smaller batch or model"),
            "{said}"
        );
    }
}
