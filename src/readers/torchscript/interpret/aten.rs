//! Calls of aten operators: sizes and numbers are computed here, everything else goes to the translation for `.pt2` files.

use std::borrow::Cow;

use super::super::inputs::fitting;
use super::super::schema::{Schema, choose};
use super::super::source::Expression;
use super::super::value::{Kind, Value};
use super::fold::fold;
use super::state::{Interpreter, Stop};
use crate::pt2::{AloneCall, Argument, NamedArgument, Symbolic, Text, ViewId, scalar_type};
use ns_base::refuse;
use ns_program::ArrayType;

/// Most items of a list.
const MAX_ITEMS: usize = 1 << 16;

/// The form of an operator's result.
enum Gives {
    /// One value; other results are ignored.
    One,
    List,
    /// As many as the operator gives: one value, or a tuple.
    AsMade,
}

fn gives(op: &str) -> Gives {
    match op {
        "rms_norm" | "batch_norm" | "instance_norm" | "gru_cell" | "rnn_tanh_cell" | "rnn_relu_cell" => Gives::One,
        "split" | "split_with_sizes" | "chunk" | "unbind" | "tensor_split" | "unsafe_split" | "unsafe_chunk"
        | "meshgrid" | "broadcast_tensors" => Gives::List,
        _ => Gives::AsMade,
    }
}

