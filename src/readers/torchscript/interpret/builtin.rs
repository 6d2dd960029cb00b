//! Python's built-in functions and the functions of `prim`.

use super::super::source::Expression;
use super::super::value::Value;
use super::state::{Interpreter, Stop};
use crate::pt2::ViewId;
use ns_base::refuse;
use ns_program::{Numbers, load_parameter};

impl Interpreter<'_> {
    /// Calls a built-in function of Python. Fails when it is unknown, or when its argument has no value.
    pub fn builtin(&mut self, name: &str, arguments: &[Expression]) -> Result<Value, Stop> {
        match (name, arguments) {
            ("int" | "float" | "bool", [of]) => self.number(name, of),
            // The first argument is a type, which adds nothing to the value.
            ("annotate" | "unchecked_cast", [_, of]) => self.expression(of),
            ("uninitialized", _) => Ok(Value::Unknown("a value that is not there yet".into())),
            ("getattr", [of, Expression::Text(field)]) => match self.expression(of)? {
                Value::Module(module) => self.counted_field(&module, field),
                other => Err(self.refuse(refuse!("the field {field} of {}", other.described()))),
            },
            ("len", [of]) => {
                let value = self.expression(of)?;
                self.counts.op("aten::len");
                self.length(&value)
            }
            ("str", [of]) => {
                let text = self.expression(of)?.described();
                Ok(Value::Text(text.as_str().into()))
            }
            ("list", [of]) => {
                let value = self.expression(of)?;
                let Some(items) = value.items() else {
                    return Err(self.refuse(refuse!("a list of {}", value.described())));
                };
                Ok(Value::list(items))
            }
            ("min" | "max" | "abs" | "round", all) if !all.is_empty() => {
                let values = self.all(all)?;
                self.folded(name, &values)
            }
            ("isinstance" | "hasattr" | "print", _) => {
                Err(self.refuse(refuse!("the function {name} is not read here")))
            }
            _ => {
                let name: String = name.chars().take(100).collect();
                let count = arguments.len();
                Err(self.refuse(refuse!("the function {name} of {count} arguments is not known here")))
            }
        }
    }

    /// `int(x)` and similar conversions: the number that a value stands for.
    fn number(&mut self, name: &str, of: &Expression) -> Result<Value, Stop> {
        let is_hidden = name == "int" && self.is_tidied() && self.is_from_number(of);
        let value = match of {
            Expression::Call { .. } if is_hidden => self.hidden_number(of)?,
            _ => self.expression(of)?,
        };
        if !is_hidden {
            let label = match name {
                "int" => "aten::Int",
                "float" => "aten::Float",
                _ => "aten::Bool",
            };
            self.counts.op(label);
        }
        let value = match value {
            // A branch reports itself that data decides it.
            Value::Tensor(view) if name == "bool" && !self.numbers.contains_key(&view) => {
                return Ok(Value::Tensor(view));
            }
            Value::Tensor(view) => self.single_number(view)?,
            Value::Text(text) => match text.parse() {
                Ok(n) => Value::Float(n),
                Err(_) => Value::Text(text),
            },
            other => other,
        };
        let converted = match name {
            "int" => value.int().map(Value::Int),
            "float" => value.number().map(Value::Float),
            _ => value.number().map(|n| Value::Bool(n != 0.0)),
        };
        converted.ok_or_else(|| self.refuse(refuse!("{name} of {}, which is computed from data", value.described())))
    }

    /// Whether an expression is a tensor that was made from a single number.
    fn is_from_number(&self, of: &Expression) -> bool {
        match of {
            Expression::Name(name) => self.frames.last().is_some_and(|f| f.from_numbers.contains(name)),
            Expression::Call { callee, .. } => matches!(&**callee, Expression::Attribute(_, f) if f == "NumToTensor"),
            _ => false,
        }
    }

    /// The number of an `ops.prim.NumToTensor(n)`, which PyTorch leaves out. Fails when the number has no value.
    pub fn hidden_number(&mut self, call: &Expression) -> Result<Value, Stop> {
        match call {
            Expression::Call { arguments, .. } if arguments.len() == 1 => self.expression(&arguments[0]),
            other => self.expression(other),
        }
    }

    /// The number in a tensor without dimensions, if the file has it. Fails when the tensor is computed from data, or when the file
    /// does not hold it.
    pub fn single_number(&mut self, view: ViewId) -> Result<Value, Stop> {
        let Some(parameter) = self.numbers.get(&view) else {
            return Err(self.refuse(refuse!("a number that is computed from data is used as a size or a setting")));
        };
        Ok(match load_parameter(self.bytes, parameter)?.map(|v| v.numbers) {
            Some(Numbers::Whole(all)) if all.len() == 1 => Value::Int(all[0]),
            Some(Numbers::Real(all)) if all.len() == 1 => Value::Float(all[0]),
            _ => Value::Unknown("a number that the file does not hold".into()),
        })
    }

    /// The number of items of a value. Fails when it does not have a length.
    pub fn length(&mut self, value: &Value) -> Result<Value, Stop> {
        if let Value::Tensor(view) = value {
            let ty = self.t.type_of_view(*view).map_err(|e| self.refuse(e))?;
            if let Some(&n) = ty.dims.first() {
                return Ok(Value::Int(i64::try_from(n).unwrap_or(i64::MAX)));
            }
        }
        match value.items() {
            Some(items) => Ok(Value::Int(i64::try_from(items.len()).unwrap_or(i64::MAX))),
            None => Err(self.refuse(refuse!("the length of {}", value.described()))),
        }
    }

    /// Calls a function of `prim`. Fails when it is unknown, or when its argument has no value.
    pub fn prim(&mut self, name: &str, arguments: &[Expression]) -> Result<Value, Stop> {
        let values = self.all(arguments)?;
        if !matches!(name, "min" | "max") {
            self.counts.op(&format!("prim::{name}"));
        }
        match (name, values.as_slice()) {
            ("NumToTensor" | "data" | "unchecked_unwrap_optional" | "TupleUnpack" | "ListUnpack", [of]) => {
                Ok(of.clone())
            }
            ("min" | "max", [list]) if list.items().is_some() => {
                let items = list.items().unwrap_or_default();
                let Some(first) = items.first() else { return Err(self.refuse(refuse!("{name} of nothing"))) };
                let mut best = first.clone();
                for item in &items[1..] {
                    best = self.folded(name, &[best, item.clone()])?;
                }
                Ok(best)
            }
            ("min" | "max", [_, _]) => self.folded(name, &values),
            ("device" | "layout", _) => Ok(Value::Device),
            ("dtype", [Value::Tensor(view)]) => self.scalar_type_of(*view),
            ("is_cuda" | "requires_grad" | "is_quantized" | "is_sparse", _) => Ok(Value::Bool(false)),
            ("RaiseException", _) => Err(self.refuse(refuse!("the model raises an exception here"))),
            _ => {
                let name: String = name.chars().take(100).collect();
                Err(self.refuse(refuse!("prim::{name} is not known here")))
            }
        }
    }
}
