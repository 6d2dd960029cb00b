//! A model and its parameters as text: `nn`, `matmult:n=1024,loop_count=1000,add_bias=true`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::training::{MAX_MICRO_BATCHES, TrainingCall, TrainingStep, training_step};
use crate::{Graph, InputSpec, Module, trace};
use ns_base::{Refusal, nearest_text, refuse, truth_of};
use ns_kernel::{ModelKernel, NamedKernel, TABLE_KERNEL};
use ns_tensor::Shape;

use super::operator::{self, OPERATORS, parse_shapes, print_shapes};
use super::{MODELS, ModelInfo, ParamInfo, ParamKind, Settings};

/// The largest batch size of a request.
pub const MAX_BATCH_SIZE: u64 = 65_536;

/// A model of the zoo with a value for each of its parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelSpec {
    info: &'static ModelInfo,
    settings: Settings,
    /// What a call does in training; `None` for an inference.
    training: Option<TrainingCall>,
}

/// The parameter of every model that makes a call a training step: `training=adamw`.
const TRAINING: &str = "training";

/// The parameter of a training step that says how many micro-batches it adds up: `accumulate=8`.
const ACCUMULATE: &str = "accumulate";

impl ModelSpec {
    /// A model with its defaults.
    pub fn new(info: &'static ModelInfo) -> Self {
        let mut settings = Settings::default();
        for p in info.parameters {
            match p.kind.default_text() {
                Some(default) => {
                    settings.texts.insert(p.name, default.to_owned());
                }
                None => {
                    settings.numbers.insert(p.name, p.kind.default_value());
                }
            }
        }
        Self { info, settings, training: None }
    }

    pub fn info(&self) -> &'static ModelInfo {
        self.info
    }

    /// The model's name in specifications.
    pub fn id(&self) -> &'static str {
        self.info.id
    }

    /// Values of all parameters, defaults included.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What a call does in training; `None` for an inference.
    pub const fn training(&self) -> Option<TrainingCall> {
        self.training
    }

    /// The same model, whose call is one of training, or an inference.
    pub fn with_training(self, training: Option<TrainingCall>) -> Self {
        Self { training, ..self }
    }

    /// The module. It holds no weight values.
    pub fn module(&self) -> Box<dyn Module> {
        (self.info.build)(&self.called())
    }

    /// The settings of the model as it is called.
    fn called(&self) -> Settings {
        Settings { in_training: self.training.is_some(), ..self.settings.clone() }
    }

    /// Example inputs for a batch size, by which their first dimension is multiplied. A training step has its labels after them.
    /// Fails when the batch size is 0 or above [`MAX_BATCH_SIZE`], or the model cannot be trained.
    pub fn inputs(&self, batch: u64) -> Result<Vec<InputSpec>, Refusal> {
        let mut inputs = self.forward_inputs(batch)?;
        if let Some(step) = self.step(batch)? {
            inputs.extend(step.labels);
        }
        Ok(inputs)
    }

    /// The inputs of the model itself. Fails when the batch size is 0 or above [`MAX_BATCH_SIZE`].
    pub fn forward_inputs(&self, batch: u64) -> Result<Vec<InputSpec>, Refusal> {
        if batch == 0 || batch > MAX_BATCH_SIZE {
            return Err(refuse!("batch size {batch} is not possible: use 1 to {MAX_BATCH_SIZE}"));
        }
        Ok((self.info.inputs)(&self.called(), batch))
    }

    /// The traced graph for a batch size. Fails when the batch size is out of range or a tensor would be larger than any machine.
    pub fn trace(&self, batch: u64) -> Result<Graph, Refusal> {
        match self.step(batch)? {
            Some(step) => Ok(step.graph),
            None => self.trace_forward(batch),
        }
    }

    /// The training step for a batch size; `None` if a call is an inference. Fails as [`Self::trace`], and when the model cannot be
    /// trained.
    pub fn step(&self, batch: u64) -> Result<Option<TrainingStep>, Refusal> {
        let step = |call| training_step(&self.trace_forward(batch)?, call);
        self.training.map(step).transpose()
    }

    fn trace_forward(&self, batch: u64) -> Result<Graph, Refusal> {
        let shapes: Vec<Shape> = self.forward_inputs(batch)?.into_iter().map(|i| i.shape).collect();
        trace(&*self.module(), &shapes)
    }
}

