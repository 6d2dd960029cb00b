//! The answers of a model to the records of a dataset, as the device that is benchmarked computes them.

use std::rc::Rc;

use crate::config::configuration::Configuration;
use crate::config::options::DeviceType;
use crate::dataset::Records;
use crate::host_step::step::HostStep;
use crate::values::ModelValues;
use ns_base::convert::{f64_to_f32, u64_to_usize};
use ns_base::{Refusal, refuse};
use ns_compiler::hlo::{Arithmetic, Evaluation, HloModule, NoWatch, Opcode, ParameterRole, Reference};
use ns_device::{ModelFileValues, ModelKind, ModelLibrary, model_label};
use ns_machine::arch::NEURONCORE_V2;
use ns_model::{InputSpec, ModelSpec};
use ns_neuron::numerics::DeviceArithmetic;
use ns_tensor::{Rounding, Tensor};

/// A model with its weights, which answers records.
pub struct Answering {
    source: AnswerSource,
    /// Sizes of its inputs.
    inputs: Vec<Vec<u64>>,
    configuration: Configuration,
}

enum AnswerSource {
    /// A model of the zoo.
    Zoo(Zoo),
    /// A model file, computed as it is written.
    File(Box<ModelFileValues>),
}

/// A model of the zoo with its weights.
struct Zoo {
    module: Rc<HloModule>,
    parameters: Vec<Rc<Tensor>>,
    /// The parameter of each input.
    places: Vec<Option<usize>>,
    specs: Vec<InputSpec>,
}

impl Answering {
    /// The model of a configuration at batch size 1, with weights from its seed or its file. Fails when the model is not known,
    /// cannot be compiled, or is a file that is not open, has another batch size or lacks weights.
    pub fn new(configuration: &Configuration, models: &ModelLibrary) -> Result<Self, Refusal> {
        let configuration = configuration.clone();
        if ModelKind::of(&configuration.model) == ModelKind::File {
            let model = model_label(&configuration.model).into_owned();
            let values = ModelFileValues::of(models, &configuration.model, Some(1), configuration.seed)
                .map_err(|e| refuse!("{model}: {e}"))?;
            if values.drawn_weights() > 0 {
                return Err(refuse!(
                    "{model}: the file does not hold {} of its weights, so its answers mean nothing; evaluate a file with weights, as written by torch.export.save or torch.onnx.export",
                    values.drawn_weights()
                ));
            }
            let inputs = values.input_dims();
            return Ok(Self { source: AnswerSource::File(Box::new(values)), inputs, configuration });
        }
        let spec: ModelSpec = configuration.model.parse()?;
        let values = ModelValues::of(&spec, 1, configuration.compile_options(), configuration.seed);
        let ModelValues { module, parameters, specs, .. } =
            values.map_err(|e| e.within(|what| format!("{}: {what}", configuration.model)))?;
        let place = |id| match &module.instructions[id].opcode {
            Opcode::Parameter { role: ParameterRole::Input(n), .. } => Some(*n as usize),
            _ => None,
        };
        let places = module.parameters().into_iter().map(place).collect();
        let inputs = dims_of(&specs);
        Ok(Self { source: AnswerSource::Zoo(Zoo { module, parameters, places, specs }), inputs, configuration })
    }

    /// Number of values in a record for this model: those of all inputs, or of the first input only; then the others are the
    /// model's own.
    pub fn elements(&self) -> [u64; 2] {
        elements_of(&self.inputs)
    }

    /// The outputs for each record. If the work before the call is an expression, it is applied to the record. Fails when a record
    /// has another number of values than the model takes, or memory runs out.
    pub fn answers(&self, file: &str, records: &Records) -> Result<Vec<Vec<f32>>, Refusal> {
        fits(file, records.elements(), &self.inputs, &self.configuration.model)?;
        records.iter().map(|record| self.answer(record)).collect()
    }

    fn answer(&self, record: &[f64]) -> Result<Vec<f32>, Refusal> {
        let data = self.preprocessed(self.data_of(record))?;
        let zoo = match &self.source {
            AnswerSource::Zoo(zoo) => zoo,
            AnswerSource::File(values) => return self.answer_of_file(values, &data),
        };
        let mut parameters = zoo.parameters.clone();
        for (parameter, place) in parameters.iter_mut().zip(&zoo.places) {
            let Some((at, values)) = place.and_then(|at| data.get(at).map(|v| (at, v))) else { continue };
            let tensor = Tensor::new(zoo.specs[at].shape.clone(), values.clone());
            *parameter = Rc::new(tensor.map_err(|e| self.named(Refusal::new(e.to_string())))?);
        }
        let results = self.evaluate(zoo, parameters).map_err(|e| self.named(e))?;
        Ok(results.first().map_or_else(Vec::new, |t| t.data().to_vec()))
    }

