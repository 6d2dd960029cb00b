//! Values of expressions.

use std::rc::Rc;

use super::super::source::{Expression, PythonOperator};
use super::super::value::{ModuleValue, Value};
use super::fold::fold;
use super::state::{Interpreter, Stop};
use ns_base::refuse;

impl Interpreter<'_> {
    /// The value of an expression. Fails when it is unknown or refused.
    pub fn expression(&mut self, expression: &Expression) -> Result<Value, Stop> {
        self.enter()?;
        let value = self.expression_inside(expression)?;
        self.leave();
        Ok(value)
    }

    fn expression_inside(&mut self, expression: &Expression) -> Result<Value, Stop> {
        Ok(match expression {
            Expression::Name(name) => self.named(name)?,
            Expression::Int(n) => self.literal(format!("i{n}"), Value::Int(*n)),
            Expression::Float(n) => self.literal(format!("f{n}"), Value::Float(*n)),
            Expression::Text(text) => self.literal(format!("s{text}"), Value::Text(text.as_str().into())),
            Expression::Bool(v) => self.literal(format!("b{v}"), Value::Bool(*v)),
            Expression::None => self.literal("none".to_owned(), Value::None),
            Expression::Attribute(of, name) => self.attribute(of, name)?,
            Expression::Item(of, place) => self.item(of, place)?,
            Expression::Call { callee, arguments, named } => self.call(callee, arguments, named)?,
            Expression::List(items) => {
                let items = self.all(items)?;
                self.counts.op("prim::ListConstruct");
                Value::list(items)
            }
            Expression::Tuple(items) => {
                let items = self.all(items)?;
                self.counts.op("prim::TupleConstruct");
                Value::Tuple(items.into())
            }
            Expression::Map(pairs) => {
                self.counts.op("prim::DictConstruct");
                let each = pairs.iter().map(|(k, v)| Ok((self.expression(k)?, self.expression(v)?)));
                Value::Map(each.collect::<Result<Vec<_>, Stop>>()?.into())
            }
            Expression::Minus(of) => {
                let value = self.expression(of)?;
                self.folded("neg", &[value])?
            }
            Expression::Not(of) => {
                let value = self.expression(of)?;
                Value::Bool(!self.truth(&value)?)
            }
            Expression::Binary(operator, a, b) => self.binary(*operator, a, b)?,
            Expression::Choice(condition, then, otherwise) => {
                let condition = self.expression(condition)?;
                let holds = self.truth(&condition)?;
                self.expression(if holds { then } else { otherwise })?
            }
        })
    }

    fn literal(&mut self, written: String, value: Value) -> Value {
        self.counts.constant(&written);
        value
    }

    /// Values of several expressions. Fails when one of them is refused.
    pub fn all(&mut self, items: &[Expression]) -> Result<Vec<Value>, Stop> {
        items.iter().map(|e| self.expression(e)).collect()
    }

    fn named(&mut self, name: &str) -> Result<Value, Stop> {
        if let Some(value) = self.frames.last().and_then(|f| f.names.get(name)) {
            return Ok(value.clone());
        }
        match name {
            "torch" | "ops" | "__torch__" | "CONSTANTS" => Ok(Value::Path(name.into())),
            other => {
                let other: String = other.chars().take(100).collect();
                Err(self.refuse(refuse!("the name {other} has no value")))
            }
        }
    }

    fn attribute(&mut self, of: &Expression, name: &str) -> Result<Value, Stop> {
        match self.expression(of)? {
            Value::Module(module) => self.counted_field(&module, name),
            Value::Path(path) if &*path == "CONSTANTS" => {
                self.counts.constant(name);
                self.constant(name)
            }
            Value::Path(path) => Ok(Value::Path(format!("{path}.{name}").into())),
            other => Err(self.refuse(refuse!("the field {name} of {}", other.described()))),
        }
    }

    /// An item of a list, a tuple or a map.
    fn item(&mut self, of: &Expression, place: &Expression) -> Result<Value, Stop> {
        let (of, place) = (self.expression(of)?, self.expression(place)?);
        self.item_of(&of, &place)
    }

    /// An item of a value. Fails when the item does not exist.
    pub fn item_of(&mut self, of: &Value, place: &Value) -> Result<Value, Stop> {
        if let (Value::Map(pairs), Value::Text(key)) = (of, place) {
            let found = pairs.iter().find(|(k, _)| matches!(k, Value::Text(k) if k == key)).map(|(_, v)| v.clone());
            return found
                .ok_or_else(|| self.refuse(refuse!("the map has no {}", key.chars().take(100).collect::<String>())));
        }
        let (Some(items), Some(at)) = (of.items(), place.int()) else {
            return Err(self.refuse(refuse!("item {} of {}", place.described(), of.described())));
        };
        let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let at = if at < 0 { at.saturating_add(count) } else { at };
        let found = usize::try_from(at).ok().and_then(|at| items.get(at).cloned());
        found.ok_or_else(|| self.refuse(refuse!("item {at} of {count} items")))
    }

    fn binary(&mut self, operator: PythonOperator, a: &Expression, b: &Expression) -> Result<Value, Stop> {
        let left = self.expression(a)?;
        if matches!(operator, PythonOperator::And | PythonOperator::Or) {
            let holds = self.truth(&left)?;
            return if holds == (operator == PythonOperator::Or) { Ok(left) } else { self.expression(b) };
        }
        let right = self.expression(b)?;
        let name = match operator {
            PythonOperator::Is => return Ok(Value::Bool(is_same(&left, &right))),
            PythonOperator::IsNot => return Ok(Value::Bool(!is_same(&left, &right))),
            PythonOperator::Eq => "eq",
            PythonOperator::Ne => "ne",
            PythonOperator::Lt => "lt",
            PythonOperator::Le => "le",
            PythonOperator::Gt => "gt",
            PythonOperator::Ge => "ge",
            PythonOperator::Add => "add",
            PythonOperator::Sub => "sub",
            PythonOperator::Mul => "mul",
            PythonOperator::Div => "div",
            PythonOperator::FloorDiv => "floor_divide",
            PythonOperator::Remainder => "remainder",
            PythonOperator::And | PythonOperator::Or => return Ok(left),
        };
        self.counts.op(&format!("aten::{name}"));
        self.folded(name, &[left, right])
    }

    /// A function of numbers; refused if one of them is unknown. Fails when it has no value.
    pub fn folded(&mut self, name: &str, values: &[Value]) -> Result<Value, Stop> {
        fold(name, values).ok_or_else(|| {
            let of = values.iter().map(Value::described).collect::<Vec<_>>().join(", ");
            self.refuse(refuse!("{name} of {of} has no value that is known here"))
        })
    }

    /// Whether a value is true in Python's sense. Fails when data decides it.
    pub fn truth(&mut self, value: &Value) -> Result<bool, Stop> {
        match value {
            Value::None => Ok(false),
            Value::Text(text) => Ok(!text.is_empty()),
            Value::List(_) | Value::Tuple(_) => Ok(value.items().is_some_and(|items| !items.is_empty())),
            other => match other.number() {
                Some(n) => Ok(n != 0.0),
                None => Err(self.refuse(refuse!("a choice (prim::If) that depends on {}", other.described()))),
            },
        }
    }

    fn call(
        &mut self,
        callee: &Expression,
        arguments: &[Expression],
        named: &[(String, Expression)],
    ) -> Result<Value, Stop> {
        match callee {
            Expression::Name(name) if !self.frames.last().is_some_and(|f| f.names.contains_key(name)) => {
                self.builtin(name, arguments)
            }
            Expression::Attribute(of, name) => match self.expression(of)? {
                Value::Module(module) => {
                    let arguments = self.all(arguments)?;
                    self.method(&module, name, arguments)
                }
                Value::Path(path) => self.call_path(&format!("{path}.{name}"), arguments, named),
                other => Err(self.refuse(refuse!("the method {name} of {}", other.described()))),
            },
            other => match self.expression(other)? {
                Value::Path(path) => self.call_path(&path, arguments, named),
                Value::Module(module) => {
                    let arguments = self.all(arguments)?;
                    self.method(&module, "forward", arguments)
                }
                value => Err(self.refuse(refuse!("{} is called", value.described()))),
            },
        }
    }

    /// Calls a function by its path.
    fn call_path(
        &mut self,
        path: &str,
        arguments: &[Expression],
        named: &[(String, Expression)],
    ) -> Result<Value, Stop> {
        if let Some(op) = path.strip_prefix("torch.") {
            let op = op.rsplit('.').next().unwrap_or(op).to_owned();
            return self.torch(&op, arguments, named);
        }
        if let Some(op) = path.strip_prefix("ops.prim.") {
            let op = op.to_owned();
            return self.prim(&op, arguments);
        }
        if let Some(op) = path.strip_prefix("ops.aten.") {
            let op = op.to_owned();
            return self.torch(&op, arguments, named);
        }
        if let Some(op) = path.strip_prefix("ops.") {
            return self.foreign(&op.replacen('.', "::", 1), arguments, named);
        }
        let arguments = self.all(arguments)?;
        let Some(found) = self.objects.function(path)? else {
            let path: String = path.chars().take(200).collect();
            return Err(self.refuse(refuse!("the function {path} is not in the file")));
        };
        let scope: Rc<str> = self.frames.last().map_or_else(|| "".into(), |f| Rc::clone(&f.scope));
        self.function(found, arguments, scope)
    }

    /// Calls an operator that is neither torch's nor Python's.
    fn foreign(&mut self, op: &str, arguments: &[Expression], named: &[(String, Expression)]) -> Result<Value, Stop> {
        if op.starts_with("neuron::") {
            let instead = "choose the model that torch_neuronx.trace was given, saved with: torch.export.save(torch.export.export(model.eval(), example_inputs), \"model.pt2\")";
            return Err(self.refuse(refuse!(
                instead = instead,
                "it is compiled for Neuron already ({op}): it holds a NEFF and no graph"
            )));
        }
        let arguments = self.all(arguments)?;
        let mut by_name = Vec::new();
        for (name, value) in named {
            by_name.push((name.clone(), self.expression(value)?));
        }
        self.operator(op, arguments, by_name)
    }
}

/// Whether two values are the same object for `is`: None is None.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::None, Value::None) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Module(ModuleValue { id: a, .. }), Value::Module(ModuleValue { id: b, .. })) => a == b,
        _ => false,
    }
}