impl PartialEq for ModelSpec {
    fn eq(&self, other: &Self) -> bool {
        self.info.id == other.info.id && self.settings == other.settings && self.training == other.training
    }
}

impl Eq for ModelSpec {}

impl fmt::Display for ModelSpec {
    /// The shortest text that parses to the same specification: parameters at their default are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info.id)?;
        let mut separator = ':';
        for p in self.info.parameters {
            let value = self.settings.int(p.name);
            if let Some(default) = p.kind.default_text() {
                let text = self.settings.text(p.name);
                if text == default {
                    continue;
                }
                write!(f, "{separator}{}={text}", p.name)?;
            } else if value == p.kind.default_value() {
                continue;
            } else if matches!(p.kind, ParamKind::Bool { .. }) {
                write!(f, "{separator}{}={}", p.name, value != 0)?;
            } else {
                write!(f, "{separator}{}={value}", p.name)?;
            }
            separator = ',';
        }
        let Some(call) = self.training else { return Ok(()) };
        write!(f, "{separator}{TRAINING}={}", call.name())?;
        match call.micro_batches() {
            1 => Ok(()),
            n => write!(f, ",{ACCUMULATE}={n}"),
        }
    }
}

impl From<ModelSpec> for String {
    fn from(spec: ModelSpec) -> Self {
        spec.to_string()
    }
}

impl TryFrom<String> for ModelSpec {
    type Error = Refusal;
    fn try_from(text: String) -> Result<Self, Refusal> {
        text.parse()
    }
}

impl FromStr for ModelSpec {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(n, r)| (n, Some(r)));
        let name = name.trim();
        let info = info_of(name).ok_or_else(|| {
            refuse!(
                "unknown model {name:?}: the nearest are {nearest}; neuronscope models lists all {}",
                MODELS.len(),
                nearest = nearest_text(name, MODELS.iter().map(|m| m.id))
            )
        })?;
        let mut spec = Self::new(info);
        let mut names: Vec<&str> = Vec::new();
        let (mut call, mut micro_batches) = (None, None);
        for part in rest.into_iter().flat_map(|r| r.split(',')) {
            let (name, value) = part.split_once('=').map_or(("", ""), |(name, value)| (name.trim(), value.trim()));
            match name {
                TRAINING => call = Some(value),
                ACCUMULATE => micro_batches = Some(value),
                _ => match parse_parameter(info, part.trim())? {
                    (param, ParameterValue::Number(n)) => {
                        spec.settings.numbers.insert(param.name, n);
                    }
                    (param, ParameterValue::Text(text)) => {
                        spec.settings.texts.insert(param.name, text);
                    }
                },
            }
            if names.contains(&name) {
                return Err(refuse!("model {}: parameter {name} is given twice", info.id));
            }
            names.push(name);
        }
        spec.training =
            training_of(call, micro_batches).map_err(|e| e.within(|what| format!("model {}: {what}", info.id)))?;
        Ok(spec)
    }
}

/// The model that a specification names, whatever its parameters.
pub fn named_model(text: &str) -> Option<&'static ModelInfo> {
    info_of(text.split(':').next().unwrap_or_default().trim())
}

fn info_of(name: &str) -> Option<&'static ModelInfo> {
    MODELS.into_iter().chain([&operator::INFO]).find(|m| same_model(m.id, name))
}

/// Whether a name refers to a model: in any case, with or without hyphens and the organisation before the slash. Model hubs have
/// moved models between organisations, so a different organisation does not make a different model.
fn same_model(id: &str, name: &str) -> bool {
    let last = |text: &str| text.rsplit('/').next().unwrap_or(text).to_ascii_lowercase().replace(['-', '_'], "");
    !name.is_empty() && last(id) == last(name)
}

/// What a call does in training, from the values of `training` and `accumulate`.
fn training_of(call: Option<&str>, micro_batches: Option<&str>) -> Result<Option<TrainingCall>, Refusal> {
    let call: Option<TrainingCall> = call.filter(|text| *text != "none").map(str::parse).transpose()?;
    let Some(text) = micro_batches else { return Ok(call) };
    let number = text.parse().map_err(|_| {
        refuse!("accumulate={text} is not possible: use a number of micro-batches from 1 to {MAX_MICRO_BATCHES}")
    })?;
    match call {
        Some(call) => call.with_micro_batches(number).map(Some),
        None if number == 1 => Ok(None),
        None => Err(refuse!("accumulate={number} needs a training step: add training=adamw or training=sgd")),
    }
}

