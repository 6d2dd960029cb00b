//! The state of an interpretation.

use std::cell::Cell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::count::Counts;
use super::super::inputs::Inputs;
use super::super::objects::{ObjectPart, Objects, at_line};
use super::super::schema::{Schema, schemas};
use super::super::source::ScriptFunction;
use super::super::value::{Lookup, ModuleValue, Value};
use crate::pt2::{PickleId, PickleValue, Translator, ViewId};
use ns_base::{Refusal, refuse};
use ns_container::ByteSource;
use ns_program::{ArrayType, ImportError, ProgramParameter, Role};

/// Steps that every file may take; larger files may take more.
const FREE_STEPS: u64 = 20_000;

/// Most nested calls and expressions.
const MAX_DEPTH: usize = 150;

/// Why an interpretation stops.
#[derive(Debug)]
pub enum Stop {
    /// The model is refused.
    Refused(ImportError),
    /// The sizes of an input have to be known first; with the sizes that fit its first use, if there are any.
    Needs(Rc<str>, Option<ArrayType>),
}

impl From<ImportError> for Stop {
    fn from(error: ImportError) -> Self {
        Self::Refused(error)
    }
}

pub struct ScriptFrame {
    /// Its variables by name.
    pub names: FxHashMap<String, Value>,
    /// Names of tensors made from single numbers: `int` of one of these tensors gives its number again.
    pub from_numbers: FxHashSet<String>,
    /// Whether PyTorch removes unused values in it: it does if it simplified something else, and in every method called from there.
    pub is_swept: bool,
    pub function: Rc<ScriptFunction>,
    pub file: Rc<str>,
    pub line: u32,
    /// The modules around it: `NN[model]/Linear[layer1]`.
    pub scope: Rc<str>,
}

pub struct Interpreter<'f> {
    /// The file's bytes, from which single numbers are read.
    pub bytes: &'f dyn ByteSource,
    /// The tree of modules and the source.
    pub objects: Objects<'f>,
    /// The program under construction.
    pub t: Translator,
    pub inputs: Inputs,
    pub counts: Counts,
    /// Running methods, the model's own first.
    pub frames: Vec<ScriptFrame>,
    /// Fields that were assigned, by object and name.
    pub assigned: FxHashMap<(PickleId, String), Value>,
    /// Weights that have values.
    tensors: FxHashMap<(ObjectPart, PickleId), ViewId>,
    shared: FxHashMap<String, ViewId>,
    /// Buffers and weights in the order they were created, which a method may change.
    pub weights: Vec<ViewId>,
    /// Weights of one number, which may be part of a size.
    pub numbers: FxHashMap<ViewId, ProgramParameter>,
    schemas: FxHashMap<String, Rc<Vec<Schema>>>,
    steps: u64,
    depth: usize,
}

impl<'f> Interpreter<'f> {
    /// An interpretation that has not begun.
    pub fn new(bytes: &'f dyn ByteSource, objects: Objects<'f>, inputs: Inputs, display_only: bool) -> Self {
        let steps = objects.bytes_of_source().saturating_mul(2).saturating_add(FREE_STEPS);
        Self {
            bytes,
            objects,
            t: Translator::untyped(display_only),
            inputs,
            counts: Counts::default(),
            frames: Vec::new(),
            assigned: FxHashMap::default(),
            tensors: FxHashMap::default(),
            shared: FxHashMap::default(),
            weights: Vec::new(),
            numbers: FxHashMap::default(),
            schemas: FxHashMap::default(),
            steps,
            depth: 0,
        }
    }

    /// Whether PyTorch removes unused values in the running method.
    pub fn is_swept(&self) -> bool {
        self.frames.last().is_some_and(|f| f.is_swept)
    }

