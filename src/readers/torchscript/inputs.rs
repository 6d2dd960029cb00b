//! A model's inputs: the example inputs of a trace, sizes that the user gives, or sizes that fit the first operation.

use std::collections::BTreeMap;

use super::objects::Objects;
use super::value::Value;
use crate::pt2::{Pickle, PickleId, PickleValue, Translator, pickled_tensor};
use ns_base::{Refusal, refuse};
use ns_program::{
    ArrayType, ElementType, ImportError, ImportOptions, OpenDimension, Place, ProgramParameter, Role, TensorInfo,
    WeightData,
};

/// Most levels of nested lists and maps in inputs.
const MAX_DEPTH: usize = 8;

/// Most dimensions of an input.
const MAX_RANK: usize = 16;

/// Inputs of a model, as far as they are known.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Inputs of the program, in their order.
    pub infos: Vec<TensorInfo>,
    pub open: Vec<OpenDimension>,
    /// Types of inputs that the file does not give, inferred from the first operation on each.
    pub assumed: BTreeMap<String, ArrayType>,
    asked: BTreeMap<String, u64>,
}

impl Inputs {
    /// Inputs with the sizes that the user gives: `x.0` is the first dimension of `x`.
    pub fn new(options: &ImportOptions) -> Self {
        Self { asked: options.dims.clone(), ..Self::default() }
    }

    /// Starts again, keeping the assumptions so far.
    pub fn restart(&mut self) {
        self.infos.clear();
        self.open.clear();
    }

    /// Values of the arguments of the model's own method, from the example inputs of a trace if there are any. Fails when the user
    /// gives a size for a dimension that no input has.
    pub fn values(
        &mut self,
        parameters: &[(String, String)],
        objects: &Objects<'_>,
        t: &mut Translator,
    ) -> Result<Vec<Value>, ImportError> {
        let traced = objects.traced_inputs()?;
        let examples = traced.as_ref().and_then(examples_of_forward).unwrap_or_default();
        let mut values = Vec::new();
        for (at, (name, ty)) in parameters.iter().enumerate() {
            let value = match (&traced, examples.get(at)) {
                (Some(pickle), Some(&id)) => self.example(name, pickle, id, t, 0)?,
                _ => self.without_example(name, ty, t)?,
            };
            values.push(value);
        }
        self.check_asked(parameters)?;
        Ok(values)
    }

    /// The value of an example.
    fn example(
        &mut self,
        name: &str,
        pickle: &Pickle,
        id: PickleId,
        t: &mut Translator,
        depth: usize,
    ) -> Result<Value, ImportError> {
        if depth > MAX_DEPTH {
            return Err(refuse!(
                instead = "call the model with tensors",
                "the input {name} has more than {MAX_DEPTH} levels"
            )
            .into());
        }
        if let Some(tensor) = pickled_tensor(pickle, id) {
            let mut ty = tensor.ty;
            for (d, n) in ty.dims.iter_mut().enumerate() {
                if let Some(&asked) = self.asked.get(&format!("{name}.{d}")) {
                    *n = asked;
                }
            }
            return self.tensor(name, ty, t);
        }
        Ok(match pickle.get(id) {
            PickleValue::Nothing => Value::None,
            PickleValue::Bool(v) => Value::Bool(*v),
            PickleValue::Int(n) => Value::Int(*n),
            PickleValue::Float(n) => Value::Float(*n),
            PickleValue::Text(text) => Value::Text(text.as_str().into()),
            PickleValue::Items(items) => {
                let each = items.iter().enumerate();
                let values = each.map(|(at, &id)| self.example(&format!("{name}_{at}"), pickle, id, t, depth + 1));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                Value::Tuple(values.into())
            }
            PickleValue::Map(pairs) => {
                let mut values = Vec::new();
                for &(key, value) in pairs {
                    let PickleValue::Text(key) = pickle.get(key) else { continue };
                    let value = self.example(&format!("{name}_{key}"), pickle, value, t, depth + 1)?;
                    values.push((Value::Text(key.as_str().into()), value));
                }
                Value::Map(values.into())
            }
            // A tag of the type around a list or a map.
            PickleValue::Call { arguments, .. } => match pickle.items(*arguments).first() {
                Some(&inner) => self.example(name, pickle, inner, t, depth + 1)?,
                None => Value::None,
            },
            PickleValue::Global(_) | PickleValue::Persistent(_) => Value::Unknown(format!("the input {name}").into()),
        })
    }

    /// An input without an example: a number that the user gives, or a tensor whose sizes are found later.
    fn without_example(&mut self, name: &str, ty: &str, t: &mut Translator) -> Result<Value, ImportError> {
        if let Some(assumed) = self.assumed.get(name).cloned() {
            let mut ty = assumed;
            for (d, n) in ty.dims.iter_mut().enumerate() {
                let dimension = format!("{name}.{d}");
                let asked = self.asked.get(&dimension).copied();
                *n = asked.unwrap_or(*n);
                self.open.push(OpenDimension {
                    name: dimension,
                    min: Some(1),
                    max: None,
                    used: *n,
                    is_chosen: asked.is_some(),
                });
            }
            return self.tensor(name, ty, t);
        }
        Ok(match (ty, self.asked.get(name)) {
            ("Tensor" | "", _) => Value::Unsized(name.into()),
            ("int", Some(&n)) => Value::Int(i64::try_from(n).unwrap_or(i64::MAX)),
            ("int", None) => Value::Unknown(format!("the input {name}, a whole number that the caller gives").into()),
            (other, _) if other.starts_with("Optional") => Value::None,
            (other, _) => Value::Unknown(format!("the input {name} of type {}", short(other)).into()),
        })
    }