/// A value as given.
enum ParameterValue {
    Number(u64),
    Text(String),
}

fn parse_parameter(info: &ModelInfo, text: &str) -> Result<(&'static ParamInfo, ParameterValue), Refusal> {
    let (name, value) = text.split_once('=').map(|(n, v)| (n.trim(), v.trim())).ok_or_else(|| {
        refuse!(
            "model {model}: {text:?} is not a parameter: write name=value, separated by commas; {known}",
            model = info.id,
            known = known_parameters(info)
        )
    })?;
    let param = info.parameters.iter().find(|p| p.name == name).ok_or_else(|| {
        refuse!("model {model} has no parameter {name:?}: {known}", model = info.id, known = known_parameters(info))
    })?;
    let (parsed, allowed): (Option<u64>, String) = match param.kind {
        ParamKind::Kernel { .. } => return Ok((param, ParameterValue::Text(kernel(info, value)?))),
        ParamKind::Operator { .. } | ParamKind::Shapes => return operand_text(info, param, value),
        // A value too large for 64 bits is out of range like any other.
        ParamKind::Int { min, max, .. } => {
            (value.parse().ok().filter(|v| (min..=max).contains(v)), format!("a whole number from {min} to {max}"))
        }
        ParamKind::Bool { .. } => (truth_of(value).map(u64::from), "true or false".to_owned()),
    };
    let bad = || bad_value(info, param, value, &allowed);
    parsed.map(|v| (param, ParameterValue::Number(v))).ok_or_else(bad)
}

/// An operator or the shapes of its operands, in their shortest text.
fn operand_text(
    info: &ModelInfo,
    param: &'static ParamInfo,
    value: &str,
) -> Result<(&'static ParamInfo, ParameterValue), Refusal> {
    if param.kind == ParamKind::Shapes {
        let shapes = parse_shapes(value).map_err(|source| refuse!("model {}: shapes: {source}", info.id))?;
        return Ok((param, ParameterValue::Text(print_shapes(&shapes))));
    }
    let allowed = || join(OPERATORS.iter().map(|o| o.name));
    let bad = || bad_value(info, param, value, &allowed());
    operator::operator(value).map(|o| (param, ParameterValue::Text(o.name.to_owned()))).ok_or_else(bad)
}

fn bad_value(info: &ModelInfo, param: &ParamInfo, value: &str, allowed: &str) -> Refusal {
    refuse!("model {}: {}={value} is not possible: use {allowed}", info.id, param.name)
}

/// A kernel that a model can use, in its shortest text.
fn kernel(info: &ModelInfo, text: &str) -> Result<String, Refusal> {
    if text == TABLE_KERNEL {
        return Ok(text.to_owned());
    }
    let found = ModelKernel::find_of_one(text).and_then(|_| text.parse::<NamedKernel>());
    found.map(|k| k.to_string()).map_err(|source| refuse!("model {}: {source}", info.id))
}