    /// A field of a module, counted: where PyTorch removes unused values, looking up a module counts only when the module is used.
    /// Fails when it does not have the field.
    pub fn counted_field(&mut self, module: &ModuleValue, name: &str) -> Result<Value, Stop> {
        let value = self.field(module, name)?;
        let around = module.lookup.clone();
        if let Value::Module(inner) = value {
            let lookup = Lookup { around, is_counted: Cell::new(false) };
            let lookup = Some(Rc::new(lookup));
            if !self.is_swept() {
                self.count_lookups(lookup.as_ref());
            }
            return Ok(Value::Module(ModuleValue { lookup, ..inner }));
        }
        self.counts.op("prim::GetAttr");
        self.count_lookups(around.as_ref());
        Ok(value)
    }

    /// Counts a look-up and the look-ups around it that are not counted yet.
    fn count_lookups(&mut self, lookup: Option<&Rc<Lookup>>) {
        let mut at = lookup;
        while let Some(lookup) = at.filter(|l| !l.is_counted.get()) {
            lookup.is_counted.set(true);
            self.counts.op("prim::GetAttr");
            at = lookup.around.as_ref();
        }
    }

    /// Whether the running method is not the model's own: PyTorch simplifies the methods that are called, not the one that calls them.
    pub fn is_tidied(&self) -> bool {
        self.frames.len() > 1
    }