    /// A tensor that the caller gives.
    fn tensor(&mut self, name: &str, ty: ArrayType, t: &mut Translator) -> Result<Value, ImportError> {
        let wrong = |e: Refusal| ImportError::at(Place::Node(short(name)), e.advise("ask for smaller sizes"));
        let open = self.open.iter().filter(|d| !d.is_chosen).filter_map(|d| {
            let (input, at) = d.name.rsplit_once('.')?;
            (input == name).then(|| at.parse().ok().map(|at: usize| (at, d.name.clone())))?
        });
        let info = TensorInfo {
            name: name.to_owned(),
            dtype: ty.element.name().to_owned(),
            shape: ty.dims.clone(),
            open: open.collect(),
        };
        let parameter = ProgramParameter { name: name.to_owned(), role: Role::Input, ty, data: WeightData::Absent };
        let value = t.b.parameter(parameter).map_err(wrong)?;
        self.infos.push(info);
        Ok(Value::Tensor(t.views.fresh(value)))
    }

    /// Assumes the type of an input from the first operation on it. If that does not decide it, the user must give all its sizes.
    /// Fails when neither gives a type: the error says what to type.
    pub fn assume(&mut self, name: &str, fitting: Option<ArrayType>) -> Result<(), ImportError> {
        let asked: Vec<u64> = (0..MAX_RANK).map_while(|d| self.asked.get(&format!("{name}.{d}")).copied()).collect();
        let ty = match fitting {
            Some(ty) if asked.len() <= ty.dims.len() => ty,
            fitting if !asked.is_empty() => ArrayType::new(fitting.map_or(ElementType::F32, |ty| ty.element), asked),
            _ => {
                let input = short(name);
                let instead = format!(
                    "ask for all of them (--dim {input}.0=1 --dim {input}.1=128 ..), or save a trace with PyTorch 2.4 or later, which keeps them"
                );
                let what = refuse!(instead = instead, "the file does not say the sizes of its input {input}");
                return Err(what.into());
            }
        };
        self.assumed.insert(name.to_owned(), ty);
        Ok(())
    }

    /// Refuses sizes for inputs that do not exist.
    fn check_asked(&self, parameters: &[(String, String)]) -> Result<(), ImportError> {
        for asked in self.asked.keys() {
            let has = |info: &TensorInfo| {
                let at = asked.strip_prefix(&info.name).and_then(|rest| rest.strip_prefix('.'));
                at.and_then(|at| at.parse::<usize>().ok()).is_some_and(|at| at < info.shape.len())
            };
            // Inputs whose sizes are still unknown accept any.
            let is_later = |name: &str| {
                let is_known = self.infos.iter().any(|i| i.name == name);
                !is_known && (asked == name || asked.starts_with(&format!("{name}.")))
            };
            if !self.infos.iter().any(has) && !parameters.iter().any(|(name, _)| is_later(name)) {
                let known = self.infos.iter().flat_map(|i| (0..i.shape.len()).map(move |d| format!("{}.{d}", i.name)));
                let (name, there) = (short(asked), known.take(20).collect::<Vec<_>>().join(", "));
                return Err(refuse!(
                    instead = "leave it out or name one that is there",
                    "the file has no dimension {name}; it has {there}"
                )
                .into());
            }
        }
        Ok(())
    }
}

/// The example inputs of the method `forward`: a map from methods to lists, each wrapped in a tag of its type.
fn examples_of_forward(pickle: &Pickle) -> Option<Vec<PickleId>> {
    let inside = |id: PickleId| match pickle.get(id) {
        PickleValue::Call { arguments, .. } => pickle.items(*arguments).first().copied(),
        _ => Some(id),
    };
    let PickleValue::Map(methods) = pickle.get(inside(pickle.root)?) else { return None };
    let is_forward = |key: PickleId| matches!(pickle.get(key), PickleValue::Text(text) if text == "forward");
    let inputs = methods.iter().find(|(key, _)| is_forward(*key))?.1;
    Some(pickle.items(inside(inputs)?).to_vec())
}

/// The type that fits an operation's first tensor: an image under a kernel, rows of a matrix, indices.
pub fn fitting(op: &str, place: usize, weight: Option<&ArrayType>, groups: u64) -> Option<ArrayType> {
    let weight = weight?;
    let element = weight.element;
    match op {
        "_convolution" | "_convolution_mode" | "conv1d" | "conv2d" | "conv3d" | "convolution" if place == 0 => {
            let channels = weight.dims.get(1)?.saturating_mul(groups.max(1));
            let side = match weight.dims.len() {
                3 => 1000,
                4 => 224,
                5 => 16,
                _ => return None,
            };
            let mut dims = vec![1, channels];
            dims.resize(weight.dims.len(), side);
            Some(ArrayType::new(element, dims))
        }
        "linear" if place == 0 => Some(ArrayType::new(element, [1, *weight.dims.get(1)?])),
        "embedding" if place == 1 => Some(ArrayType::new(ElementType::S64, [1, 128])),
        _ => None,
    }
}

fn short(text: &str) -> String {
    text.chars().take(100).collect()
}
