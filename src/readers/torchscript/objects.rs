//! The tree of modules with its weights, from the pickles of the archive. Pickles are read and never executed: the name of a class or a
//! function is only compared as text.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::AGAIN;
use super::source::{Class, ScriptFunction, SourceFile, parse};
use crate::pt2::{Pickle, PickleId, PickleValue, PickledTensor, pickled_tensor};
use ns_base::{Refusal, refuse};
use ns_container::zip::{Archive, Entry};
use ns_program::{ArrayType, ImportError, Place, WeightData};

/// Most bytes of a pickle that is read.
const MAX_PICKLE: u64 = 256 << 20;

/// Most bytes of one source file.
const MAX_SOURCE: u64 = 64 << 20;

/// Which pickle a tensor belongs to: each has its own storages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectPart {
    /// The tree of modules.
    Data,
    /// Constants of the source.
    Constants,
}

/// The archive with its pickles and its source.
pub struct Objects<'f> {
    archive: &'f Archive<'f>,
    /// Folder of all entries, with its slash: `model/`.
    root: String,
    entries: FxHashMap<&'f str, &'f Entry>,
    /// The tree of modules.
    pub data: Pickle,
    /// Constants of the source.
    pub constants: Option<Pickle>,
    files: FxHashMap<String, Rc<SourceFile>>,
}

/// A class or a function, with its file.
#[derive(Clone, Debug)]
pub struct Definition<T> {
    /// The class or function.
    pub item: Rc<T>,
    /// Its file: `code/__torch__/models.py`.
    pub file: Rc<str>,
}

/// A file of source with its name.
type NamedSource = (Rc<str>, Rc<SourceFile>);

impl<'f> Objects<'f> {
    /// Reads the pickles of an archive. Fails when a pickle is missing or damaged.
    pub fn open(archive: &'f Archive<'f>) -> Result<Self, ImportError> {
        let is_data = |e: &&Entry| e.name == "data.pkl" || e.name.ends_with("/data.pkl");
        let data = archive.entries.iter().filter(is_data).min_by_key(|e| e.name.len());
        let data = data.ok_or_else(|| refuse!(instead = AGAIN, "there is no data.pkl in the archive"))?;
        let root = data.name.trim_end_matches("data.pkl").to_owned();
        let entries: FxHashMap<&str, &Entry> = archive.entries.iter().map(|e| (e.name.as_str(), e)).collect();
        let constants = entries.get(format!("{root}constants.pkl").as_str()).copied();
        let constants = constants.map(|e| pickle(archive, e)).transpose()?;
        let data = pickle(archive, data)?;
        Ok(Self { archive, root, entries, data, constants, files: FxHashMap::default() })
    }