    /// Takes one step of work and goes one level down. Fails when there are too many steps or levels.
    pub fn enter(&mut self) -> Result<(), Stop> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.refuse(refuse!("calls are nested more than {MAX_DEPTH} deep")));
        }
        self.steps = self.steps.saturating_sub(1);
        if self.steps == 0 {
            let what = "the program runs for longer than its source is long: a loop of many turns or calls without end";
            return Err(self.refuse(Refusal::new(what)));
        }
        Ok(())
    }

    /// Goes one level up.
    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// A refusal at the current line.
    pub fn refuse(&self, error: impl Into<Refusal>) -> Stop {
        let (file, line) = self.place();
        // Names and operands in a message come from the file, and may be long.
        let error = error.into().within(|what| what.chars().take(600).collect());
        let instead = "a NeuronCore runs a fixed program: export the model with torch.export.save, or trace it with example inputs";
        Stop::Refused(at_line(&file, line, error.advise(instead)))
    }

    /// The current file and line.
    pub fn place(&self) -> (Rc<str>, u32) {
        self.frames.last().map_or_else(|| ("code".into(), 1), |f| (Rc::clone(&f.file), f.line))
    }

    /// Overloads of an operator.
    pub fn schemas_of(&mut self, op: &str) -> Rc<Vec<Schema>> {
        if let Some(known) = self.schemas.get(op) {
            return Rc::clone(known);
        }
        let found = Rc::new(schemas(op));
        self.schemas.insert(op.to_owned(), Rc::clone(&found));
        found
    }

    /// A field of a module. Fails when it does not have the field.
    pub fn field(&mut self, module: &ModuleValue, name: &str) -> Result<Value, Stop> {
        if let Some(value) = self.assigned.get(&(module.id, name.to_owned())) {
            return Ok(value.clone());
        }
        let path = if module.path.is_empty() { name.to_owned() } else { format!("{}.{name}", module.path) };
        if let Some(id) = self.objects.field(module.id, name) {
            return self.object(id, &path, 0);
        }
        // Fields that never change are written in the class.
        if let Some(class) = self.objects.class_of(module.id)
            && let Some(class) = self.objects.class(&class)?
            && let Some((_, value)) = class.item.constants.iter().find(|(n, _)| n == name)
        {
            let value = value.clone();
            return self.expression(&value);
        }
        let path: String = path.chars().take(200).collect();
        Err(self.refuse(refuse!("there is no field {path}")))
    }

    /// The value of an object of the tree.
    fn object(&mut self, id: PickleId, path: &str, depth: usize) -> Result<Value, Stop> {
        if self.objects.class_of(id).is_some() {
            return Ok(Value::Module(ModuleValue { id, path: path.into(), lookup: None }));
        }
        if let Some(view) = self.weight(ObjectPart::Data, id, path)? {
            return Ok(Value::Tensor(view));
        }
        Ok(match self.objects.data.get(id) {
            PickleValue::Nothing => Value::None,
            PickleValue::Bool(v) => Value::Bool(*v),
            PickleValue::Int(n) => Value::Int(*n),
            PickleValue::Float(n) => Value::Float(*n),
            PickleValue::Text(text) => Value::Text(text.as_str().into()),
            PickleValue::Items(items) if depth < 8 => {
                let items = items.clone();
                let each =
                    items.iter().enumerate().map(|(at, &id)| self.object(id, &format!("{path}.{at}"), depth + 1));
                Value::list(each.collect::<Result<_, _>>()?)
            }
            // Lists of one type are wrapped in its tag.
            PickleValue::Call { arguments, function, .. } if depth < 8 => {
                let inner = self.objects.data.items(*arguments).first().copied();
                match (self.objects.data.get(*function), inner) {
                    (PickleValue::Global(tag), Some(inner)) if tag.starts_with("torch.jit._pickle") => {
                        self.object(inner, path, depth + 1)?
                    }
                    (PickleValue::Global(other), _) => Value::Unknown(format!("the object {path} of {other}").into()),
                    _ => Value::Unknown(format!("the object {path}").into()),
                }
            }
            _ => Value::Unknown(format!("the object {path}").into()),
        })
    }

    /// A constant of the source: `CONSTANTS.c0`. Fails when there is no constant of that name.
    pub fn constant(&mut self, name: &str) -> Result<Value, Stop> {
        let at = name.strip_prefix('c').and_then(|n| n.parse::<usize>().ok());
        let id = at.and_then(|at| {
            let constants = self.objects.constants.as_ref()?;
            // A single constant is not a tuple.
            match constants.get(constants.root) {
                PickleValue::Items(items) => items.get(at).copied(),
                _ => (at == 0).then_some(constants.root),
            }
        });
        let name = format!("CONSTANTS.{}", name.chars().take(60).collect::<String>());
        let Some(id) = id else { return Err(self.refuse(refuse!("there is no {name}"))) };
        match self.weight(ObjectPart::Constants, id, &name)? {
            Some(view) => Ok(Value::Tensor(view)),
            None => Ok(Value::Unknown(format!("the object {name}").into())),
        }
    }

    /// The value of a weight, created at its first use; `None` if the object is not a tensor.
    fn weight(&mut self, part: ObjectPart, id: PickleId, path: &str) -> Result<Option<ViewId>, Stop> {
        if let Some(&known) = self.tensors.get(&(part, id)) {
            return Ok(Some(known));
        }
        let Some((ty, key, data)) = self.objects.tensor(part, id)? else { return Ok(None) };
        let view = match self.shared.get(&key) {
            Some(&known) => known,
            None => {
                let role = if part == ObjectPart::Data && self.is_trained(path)? { Role::Weight } else { Role::Buffer };
                let parameter = ProgramParameter { name: path.to_owned(), role, ty, data };
                let single = parameter.ty.dims.is_empty().then(|| parameter.clone());
                let value = self.t.b.parameter(parameter).map_err(|e| self.refuse(e))?;
                let view = self.t.views.fresh(value);
                if let Some(single) = single {
                    self.numbers.insert(view, single);
                }
                self.shared.insert(key, view);
                self.weights.push(view);
                view
            }
        };
        self.tensors.insert((part, id), view);
        Ok(Some(view))
    }

    /// Whether a path names a parameter of its class.
    fn is_trained(&mut self, path: &str) -> Result<bool, Stop> {
        let mut module = self.objects.data.root;
        let (folder, name) = path.rsplit_once('.').unwrap_or(("", path));
        for part in folder.split('.').filter(|p| !p.is_empty()) {
            match self.objects.field(module, part) {
                Some(inner) => module = inner,
                None => return Ok(false),
            }
        }
        let Some(class) = self.objects.class_of(module) else { return Ok(false) };
        let class = self.objects.class(&class)?;
        Ok(class.is_some_and(|c| c.item.parameters.iter().any(|p| p == name)))
    }
}