fn known_parameters(info: &ModelInfo) -> String {
    if info.parameters.is_empty() {
        "it has none".to_owned()
    } else {
        format!("it has {}", join(info.parameters.iter().map(|p| p.name)))
    }
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error(text: &str) -> String {
        text.parse::<ModelSpec>().unwrap_err().to_string()
    }

    #[test]
    fn parameters_are_read_and_defaults_left_out_again() {
        let spec: ModelSpec = "matmult:n=2048, add_bias=false ,loop_count=1000".parse().unwrap();
        let s = spec.settings();
        assert_eq!((s.int("n"), s.int("loop_count"), s.flag("add_bias"), s.flag("chained")), (2048, 1000, false, true));
        assert_eq!(spec.to_string(), "matmult:n=2048,add_bias=false");
        assert_eq!("matmult:n=1024".parse::<ModelSpec>().unwrap(), "matmult".parse().unwrap());
        assert_eq!(serde_json::to_string(&spec).unwrap(), "\"matmult:n=2048,add_bias=false\"");
        assert_eq!(serde_json::from_str::<ModelSpec>("\"mlp\"").unwrap().id(), "mlp");
    }

    #[test]
    fn unknown_name_errors_list_the_nearest_three() {
        let message = error("resnet");
        assert!(message.starts_with("unknown model \"resnet\": the nearest are resnet"), "{message}");
        assert!(message.ends_with("; neuronscope models lists all 26") && message.matches("resnet").count() == 4);
        assert!(error("").starts_with("unknown model \"\": the nearest are nn, "));
        assert!(error("google/").starts_with("unknown model \"google/\""));
        assert_eq!(
            error("matmult:m=3"),
            "model matmult has no parameter \"m\": it has n, loop_count, add_bias, chained, normalize"
        );
        assert_eq!(error("nn:n=3"), "model nn has no parameter \"n\": it has none");
        assert_eq!(
            error("mlp:hidden1"),
            "model mlp: \"hidden1\" is not a parameter: write name=value, separated by commas; it has hidden1, hidden2, kernel, multicore"
        );
        assert!(error("nn:").contains("\"\" is not a parameter"));
        assert_eq!(error("matmult:n=3,n=4"), "model matmult: parameter n is given twice");
    }

    #[test]
    fn a_user_written_kernel_is_part_of_the_specification() {
        let spec: ModelSpec = "mlp:kernel=relu-tcm".parse().unwrap();
        assert_eq!((spec.settings().text("kernel"), spec.to_string().as_str()), ("relu-tcm", "mlp:kernel=relu-tcm"));
        assert_eq!("mlp:kernel=relu".parse::<ModelSpec>().unwrap().to_string(), "mlp");
        let source = "torch::Tensor f(const torch::Tensor& t) {\n  return t;\n}";
        let text = format!("mlp:kernel={},hidden1=16", NamedKernel::own("mine", source, false));
        let spec: ModelSpec = text.parse().unwrap();
        assert_eq!(spec.to_string().parse::<ModelSpec>().unwrap(), spec);
        assert!(error("mlp:kernel=gelu").starts_with("model mlp: there is no kernel \"gelu\": use relu, relu-element"));
        let wrong = NamedKernel::own("mine", "torch::Tensor f(const torch::Tensor& t) {\n  return u;\n}", false);
        let message = error(&format!("mlp:kernel={wrong}"));
        assert!(message.starts_with("model mlp: kernel mine, line 2, column 10: "), "{message}");
    }

    #[test]
    fn values_out_of_range_name_the_range() {
        for value in ["0", "-1", "16385", "99999999999999999999999", "1.5", "", "1e3", "nan"] {
            let expected = format!("model matmult: n={value} is not possible: use a whole number from 1 to 16384");
            assert_eq!(error(&format!("matmult:n={value}")), expected);
        }
        assert_eq!(
            error("matmult:loop_count=10001"),
            "model matmult: loop_count=10001 is not possible: use a whole number from 1 to 10000"
        );
        assert_eq!(error("matmult:add_bias=maybe"), "model matmult: add_bias=maybe is not possible: use true or false");
    }

    #[test]
    fn batch_sizes_have_a_range_and_multiply_the_first_dimension() {
        let nn: ModelSpec = "nn".parse().unwrap();
        assert_eq!(nn.inputs(1).unwrap()[0].shape, Shape::f32([4, 4]));
        assert_eq!(nn.inputs(8).unwrap()[0].shape, Shape::f32([32, 4]));
        for batch in [0, MAX_BATCH_SIZE + 1, u64::MAX] {
            let e = nn.inputs(batch).unwrap_err();
            assert_eq!(e.to_string(), format!("batch size {batch} is not possible: use 1 to 65536"));
        }
    }

    #[test]
    fn a_model_larger_than_any_machine_is_refused_where_it_happens() {
        let spec: ModelSpec = "matmult:n=16384".parse().unwrap();
        let e = spec.trace(65_536).unwrap_err().to_string();
        assert!(e.starts_with("xla::device_data in Matmult[model]: result [65536,16384,16384]"), "{e}");
    }

    proptest! {
        #[test]
        fn any_setting_reads_back(n in 1u64..=16_384, loops in 1u64..=10_000, bias: bool, chained: bool) {
            let text = format!("matmult:n={n},loop_count={loops},add_bias={bias},chained={chained}");
            let spec: ModelSpec = text.parse().unwrap();
            prop_assert_eq!(&spec.to_string().parse::<ModelSpec>().unwrap(), &spec);
            prop_assert_eq!(spec.settings().int("n"), n);
            prop_assert_eq!(spec.settings().flag("chained"), chained);
        }

        #[test]
        fn any_text_is_a_specification_or_an_error(text in "[ -~]{0,40}") {
            if let Ok(spec) = text.parse::<ModelSpec>() {
                prop_assert_eq!(spec.to_string().parse::<ModelSpec>().unwrap(), spec);
            }
        }
    }
}
