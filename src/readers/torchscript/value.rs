//! Values of an interpreted program.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::pt2::{PickleId, ViewId};
use ns_base::convert::{f64_to_i64, i64_to_f64};

#[derive(Clone, Debug)]
pub enum Value {
    None,
    Bool(bool),
    /// An integer, or a tensor with one integer that came from sizes.
    Int(i64),
    /// A floating point number.
    Float(f64),
    Text(Rc<str>),
    /// A device or a random number generator, which do not change any result here.
    Device,
    /// A tensor of a known type.
    Tensor(ViewId),
    /// A list, which may grow.
    List(Rc<RefCell<Vec<Value>>>),
    Tuple(Rc<[Value]>),
    /// A dictionary, in its order.
    Map(Rc<[(Value, Value)]>),
    Module(ModuleValue),
    /// A function by its path: `__torch__.torch.nn.functional.relu`.
    Path(Rc<str>),
    /// A tensor input, by its name, whose sizes the file does not give.
    Unsized(Rc<str>),
    /// An unknown value, with a description.
    Unknown(Rc<str>),
}

/// A module of the tree.
#[derive(Clone, Debug)]
pub struct ModuleValue {
    pub id: PickleId,
    /// Its dotted path from the model: `encoder.layer.0`; empty for the model itself.
    pub path: Rc<str>,
    /// The look-up that it came from; `None` for the model itself.
    pub lookup: Option<Rc<Lookup>>,
}

/// A look-up of a module, which counts when a part of the module is used.
#[derive(Debug)]
pub struct Lookup {
    /// The look-up of the module that holds it.
    pub around: Option<Rc<Lookup>>,
    /// Whether it has been counted.
    pub is_counted: Cell<bool>,
}

/// The kind of a value, which selects the overload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    None,
    Bool,
    Int,
    Float,
    Text,
    Device,
    Tensor,
    /// A list of integers.
    Ints,
    /// A list of numbers, not all of them integers.
    Floats,
    /// A list of tensors.
    Tensors,
    /// A list of tensors, some of them absent.
    MaybeTensors,
    Empty,
    /// Something else.
    Other,
}

impl Value {
    pub fn list(items: Vec<Value>) -> Self {
        Self::List(Rc::new(RefCell::new(items)))
    }

    /// The items of a list or a tuple.
    pub fn items(&self) -> Option<Vec<Value>> {
        match self {
            Self::List(items) => Some(items.borrow().clone()),
            Self::Tuple(items) => Some(items.to_vec()),
            _ => None,
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self::None => Kind::None,
            Self::Bool(_) => Kind::Bool,
            Self::Int(_) => Kind::Int,
            Self::Float(_) => Kind::Float,
            Self::Text(_) => Kind::Text,
            Self::Device => Kind::Device,
            Self::Tensor(_) => Kind::Tensor,
            Self::List(items) => kind_of_list(&items.borrow()),
            Self::Tuple(items) => kind_of_list(items),
            _ => Kind::Other,
        }
    }

    /// Its value, if it is an integer.
    pub fn int(&self) -> Option<i64> {
        match self {
            Self::Int(n) => Some(*n),
            Self::Bool(v) => Some(i64::from(*v)),
            Self::Float(n) if libm::fabs(*n) < 9e15 => Some(f64_to_i64(libm::trunc(*n))),
            _ => None,
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Int(n) => Some(i64_to_f64(*n)),
            Self::Bool(v) => Some(f64::from(u8::from(*v))),
            Self::Float(n) => Some(*n),
            _ => None,
        }
    }

    /// A description for messages.
    pub fn described(&self) -> String {
        match self {
            Self::None => "None".to_owned(),
            Self::Bool(v) => v.to_string(),
            Self::Int(n) => n.to_string(),
            Self::Float(n) => n.to_string(),
            Self::Text(_) => "a text".to_owned(),
            Self::Device => "a device".to_owned(),
            Self::Tensor(_) => "a tensor".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Tuple(_) => "a tuple".to_owned(),
            Self::Map(_) => "a map".to_owned(),
            Self::Module(module) => format!("the module {:?}", &*module.path),
            Self::Path(path) => path.to_string(),
            Self::Unsized(name) => format!("the input {name}"),
            Self::Unknown(what) => what.to_string(),
        }
    }
}

fn kind_of_list(items: &[Value]) -> Kind {
    let all = |is: fn(&Value) -> bool| items.iter().all(is);
    match items {
        [] => Kind::Empty,
        _ if all(|v| matches!(v, Value::Int(_))) => Kind::Ints,
        _ if all(|v| matches!(v, Value::Int(_) | Value::Float(_))) => Kind::Floats,
        _ if all(|v| matches!(v, Value::Tensor(_))) => Kind::Tensors,
        _ if all(|v| matches!(v, Value::Tensor(_) | Value::None)) => Kind::MaybeTensors,
        _ => Kind::Other,
    }
}