    /// An entry by its name within the folder.
    pub fn entry(&self, name: &str) -> Option<&'f Entry> {
        self.entries.get(format!("{}{name}", self.root).as_str()).copied()
    }

    /// The pickle of the example inputs, which traces have since PyTorch 2.4. Fails when it exists and is damaged.
    pub fn traced_inputs(&self) -> Result<Option<Pickle>, ImportError> {
        self.entry("traced_inputs.pkl").map(|e| pickle(self.archive, e)).transpose()
    }

    /// A short text of an entry: a version, a byte order.
    pub fn short_text(&self, name: &str) -> Option<String> {
        let raw = self.archive.content(self.entry(name)?, 64).ok()?;
        Some(String::from_utf8_lossy(&raw).trim().to_owned())
    }

    /// Size of all source, which limits the work of interpreting it.
    pub fn bytes_of_source(&self) -> u64 {
        let is_source = |e: &&Entry| e.name.ends_with(".py");
        self.archive.entries.iter().filter(is_source).fold(0u64, |sum, e| sum.saturating_add(e.size))
    }

    /// A class by its path: `__torch__.models.NN`. Fails when its file is damaged.
    pub fn class(&mut self, path: &str) -> Result<Option<Definition<Class>>, ImportError> {
        let (folder, name) = path.rsplit_once('.').unwrap_or(("", path));
        let Some((file, source)) = self.source(folder)? else { return Ok(None) };
        Ok(source.classes.iter().find(|c| c.name == name).map(|c| Definition { item: Rc::clone(c), file }))
    }

    /// A function by its path: `__torch__.torch.nn.functional.relu`. Fails when its file is damaged.
    pub fn function(&mut self, path: &str) -> Result<Option<Definition<ScriptFunction>>, ImportError> {
        let (folder, name) = path.rsplit_once('.').unwrap_or(("", path));
        let Some((file, source)) = self.source(folder)? else { return Ok(None) };
        Ok(source.functions.iter().find(|f| f.name == name).map(|f| Definition { item: Rc::clone(f), file }))
    }

    /// The file of a path without its last part.
    fn source(&mut self, path: &str) -> Result<Option<NamedSource>, ImportError> {
        let name = format!("code/{}.py", path.replace('.', "/"));
        if let Some(known) = self.files.get(&name) {
            return Ok(Some((name.as_str().into(), Rc::clone(known))));
        }
        let Some(entry) = self.entry(&name) else { return Ok(None) };
        let raw = self.archive.content(entry, MAX_SOURCE)?;
        let no_text = |_| refuse!(instead = AGAIN, "the source is not UTF-8");
        let text = String::from_utf8(raw).map_err(no_text);
        let text = text.map_err(|e| ImportError::at(Place::Entry(entry.name.clone()), e))?;
        let source = parse(&text).map_err(|(line, wrong)| at_line(&name, line, wrong.advise(AGAIN)))?;
        let source = Rc::new(source);
        self.files.insert(name.clone(), Rc::clone(&source));
        Ok(Some((name.as_str().into(), source)))
    }

    /// The path of the class of an object; `None` if it is not a module.
    pub fn class_of(&self, id: PickleId) -> Option<String> {
        let PickleValue::Call { function, .. } = self.data.get(id) else { return None };
        let PickleValue::Global(class) = self.data.get(*function) else { return None };
        class.starts_with("__torch__").then(|| class.replace(' ', "."))
    }

    /// The fields of an object with their values.
    pub fn fields(&self, id: PickleId) -> &[(PickleId, PickleId)] {
        let PickleValue::Call { state: Some(state), .. } = self.data.get(id) else { return &[] };
        match self.data.get(*state) {
            PickleValue::Map(fields) => fields,
            _ => &[],
        }
    }

    pub fn field(&self, id: PickleId, name: &str) -> Option<PickleId> {
        let is_it = |key: PickleId| matches!(self.data.get(key), PickleValue::Text(text) if text == name);
        self.fields(id).iter().find(|(key, _)| is_it(*key)).map(|(_, value)| *value)
    }

    /// A tensor of a pickle with its numbers and a key: tensors with the same key are one. Fails when its entry is damaged.
    pub fn tensor(
        &self,
        part: ObjectPart,
        id: PickleId,
    ) -> Result<Option<(ArrayType, String, WeightData)>, ImportError> {
        let pickle = match (part, &self.constants) {
            (ObjectPart::Data, _) => &self.data,
            (ObjectPart::Constants, Some(constants)) => constants,
            (ObjectPart::Constants, None) => return Ok(None),
        };
        let Some(PickledTensor { storage, ty, layout }) = pickled_tensor(pickle, id) else { return Ok(None) };
        let folder = if part == ObjectPart::Data { "data" } else { "constants" };
        let mut data = WeightData::Absent;
        if let Some(entry) = self.entry(&format!("{folder}/{storage}"))
            && layout.end <= entry.size
            && let Some(start) = self.archive.stored_at(entry)?
        {
            data = layout.in_file(start);
        }
        let key = format!("{folder}/{storage} {ty} {layout:?}");
        Ok(Some((ty, key, data)))
    }

    /// Elements of parameters (each once) and of buffers, as declared by the modules' classes. Fails when the source of a class is
    /// damaged.
    pub fn count_elements(&mut self) -> Result<(u64, u64), ImportError> {
        let (mut parameters, mut buffers) = (0u64, 0u64);
        let mut seen: FxHashSet<PickleId> = FxHashSet::default();
        let mut keys: FxHashSet<String> = FxHashSet::default();
        let mut waiting = vec![self.data.root];
        while let Some(id) = waiting.pop() {
            let Some(class) = self.class_of(id).filter(|_| seen.insert(id)) else { continue };
            let class = self.class(&class)?;
            for (key, value) in self.fields(id).to_vec() {
                let PickleValue::Text(name) = self.data.get(key) else { continue };
                let is = |names: &[String]| names.iter().any(|n| n == name);
                let (is_parameter, is_buffer) =
                    class.as_ref().map_or((false, false), |c| (is(&c.item.parameters), is(&c.item.buffers)));
                waiting.push(value);
                if !is_parameter && !is_buffer {
                    continue;
                }
                let Some((ty, key, _)) = self.tensor(ObjectPart::Data, value)? else { continue };
                let elements = ty.elements().unwrap_or(0);
                if is_buffer {
                    buffers = buffers.saturating_add(elements);
                } else if keys.insert(key) {
                    parameters = parameters.saturating_add(elements);
                }
            }
        }
        Ok((parameters, buffers))
    }
}

/// An error at a line of a source file.
pub fn at_line(file: &str, line: u32, error: Refusal) -> ImportError {
    let file: String = file.chars().take(200).collect();
    ImportError::at(Place::Entry(format!("{file}, line {line}")), error)
}

fn pickle(archive: &Archive<'_>, entry: &Entry) -> Result<Pickle, ImportError> {
    let raw = archive.content(entry, MAX_PICKLE)?;
    Pickle::read(&raw).map_err(|e| ImportError::at(Place::Entry(entry.name.clone()), e.advise(AGAIN)))
}