impl Interpreter<'_> {
    /// `torch.op(..)`. Fails when the call is refused.
    pub fn torch(&mut self, op: &str, arguments: &[Expression], named: &[(String, Expression)]) -> Result<Value, Stop> {
        if matches!(op, "device" | "Generator") {
            let written = match arguments.first() {
                Some(Expression::Text(name)) => format!("d{name}"),
                _ => "d".to_owned(),
            };
            self.counts.constant(&written);
            return Ok(Value::Device);
        }
        let places = self.all(arguments)?;
        let mut by_name = Vec::new();
        for (name, value) in named {
            by_name.push((name.clone(), self.expression(value)?));
        }
        self.counts.op(&format!("aten::{op}"));
        if let Some(value) = self.about(op, &places)? {
            return Ok(value);
        }
        if let Some(value) = self.of_numbers(op, &places)? {
            self.count_hidden_defaults(op, &places);
            return Ok(value);
        }
        if let Some(value) = self.changed_number(op, arguments, &places)? {
            return Ok(value);
        }
        self.operator(op, places, by_name)
    }

    /// `torch.mul_(B, 4)` of a number made of sizes: the variable has the new number too.
    fn changed_number(&mut self, op: &str, arguments: &[Expression], values: &[Value]) -> Result<Option<Value>, Stop> {
        let plain = op.strip_suffix('_').filter(|plain| !plain.ends_with('_'));
        let (Some(plain), Some(true)) = (plain, values.first().map(|v| v.number().is_some())) else { return Ok(None) };
        let changed = self.of_numbers(plain, values)?;
        if let (Some(value), Some(Expression::Name(name)), Some(frame)) =
            (&changed, arguments.first(), self.frames.last_mut())
        {
            frame.names.insert(name.clone(), value.clone());
        }
        Ok(changed)
    }

    /// Queries about tensors and lists, and operations on lists.
    fn about(&mut self, op: &str, values: &[Value]) -> Result<Option<Value>, Stop> {
        if let (Some(Value::Unsized(name)), true) =
            (values.first(), matches!(op, "size" | "dim" | "numel" | "len" | "is_floating_point"))
        {
            return Err(Stop::Needs(name.clone(), None));
        }
        let whole = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let value = match (op, values) {
            ("size", [Value::Tensor(view)]) => {
                let dims = self.type_of(*view)?.dims;
                Value::list(dims.into_iter().map(whole).collect())
            }
            ("size", [Value::Tensor(view), at]) => {
                let dims: Vec<Value> = self.type_of(*view)?.dims.into_iter().map(whole).collect();
                self.item_of(&Value::list(dims), at)?
            }
            ("dim", [Value::Tensor(view)]) => whole(self.type_of(*view)?.dims.len() as u64),
            ("numel", [Value::Tensor(view)]) => whole(self.type_of(*view)?.elements().unwrap_or(u64::MAX)),
            ("is_floating_point", [Value::Tensor(view)]) => Value::Bool(self.type_of(*view)?.element.is_float()),
            ("len", [of]) => self.length(of)?,
            ("__getitem__", [of, at]) => self.item_of(of, at)?,
            ("__is__" | "__isnot__", [a, b]) => {
                let is_same = matches!((a, b), (Value::None, Value::None));
                Value::Bool(is_same == (op == "__is__"))
            }
            ("append", [Value::List(list), item]) => {
                self.counts.changes += 1;
                let is_full = list.borrow().len() >= MAX_ITEMS;
                if is_full || matches!(item, Value::List(_)) {
                    return Err(self.refuse(refuse!("a list that grows too long, or a list within a list")));
                }
                list.borrow_mut().push(item.clone());
                values[0].clone()
            }
            ("ScalarImplicit" | "IntImplicit" | "FloatImplicit" | "item", [Value::Tensor(view)]) => {
                self.single_number(*view)?
            }
            ("tensor" | "as_tensor", [of, ..]) if of.number().is_some() => of.clone(),
            ("warn" | "manual_seed" | "set_grad_enabled", _) => Value::None,
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    /// A function of numbers alone. A number that the file does not hold is replaced by the neutral element.
    fn of_numbers(&mut self, op: &str, values: &[Value]) -> Result<Option<Value>, Stop> {
        let has_number =
            values.first().is_some_and(|v| v.number().is_some()) || values.get(1).is_some_and(|v| v.number().is_some());
        let has_tensor = values.iter().any(|v| matches!(v, Value::Tensor(_)));
        if !has_number && has_tensor {
            return Ok(None);
        }
        if !has_tensor {
            return Ok(fold(op, values));
        }
        // A sum of sizes and a constant: in a trace, both are tensors without dimensions.
        let [a, b] = values else { return Ok(None) };
        let (Some(view), is_first) = (match (a, b) {
            (Value::Int(_) | Value::Float(_), Value::Tensor(view)) => (Some(*view), false),
            (Value::Tensor(view), Value::Int(_) | Value::Float(_)) => (Some(*view), true),
            _ => (None, false),
        }) else {
            return Ok(None);
        };
        let ty = self.type_of(view)?;
        if !ty.element.is_integer() || !self.numbers.contains_key(&view) {
            return Ok(None);
        }
        let neutral = i64::from(matches!(op, "mul" | "div" | "floor_divide"));
        let number = match self.single_number(view)? {
            Value::Unknown(_) => {
                let (file, line) = self.place();
                self.t.note(format!(
                    "{file}, line {line}: the file does not hold a number that a size is made of; {neutral} is taken"
                ));
                Value::Int(neutral)
            }
            known => known,
        };
        let folded = if is_first { fold(op, &[number, b.clone()]) } else { fold(op, &[a.clone(), number]) };
        Ok(folded)
    }

    /// An operator of tensors. Fails when an argument is unknown, or when the program becomes too large.
    pub fn operator(&mut self, op: &str, places: Vec<Value>, named: Vec<(String, Value)>) -> Result<Value, Stop> {
        self.check_known(op, &places)?;
        let is_in_place = op.ends_with('_') && !op.ends_with("__");
        let plain = if is_in_place { &op[..op.len() - 1] } else { op };
        let schemas = self.schemas_of(plain);
        let kinds: Vec<Kind> = places.iter().map(Value::kind).collect();
        let kinds_by_name: Vec<(&str, Kind)> = named.iter().map(|(name, v)| (name.as_str(), v.kind())).collect();
        let schema = choose(&schemas, &kinds, &kinds_by_name);
        let mut arguments = Vec::new();
        for (at, value) in places.iter().enumerate() {
            let name = schema.and_then(|s| s.parameters.get(at)).map_or("argument", |p| p.name);
            arguments.push(NamedArgument { name: text(name), arg: self.argument(value) });
        }
        for (name, value) in &named {
            arguments.push(NamedArgument { name: Text(Cow::Owned(name.clone())), arg: self.argument(value) });
        }
        if let Some(schema) = schema {
            self.count_defaults(schema, places.len(), &named);
        }
        let scope = self.frames.last().map(|f| f.scope.to_string()).unwrap_or_default();
        if !self.counts.modules.contains(&scope) {
            self.counts.modules.insert(scope.clone());
        }
        let full_name = if op.contains("::") { op.to_owned() } else { format!("aten::{op}") };
        if op.contains("::") {
            self.counts.op(op);
        }
        self.t.b.set_origin(&full_name, &scope);
        self.counts.changes += u64::from(is_in_place);
        let (file, line) = self.place();
        let place = format!("{file}, line {line}");
        let overload = schema.map_or("", |s| s.overload);
        let given = self.t.apply(AloneCall { op, overload, arguments, place: &place });
        let given = given.map_err(|e| self.refuse(e))?;
        self.counts.flops = self.counts.flops.saturating_add(given.flops);
        let is_known =
            |v: Option<ViewId>| v.map_or(Value::Unknown("a result that is not computed here".into()), Value::Tensor);
        let mut values: Vec<Value> = given.values.into_iter().map(is_known).collect();
        Ok(match gives(plain) {
            Gives::List => Value::list(values),
            Gives::One if !values.is_empty() => values.swap_remove(0),
            _ => match values.len() {
                0 => Value::None,
                1 => values.swap_remove(0),
                _ => Value::Tuple(values.into()),
            },
        })
    }

    /// Refuses unknown values, and requests the sizes of inputs.
    fn check_known(&mut self, op: &str, places: &[Value]) -> Result<(), Stop> {
        for item in places.iter().filter_map(Value::items).flatten() {
            match item {
                Value::Unsized(name) => return Err(Stop::Needs(name, None)),
                Value::Unknown(what) => {
                    return Err(self.refuse(refuse!("{op} is given {what}")));
                }
                _ => {}
            }
        }
        for (at, value) in places.iter().enumerate() {
            match value {
                Value::Unsized(name) => {
                    // The weight is an operand beside the input: after it in a product, before it in a look-up.
                    let weight =
                        places.iter().find_map(|v| if let Value::Tensor(view) = v { Some(*view) } else { None });
                    let weight = weight.map(|view| self.type_of(view)).transpose()?;
                    let groups = places.get(8).and_then(Value::int).and_then(|n| u64::try_from(n).ok()).unwrap_or(1);
                    return Err(Stop::Needs(name.clone(), fitting(op, at, weight.as_ref(), groups)));
                }
                Value::Unknown(what) => {
                    return Err(self.refuse(refuse!("{op} is given {what}")));
                }
                Value::Module(_) | Value::Path(_) | Value::Map(_) => {
                    return Err(self.refuse(refuse!("{op} is given {}", value.described())));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Defaults that are not written in the file become constants when PyTorch loads it.
    fn count_defaults(&mut self, schema: &Schema, places: usize, named: &[(String, Value)]) {
        for (at, parameter) in schema.parameters.iter().enumerate() {
            let is_given = at < places || named.iter().any(|(name, _)| name == parameter.name);
            let Some(default) = parameter.default.filter(|_| !is_given) else { continue };
            self.counts.constant(&literal_of(default, parameter.is_list()));
        }
    }

    /// Counts the defaults of an operator of numbers if it must be one of tensors: only tensors are clamped, and a constant of the file is one.
    fn count_hidden_defaults(&mut self, op: &str, values: &[Value]) {
        let kinds: Vec<Kind> = if op == "clamp" {
            [Kind::Tensor].into_iter().chain(values.iter().skip(1).map(Value::kind)).collect()
        } else if values.iter().any(|v| matches!(v, Value::Tensor(_))) {
            vec![Kind::Tensor; values.len()]
        } else {
            return;
        };
        let schemas = self.schemas_of(op);
        if let Some(schema) = choose(&schemas, &kinds, &[]) {
            self.count_defaults(schema, values.len(), &[]);
        }
    }

    /// A value as an argument of a call.
    fn argument(&mut self, value: &Value) -> Argument<'static> {
        match value {
            Value::None => Argument::None,
            Value::Bool(v) => Argument::Bool(*v),
            Value::Int(n) => Argument::Int(*n),
            Value::Float(n) => Argument::Float(*n),
            Value::Text(text) => Argument::Text(Text(Cow::Owned(text.to_string()))),
            Value::Tensor(view) => Argument::Tensor(self.t.tensor_argument(*view)),
            Value::List(_) | Value::Tuple(_) => self.list_argument(value),
            _ => Argument::Other,
        }
    }

    fn list_argument(&mut self, value: &Value) -> Argument<'static> {
        let items = value.items().unwrap_or_default();
        let mut name = |v: &Value| if let Value::Tensor(view) = v { Some(self.t.tensor_argument(*view)) } else { None };
        match value.kind() {
            Kind::Tensors => Argument::Tensors(items.iter().filter_map(name).collect()),
            Kind::MaybeTensors => Argument::OptionalTensors(items.iter().map(&mut name).collect()),
            Kind::Ints | Kind::Empty => {
                Argument::Ints(items.iter().filter_map(Value::int).map(Symbolic::Known).collect())
            }
            Kind::Floats => Argument::Floats(items.iter().filter_map(Value::number).collect()),
            _ => Argument::Other,
        }
    }

    /// The type of a value.
    fn type_of(&mut self, view: ViewId) -> Result<ArrayType, Stop> {
        self.t.type_of_view(view).map_err(|e| self.refuse(e))
    }

    /// torch's number for the element type of a value. Fails when it has no element type.
    pub fn scalar_type_of(&mut self, view: ViewId) -> Result<Value, Stop> {
        let element = self.type_of(view)?.element;
        let number = (0..32).find(|&n| scalar_type(n) == Some(element));
        number.map(Value::Int).ok_or_else(|| self.refuse(refuse!("the element type {element} has no number")))
    }
}

fn text(name: &'static str) -> Text<'static> {
    Text(Cow::Borrowed(name))
}

/// A default as the constant that it becomes, in the spelling of literals.
fn literal_of(default: &str, is_list: bool) -> String {
    if is_list {
        return format!("l{default}");
    }
    match default {
        "None" => "none".to_owned(),
        "True" => "btrue".to_owned(),
        "False" => "bfalse".to_owned(),
        text if text.starts_with('"') => format!("s{}", text.trim_matches('"')),
        number => match number.parse::<i64>() {
            Ok(n) => format!("i{n}"),
            Err(_) => format!("f{}", number.parse::<f64>().unwrap_or(0.0)),
        },
    }
}