    fn answer_of_file(&self, values: &ModelFileValues, data: &[Vec<f32>]) -> Result<Vec<f32>, Refusal> {
        let options = self.configuration.compile_options();
        let is_cast = self.configuration.options.device_type != DeviceType::Cpu;
        let results = values.with_inputs(data).compute(is_cast.then_some(&options));
        let results = results.map_err(|e| refuse!("{}: {e}", model_label(&self.configuration.model)))?;
        Ok(results.first().map_or_else(Vec::new, |t| t.data().to_vec()))
    }

    /// The values of each input that a record has.
    fn data_of(&self, record: &[f64]) -> Vec<Vec<f32>> {
        let mut data: Vec<Vec<f32>> = Vec::new();
        let mut from = 0;
        for input in &self.inputs {
            let until = from + u64_to_usize(elements(input));
            let Some(part) = record.get(from..until) else { break };
            data.push(part.iter().map(|v| f64_to_f32(*v)).collect());
            from = until;
        }
        data
    }

    /// Applies the work before the call to these inputs, if it is an expression.
    fn preprocessed(&self, mut data: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, Refusal> {
        let HostStep::Expression(expression) = &self.configuration.options.preprocess else { return Ok(data) };
        let slices: Vec<&[f32]> = data.iter().map(Vec::as_slice).collect();
        let results = expression.compute(&slices);
        for (values, result) in data.iter_mut().zip(results) {
            let (of, makes) = (values.len(), result.len());
            if of != makes {
                return Err(refuse!(
                    "preprocess: {expression} makes {makes} values from {of}; it must keep the number of values"
                ));
            }
            *values = result;
        }
        Ok(data)
    }

    fn named(&self, error: Refusal) -> Refusal {
        error.within(|what| format!("{}: {what}", self.configuration.model))
    }

    fn evaluate(&self, zoo: &Zoo, parameters: Vec<Rc<Tensor>>) -> Result<Vec<Rc<Tensor>>, Refusal> {
        let c = &self.configuration;
        if c.options.device_type == DeviceType::Cpu {
            return run(&zoo.module, parameters, &mut Reference);
        }
        let (options, rows) = (c.compile_options(), NEURONCORE_V2.partitions);
        let mut device = DeviceArithmetic::new(&zoo.module, &options, rows, Rounding::Rne, c.seed);
        run(&zoo.module, parameters, &mut device)
    }
}

fn run(
    module: &Rc<HloModule>,
    parameters: Vec<Rc<Tensor>>,
    arithmetic: &mut dyn Arithmetic,
) -> Result<Vec<Rc<Tensor>>, Refusal> {
    let mut evaluation = Evaluation::new(Rc::clone(module), parameters);
    loop {
        if let Some(results) = evaluation.step(u64::MAX, arithmetic, &mut NoWatch)? {
            return Ok(results);
        }
    }
}

fn dims_of(specs: &[InputSpec]) -> Vec<Vec<u64>> {
    specs.iter().map(|i| i.shape.dims.to_vec()).collect()
}

fn elements(dims: &[u64]) -> u64 {
    dims.iter().fold(1, |n, &d| n.saturating_mul(d))
}

fn elements_of(inputs: &[Vec<u64>]) -> [u64; 2] {
    let all = inputs.iter().map(|dims| elements(dims)).fold(0, u64::saturating_add);
    [all, inputs.first().map_or(0, |dims| elements(dims))]
}

/// Whether records with this many values are inputs of a model.
fn fits(file: &str, has: u64, inputs: &[Vec<u64>], model: &str) -> Result<(), Refusal> {
    let takes = elements_of(inputs);
    if takes.contains(&has) {
        return Ok(());
    }
    let shapes: Vec<String> =
        inputs.iter().map(|dims| dims.iter().map(u64::to_string).collect::<Vec<_>>().join("x")).collect();
    let (file, model, shapes) = (file.to_owned(), model_label(model).into_owned(), shapes.join(" and "));
    Err(refuse!(
        "{file}: a record has {has} values, {model} takes {shapes} of batch size 1, which are {} values; give a dataset of that size, or name the model that the dataset is for",
        takes[0]
    ))
}

/// Whether the records of a file are inputs of the model, with or without a target after the values. An error gives the sizes of
/// both.
pub fn check_records(file: &str, records: &Records, model: &str) -> Result<(), Refusal> {
    let spec: ModelSpec = model.parse()?;
    let inputs = dims_of(&spec.inputs(1)?);
    let has = records.elements();
    if records.dims.len() == 1 && elements_of(&inputs).contains(&has.saturating_sub(1)) {
        return Ok(());
    }
    fits(file, has, &inputs, model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::read_records;
    use crate::{BenchConfig, expand};

    fn configuration(device_type: DeviceType, preprocess: &str) -> Configuration {
        let mut config = BenchConfig { n_models: Some(vec![1]), ..BenchConfig::default() };
        config.options.device_type = device_type;
        config.options.preprocess = preprocess.parse().unwrap();
        expand(&config).unwrap().configurations.remove(0)
    }

    fn answers_of(device_type: DeviceType, preprocess: &str) -> Answering {
        Answering::new(&configuration(device_type, preprocess), &ModelLibrary::default()).unwrap()
    }

    fn table(answering: &Answering, scale: f64) -> Records {
        let n = answering.elements()[0];
        let line =
            |r: u64| (0..n).map(|i| (((i * 7 + r * 3) % 11) as f64 * scale).to_string()).collect::<Vec<_>>().join(",");
        read_records("t.csv", (0..3).map(|r| line(r) + "\n").collect::<String>().as_bytes()).unwrap()
    }

    #[test]
    fn answers_depend_on_the_record_and_its_preprocessing() {
        let plain = answers_of(DeviceType::Cpu, "none");
        let (records, scaled) = (table(&plain, 0.25), table(&plain, 1.0));
        let answers = plain.answers("t.csv", &records).unwrap();
        assert_eq!(answers.len(), 3);
        assert_ne!(answers[0], answers[1]);
        let divided = answers_of(DeviceType::Cpu, "x / 4");
        assert_eq!(divided.answers("t.csv", &scaled).unwrap(), answers);
        // The device casts its products to bf16: close, but not the same.
        let device = answers_of(DeviceType::Neuron, "none").answers("t.csv", &records).unwrap();
        assert_ne!(device, answers);
        let far = device.iter().flatten().zip(answers.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 0.1, "{far}");
    }

    #[test]
    fn records_of_another_size_are_refused_with_both_sizes() {
        let answering = answers_of(DeviceType::Cpu, "none");
        let records = read_records("t.csv", b"1,2,3\n").unwrap();
        let error = answering.answers("t.csv", &records).unwrap_err().to_string();
        assert!(error.starts_with("t.csv: a record has 3 values, nn takes "), "{error}");
        assert!(
            check_records("t.csv", &records, "nn").is_err()
                && check_records("t.csv", &table(&answering, 1.0), "nn").is_ok()
        );
        let shrunk = answers_of(DeviceType::Cpu, "x.max()");
        assert!(
            shrunk
                .answers("t.csv", &table(&answering, 1.0))
                .unwrap_err()
                .to_string()
                .contains("preprocess: x.max() makes 1 values from")
        );
    }

    #[test]
    fn a_file_answers_with_its_own_weights_and_one_without_is_refused() {
        // Twice the first value of a record and minus the second.
        let with = "HloModule m\n\nENTRY main {\n  x = f32[1,2]{1,0} parameter(0)\n  w = f32[2,2]{1,0} constant({ { 2, 0 }, { 0, -1 } })\n  \
            ROOT d = f32[1,2]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
        let without = with.replace("constant({ { 2, 0 }, { 0, -1 } })", "parameter(1)");
        let answers = |text: &str, device_type| {
            let models = ModelLibrary::new(ns_readers::read_model);
            let bytes = std::rc::Rc::new(text.as_bytes().to_vec());
            let model = models.open("m.hlo", bytes, ns_device::ModelFileSettings::default()).unwrap().id;
            let c = Configuration { model, ..configuration(device_type, "none") };
            let records = read_records("t.csv", b"1.00390625,3\n-4,0.5\n").unwrap();
            Answering::new(&c, &models).and_then(|a| a.answers("t.csv", &records))
        };
        let exact = answers(with, DeviceType::Cpu).unwrap();
        assert_eq!(exact, [[2.0 * (1.0 + 1.0 / 256.0), -3.0], [-8.0, -0.5]]);
        // The core reads the record in bf16, rounded to even.
        assert_eq!(answers(with, DeviceType::Neuron).unwrap()[0], [2.0, -3.0]);
        let error = answers(&without, DeviceType::Cpu).unwrap_err().to_string();
        assert!(error.starts_with("m.hlo: the file does not hold 1 of its weights"), "{error}");
    }
}
