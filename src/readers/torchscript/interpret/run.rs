//! Statements and methods.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::AGAIN;
use super::super::objects::Definition;
use super::super::source::{
    Expression, ScriptFunction, Statement, StatementKind, Target, dead_statements, is_only_for, turns_numbers_back,
};
use super::super::value::{ModuleValue, Value};
use super::state::{Interpreter, ScriptFrame, Stop};
use crate::pt2::ViewId;
use ns_base::{Order, Refusal, refuse};
use ns_program::{ArrayType, ImportError, InstructionId};

/// Most turns of one loop.
const MAX_TURNS: i64 = 10_000;

/// What happens after a statement.
enum Flow {
    On,
    Return(Value),
}

/// Runs the model's method `forward` and returns its result. Fails when it is refused, or when the sizes of an input have to be
/// known first.
pub fn run(interpreter: &mut Interpreter<'_>) -> Result<Value, Stop> {
    let root = interpreter.objects.data.root;
    let class = interpreter.objects.class_of(root);
    let class = class.ok_or_else(|| ImportError::from(refuse!(instead = AGAIN, "data.pkl holds no module")))?;
    let found = interpreter.objects.class(&class)?;
    let no_source = || refuse!(instead = AGAIN, "the source of the class {class} is missing");
    let Definition { item, file } = found.ok_or_else(|| ImportError::from(no_source()))?;
    let function = item.methods.iter().find(|f| f.name == "forward").cloned();
    let no_forward = || refuse!(instead = AGAIN, "{class} has no method forward");
    let function = function.ok_or_else(|| ImportError::from(no_forward()))?;
    let parameters: Vec<(String, String)> = function.parameters.iter().skip(1).cloned().collect();
    let model = ModuleValue { id: root, path: "".into(), lookup: None };
    let mut arguments = vec![Value::Module(model)];
    arguments.extend(interpreter.inputs.values(&parameters, &interpreter.objects, &mut interpreter.t)?);
    let scope = format!("{}[model]", class.rsplit('.').next().unwrap_or(&class));
    interpreter.function(Definition { item: function, file }, arguments, scope.into())
}

impl Interpreter<'_> {
    /// Calls a method of a module. Fails when the method does not exist or is refused.
    pub fn method(&mut self, module: &ModuleValue, name: &str, arguments: Vec<Value>) -> Result<Value, Stop> {
        let class = self.objects.class_of(module.id).unwrap_or_default();
        let found = self.objects.class(&class)?;
        let method = found.as_ref().and_then(|c| c.item.methods.iter().find(|f| f.name == name).cloned());
        let (Some(found), Some(item)) = (found, method) else {
            let what = refuse!("{class} has no method {name}");
            return Err(self.refuse(what.within(|what| what.chars().take(300).collect())));
        };
        let mut all = vec![Value::Module(module.clone())];
        all.extend(arguments);
        let kind = class.rsplit('.').next().unwrap_or_default();
        let around = self.frames.last().map_or("", |f| &*f.scope);
        // The module of a method that calls another of its own module is on the path already.
        let own = format!("{kind}[{}]", module.path);
        let is_inside = around.ends_with(&own) || module.path.is_empty();
        let scope: Rc<str> = if is_inside { around.into() } else { format!("{around}/{own}").into() };
        self.function(Definition { item, file: found.file }, all, scope)
    }

    /// Calls a function or a method with all its arguments. Fails when it is refused.
    pub fn function(
        &mut self,
        found: Definition<ScriptFunction>,
        arguments: Vec<Value>,
        scope: Rc<str>,
    ) -> Result<Value, Stop> {
        let Definition { item: function, file } = found;
        if arguments.len() > function.parameters.len() {
            let (name, taken, given) = (&function.name, function.parameters.len(), arguments.len());
            return Err(self.refuse(refuse!("{name} takes {taken} arguments and is given {given}")));
        }
        self.enter()?;
        let names: FxHashMap<String, Value> =
            function.parameters.iter().map(|(name, _)| name.clone()).zip(arguments).collect();
        let body = Rc::clone(&function);
        let line = function.body.first().map_or(1, |s| s.line);
        let is_tidied = !self.frames.is_empty();
        let is_swept = is_tidied && (self.is_swept() || turns_numbers_back(&function));
        self.frames.push(ScriptFrame {
            names,
            from_numbers: FxHashSet::default(),
            is_swept,
            function,
            file,
            line,
            scope,
        });
        let is_first = self.frames.len() == 2;
        if is_first {
            self.counts.begin_method();
        }
        let result = self.body(&body);
        if is_first {
            self.counts.end_method();
        }
        if result.is_ok() {
            self.frames.pop();
        }
        self.leave();
        result
    }

    /// Runs the statements of a method. Statements with unused results are not counted, because PyTorch removes them from called methods.
    fn body(&mut self, function: &ScriptFunction) -> Result<Value, Stop> {
        let dead = if self.is_swept() { dead_statements(function) } else { vec![false; function.body.len()] };
        for (statement, is_dead) in function.body.iter().zip(dead) {
            let before = is_dead.then(|| self.counts.clone());
            if let Flow::Return(value) = self.statement(statement)? {
                return Ok(value);
            }
            if let Some(before) = before.filter(|b| b.changes == self.counts.changes) {
                self.counts = before;
            }
        }
        Ok(Value::None)
    }

    fn block(&mut self, statements: &[Statement]) -> Result<Flow, Stop> {
        for statement in statements {
            if let Flow::Return(value) = self.statement(statement)? {
                return Ok(Flow::Return(value));
            }
        }
        Ok(Flow::On)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Flow, Stop> {
        if let Some(frame) = self.frames.last_mut() {
            frame.line = statement.line;
        }
        self.enter()?;
        let flow = self.statement_inside(&statement.kind)?;
        self.leave();
        Ok(flow)
    }

    fn statement_inside(&mut self, kind: &StatementKind) -> Result<Flow, Stop> {
        match kind {
            StatementKind::Assign { targets, unpacks, value } => self.assign(targets, *unpacks, value)?,
            StatementKind::Evaluate(value) => {
                self.expression(value)?;
            }
            StatementKind::Return(value) => return Ok(Flow::Return(self.expression(value)?)),
            StatementKind::If { condition, then, otherwise } => {
                let line = self.place().1;
                let holds = match self.expression(condition)? {
                    Value::Tensor(view) if self.t.display_only => return self.undecided(Some(view), [then, otherwise]),
                    Value::Unknown(_) if self.t.display_only => return self.undecided(None, [then, otherwise]),
                    Value::Tensor(_) | Value::Unsized(_) => {
                        return Err(self.refuse(refuse!("a branch (prim::If) whose condition is computed from data")));
                    }
                    Value::Unknown(what) => {
                        return Err(self.refuse(refuse!("a branch (prim::If) whose condition depends on {what}")));
                    }
                    other => self.truth(&other)?,
                };
                let flow = self.block(if holds { then } else { otherwise })?;
                if let Some(frame) = self.frames.last_mut() {
                    frame.line = line;
                }
                return Ok(flow);
            }
            StatementKind::For { name, items, body } => return self.repeat(name, items, body),
            StatementKind::While => {
                return Err(
                    self.refuse(refuse!("a while loop (prim::Loop), whose number of turns is computed as it runs"))
                );
            }
            StatementKind::Pass => {}
            StatementKind::Other(word) => return Err(self.refuse(refuse!("the statement `{word}` is not read here"))),
        }
        Ok(Flow::On)
    }

    /// A loop over numbers or over a known list.
    fn repeat(&mut self, name: &str, items: &Expression, body: &[Statement]) -> Result<Flow, Stop> {
        let values = match items {
            Expression::Call { callee, arguments, .. } if matches!(&**callee, Expression::Name(f) if f == "range") => {
                match self.range(arguments) {
                    Err(Stop::Refused(_)) if self.t.display_only => return self.undecided_loop(name, body),
                    values => values?,
                }
            }
            other => {
                let value = self.expression(other)?;
                match value.items() {
                    Some(items) => items,
                    None if self.t.display_only => return self.undecided_loop(name, body),
                    None => {
                        let of = value.described();
                        return Err(
                            self.refuse(refuse!("a loop (prim::Loop) over {of}, whose number of turns is not known"))
                        );
                    }
                }
            }
        };
        for value in values {
            self.name(name, value);
            self.enter()?;
            self.leave();
            if let Flow::Return(value) = self.block(body)? {
                return Ok(Flow::Return(value));
            }
        }
        Ok(Flow::On)
    }

    /// A branch that data chooses, for a program that is only inspected: its first side is executed, and its results come from one
    /// operation that cannot be placed.
    fn undecided(&mut self, condition: Option<ViewId>, [then, otherwise]: [&[Statement]; 2]) -> Result<Flow, Stop> {
        let before = self.tensor_names();
        let mut flow = self.block(then)?;
        let mut changed = self.changed_since(&before)?;
        if changed.is_empty() && matches!(flow, Flow::On) {
            flow = self.block(otherwise)?;
            changed = self.changed_since(&before)?;
        }
        let condition = match condition {
            Some(view) => Some(self.t.views.get(&mut self.t.b, view).map_err(|e| self.refuse(e))?),
            None => None,
        };
        match flow {
            Flow::On if changed.is_empty() => Ok(Flow::On),
            Flow::On => {
                let results = self.branch_results(condition, &changed.iter().map(|(_, x)| *x).collect::<Vec<_>>())?;
                self.renamed(changed, results);
                Ok(Flow::On)
            }
            Flow::Return(Value::Tensor(view)) => {
                let value = self.t.views.get(&mut self.t.b, view).map_err(|e| self.refuse(e))?;
                let results = self.branch_results(condition, &[value])?;
                let view = self.t.views.fresh(results[0]);
                Ok(Flow::Return(Value::Tensor(view)))
            }
            Flow::Return(_) => {
                Err(self.refuse(refuse!("a branch (prim::If) that data chooses and that ends the method")))
            }
        }
    }

    /// Results of a branch that data chooses.
    fn branch_results(
        &mut self,
        condition: Option<InstructionId>,
        values: &[InstructionId],
    ) -> Result<Vec<InstructionId>, Stop> {
        let types: Result<Vec<ArrayType>, Refusal> = values.iter().map(|&x| self.t.b.array(x).cloned()).collect();
        let types = types.map_err(|e| self.refuse(e))?;
        self.set_origin("prim::If");
        self.t.b.undecided_branch(condition, values, &types).map_err(|e| self.refuse(e))
    }

    /// A loop whose number of turns depends on data, for a program that is only inspected: one turn is executed.
    fn undecided_loop(&mut self, name: &str, body: &[Statement]) -> Result<Flow, Stop> {
        let before = self.tensor_names();
        self.name(name, Value::Int(0));
        let flow = self.block(body)?;
        let changed = self.changed_since(&before)?;
        let Flow::On = flow else {
            return Err(self.refuse(refuse!(
                "a loop (prim::Loop) whose number of turns depends on data and that ends the method"
            )));
        };
        let values: Vec<InstructionId> = changed.iter().map(|(_, x)| *x).collect();
        if !values.is_empty() {
            self.set_origin("prim::Loop");
            let results = self.t.b.undecided_loop(&values).map_err(|e| self.refuse(e))?;
            self.renamed(changed, results);
        }
        Ok(Flow::On)
    }

    /// Sets the origin of the next instructions: this operator in the current module.
    fn set_origin(&mut self, op: &str) {
        let scope = self.frames.last().map(|f| Rc::clone(&f.scope)).unwrap_or_default();
        self.t.b.set_origin(op, &scope);
    }

    /// Tensors by their current names.
    fn tensor_names(&self) -> FxHashMap<String, ViewId> {
        let names = self.frames.last().map(|f| &f.names);
        let tensor = |(name, value): (&String, &Value)| match value {
            Value::Tensor(view) => Some((name.clone(), *view)),
            _ => None,
        };
        names.into_iter().flatten().filter_map(tensor).collect()
    }

    /// Names whose tensors are new or have changed, in order, with their values.
    fn changed_since(&mut self, before: &FxHashMap<String, ViewId>) -> Result<Vec<(String, InstructionId)>, Stop> {
        let mut now: Vec<(String, ViewId)> = self.tensor_names().into_iter().collect();
        now.retain(|(name, view)| before.get(name) != Some(view));
        now.order_by(|a, b| a.0.cmp(&b.0));
        let mut found = Vec::with_capacity(now.len());
        for (name, view) in now {
            let value = self.t.views.get(&mut self.t.b, view).map_err(|e| self.refuse(e))?;
            found.push((name, value));
        }
        Ok(found)
    }

    /// Binds names to new values.
    fn renamed(&mut self, names: Vec<(String, InstructionId)>, values: Vec<InstructionId>) {
        for ((name, _), value) in names.into_iter().zip(values) {
            let view = self.t.views.fresh(value);
            self.name(&name, Value::Tensor(view));
        }
    }

    /// The numbers of `range(start, end, step)`.
    fn range(&mut self, arguments: &[Expression]) -> Result<Vec<Value>, Stop> {
        let mut numbers = Vec::new();
        for argument in arguments {
            let value = self.expression(argument)?;
            let Some(n) = value.int().filter(|_| !matches!(value, Value::Float(_))) else {
                let of = value.described();
                return Err(self.refuse(refuse!("a loop (prim::Loop) whose number of turns depends on {of}")));
            };
            numbers.push(n);
        }
        let (start, end, step) = match numbers.as_slice() {
            [end] => (0, *end, 1),
            [start, end] => (*start, *end, 1),
            [start, end, step] if *step != 0 => (*start, *end, *step),
            _ => return Err(self.refuse(refuse!("a range without an end, or with steps of 0"))),
        };
        let span = if step > 0 { end.saturating_sub(start) } else { start.saturating_sub(end) }.max(0);
        let turns = span.unsigned_abs().div_ceil(step.unsigned_abs());
        if turns > MAX_TURNS.unsigned_abs() {
            return Err(self.refuse(refuse!("a loop of {turns} turns; at most {MAX_TURNS} are written out")));
        }
        let turns = i64::try_from(turns).unwrap_or(0);
        Ok((0..turns).map(|i| Value::Int(start.saturating_add(i.saturating_mul(step)))).collect())
    }

    fn assign(&mut self, targets: &[Target], unpacks: bool, value: &Expression) -> Result<(), Stop> {
        if let ([Target::Name(name)], false) = (targets, unpacks) {
            let is_number = matches!(value, Expression::Call { callee, .. } if is_from_number(callee));
            let is_hidden = is_number
                && self.is_tidied()
                && self.frames.last().is_some_and(|f| is_only_for(&f.function, name, "int"));
            let value = if is_hidden { self.hidden_number(value)? } else { self.expression(value)? };
            self.name(name, value);
            if let Some(frame) = self.frames.last_mut().filter(|_| is_number) {
                frame.from_numbers.insert(name.clone());
            }
            return Ok(());
        }
        let is_operator = matches!(value, Expression::Call { callee, .. } if is_in_torch(callee));
        let value = self.expression(value)?;
        if !unpacks {
            return self.put(&targets[0], value);
        }
        let Some(mut items) = value.items() else {
            let (value, names) = (value.described(), targets.len());
            return Err(self.refuse(refuse!("{value} is unpacked to {names} names")));
        };
        match &value {
            Value::List(_) => self.counts.op("prim::ListUnpack"),
            _ if !is_operator => self.counts.op("prim::TupleUnpack"),
            _ => {}
        }
        if is_operator && matches!(value, Value::Tuple(_)) {
            // Results that only training uses are not computed.
            items.resize(targets.len().max(items.len()), Value::Unknown("a result that is not computed here".into()));
        }
        if items.len() != targets.len() {
            let (values, names) = (items.len(), targets.len());
            return Err(self.refuse(refuse!("{values} values are unpacked to {names} names")));
        }
        targets.iter().zip(items).try_for_each(|(target, item)| self.put(target, item))
    }

    fn put(&mut self, target: &Target, value: Value) -> Result<(), Stop> {
        match target {
            Target::Name(name) => self.name(name, value),
            Target::Attribute(of, field) => {
                let Value::Module(module) = self.expression(of)? else {
                    return Err(self.refuse(refuse!("the field {field} of something that is not a module is assigned")));
                };
                self.counts.changes += 1;
                self.counts.op("prim::SetAttr");
                self.assigned.insert((module.id, field.clone()), value);
            }
        }
        Ok(())
    }

    fn name(&mut self, name: &str, value: Value) {
        if let Some(frame) = self.frames.last_mut() {
            frame.names.insert(name.to_owned(), value);
        }
    }
}

/// Whether an expression is a call of `ops.prim.NumToTensor`.
fn is_from_number(callee: &Expression) -> bool {
    matches!(callee, Expression::Attribute(_, name) if name == "NumToTensor")
}

/// Whether an expression is a call of a torch operator.
fn is_in_torch(callee: &Expression) -> bool {
    matches!(callee, Expression::Attribute(of, _) if matches!(&**of, Expression::Name(n) if n == "torch"))
}
