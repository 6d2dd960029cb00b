//! Where the weights of a file lie.

use rustc_hash::{FxHashMap, FxHashSet};

use super::argument::Text;
use super::legacy;
use super::schema::{Payload, PayloadConfig, TensorMeta};
use ns_base::Order;
use ns_base::refuse;
use ns_container::ByteSource;
use ns_container::zip::{Archive, Entry};
use ns_program::{ArrayType, ImportError, Place, WeightData, value_of_bytes};

/// Most bytes of a description of weights.
const MAX_CONFIG: u64 = 256 << 20;

/// Most bytes of packed weights that are unpacked in total.
const MAX_HELD: u64 = 64 << 20;

/// Where one weight lies.
#[derive(Clone, Debug, Default)]
pub struct Weight {
    /// Weights with the same key share their numbers.
    pub key: String,
    pub data: WeightData,
}

/// Weights and constants by their dotted paths.
#[derive(Debug, Default)]
pub struct Weights {
    by_path: FxHashMap<String, Weight>,
    /// Bytes unpacked so far.
    read_bytes: u64,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl Weights {
    /// Reads the archive's descriptions of its weights. Missing weights are absent, without an error. Fails when a description of
    /// weights is damaged.
    pub fn of(bytes: &dyn ByteSource, archive: &Archive<'_>) -> Result<Self, ImportError> {
        let mut weights = Self::default();
        for end in ["model_weights_config.json", "model_constants_config.json"] {
            if let Some(entry) = archive.ending(end) {
                weights.add_config(archive, entry)?;
            }
        }
        for end in ["serialized_state_dict.pt", "serialized_constants.pt"] {
            if let Some(entry) = archive.ending(end) {
                match legacy::tensors(bytes, archive, entry) {
                    Ok(found) => weights.by_path.extend(found),
                    Err(error) => weights.notes.push(format!("the weights are not read: {error}")),
                }
            }
        }
        Ok(weights)
    }

    /// The weight with a path, assuming that its type is `ty`.
    pub fn get(&self, path: &str, ty: &ArrayType) -> Weight {
        let mut weight =
            self.by_path.get(path).cloned().unwrap_or_else(|| Weight { key: path.to_owned(), ..Weight::default() });
        // Numbers of another size than in the graph do not belong to this weight.
        if let WeightData::InFile { len, strides, .. } = &weight.data
            && strides.is_empty()
            && *len != ty.bytes()
        {
            weight.data = WeightData::Absent;
        }
        weight
    }

    fn add_config(&mut self, archive: &Archive<'_>, entry: &Entry) -> Result<(), ImportError> {
        let text = archive.content(entry, MAX_CONFIG)?;
        let config: PayloadConfig<'_> = serde_json::from_slice(&text).map_err(|e| {
            let said = refuse!(instead = "save the model again", "the description of the weights cannot be read: {e}");
            ImportError::at(Place::Entry(entry.name.clone()), said)
        })?;
        let folder = entry.name.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let by_name: FxHashMap<&str, &Entry> = archive.entries.iter().map(|e| (e.name.as_str(), e)).collect();
        let mut paths: Vec<_> = config.config.iter().collect();
        paths.order_by(|a, b| a.0.cmp(b.0));
        let one_for_all = shared_by_different(&paths);
        for (path, payload) in paths {
            let name = format!("{folder}{}", payload.path_name.get());
            let file = by_name.get(name.as_str()).copied();
            let is_shared = !one_for_all.contains(payload.path_name.get()) || file.is_some_and(|f| f.size > 0);
            let shape = payload.tensor_meta.as_ref().map(described).unwrap_or_default();
            let key = if is_shared { format!("{name} {shape}") } else { path.get().to_owned() };
            let data = match (file, &payload.tensor_meta) {
                (Some(file), Some(meta)) if !payload.use_pickle => self.data(archive, file, meta)?,
                _ => WeightData::Absent,
            };
            self.by_path.insert(path.get().to_owned(), Weight { key, data });
        }
        Ok(())
    }

    /// The numbers of a weight that has its own entry.
    fn data(&mut self, archive: &Archive<'_>, file: &Entry, meta: &TensorMeta<'_>) -> Result<WeightData, ImportError> {
        let Some((ty, layout)) = plain_layout(meta) else { return Ok(WeightData::Absent) };
        if layout.end > file.size {
            return Ok(WeightData::Absent);
        }
        if let Some(start) = archive.stored_at(file)? {
            return Ok(layout.in_file(start));
        }
        if file.size > MAX_HELD - self.read_bytes.min(MAX_HELD) {
            self.notes.push(format!("{} is packed and too large to be unpacked here", file.name));
            return Ok(WeightData::Absent);
        }
        self.read_bytes += file.size;
        let raw = archive.content(file, MAX_HELD)?;
        let part = usize::try_from(layout.start).ok().zip(usize::try_from(layout.end).ok());
        let part = part.and_then(|(start, end)| raw.get(start..end));
        let value = part.and_then(|part| value_of_bytes(&ty, part, &layout.strides).ok());
        Ok(value.map_or(WeightData::Absent, |v| WeightData::Inline(Box::new(v))))
    }
}

/// Entries that weights of different sizes share: files without weights have one empty entry for many of them.
fn shared_by_different<'p>(paths: &[(&Text<'_>, &'p Payload<'_>)]) -> FxHashSet<&'p str> {
    let mut first: FxHashMap<&str, String> = FxHashMap::default();
    let mut shared = FxHashSet::default();
    for (_, payload) in paths {
        let sizes = payload.tensor_meta.as_ref().map(described).unwrap_or_default();
        let name = payload.path_name.get();
        match first.get(name) {
            Some(known) if *known != sizes => {
                shared.insert(name);
            }
            Some(_) => {}
            None => {
                first.insert(name, sizes);
            }
        }
    }
    shared
}

/// Where the numbers of a tensor lie in its storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// First byte.
    pub start: u64,
    /// One beyond the last.
    pub end: u64,
    /// Distances between neighbours in elements; `None` for row-major order.
    pub strides: Vec<i64>,
}

impl Layout {
    /// The layout of an array in a storage, from the array's first element on.
    pub fn new(ty: &ArrayType, strides: &[i64], first: u64) -> Option<Self> {
        let size = ty.element.bits() / 8;
        let start = first.checked_mul(size)?;
        if strides.iter().any(|&s| s < 0) || strides.len() != ty.dims.len() {
            return None;
        }
        if is_row_major(&ty.dims, strides) {
            return Some(Self { start, end: start.checked_add(ty.bytes())?, strides: Vec::new() });
        }
        let reach = ty.dims.iter().zip(strides).try_fold(0u64, |sum, (&n, &s)| {
            sum.checked_add(n.saturating_sub(1).checked_mul(u64::try_from(s).ok()?)?)
        })?;
        let len = reach.checked_add(1)?.checked_mul(size)?;
        Some(Self { start, end: start.checked_add(len)?, strides: strides.to_vec() })
    }

    /// The numbers, in a storage that begins at an offset in the file.
    pub fn in_file(&self, storage: u64) -> WeightData {
        let strides = self.strides.clone();
        WeightData::InFile { offset: storage.saturating_add(self.start), len: self.end - self.start, strides }
    }
}

/// Type and layout of a tensor whose sizes are numbers.
fn plain_layout(meta: &TensorMeta<'_>) -> Option<(ArrayType, Layout)> {
    let element = super::meta::element_of(meta.dtype)?;
    let dims = meta.sizes.iter().map(|s| u64::try_from(s.as_int?).ok()).collect::<Option<Vec<u64>>>()?;
    let strides = meta.strides.iter().map(|s| s.as_int).collect::<Option<Vec<i64>>>()?;
    let first = meta.storage_offset.as_ref().and_then(|s| s.as_int).unwrap_or(0);
    let ty = ArrayType::new(element, dims);
    ty.elements()?;
    let layout = Layout::new(&ty, &strides, u64::try_from(first).ok()?)?;
    Some((ty, layout))
}

/// Sizes of a tensor as text: tensors with the same storage but different sizes are different.
fn described(meta: &TensorMeta<'_>) -> String {
    let numbers = |all: &[super::schema::SymInt<'_>]| all.iter().map(|s| s.as_int).collect::<Vec<_>>();
    let first = meta.storage_offset.as_ref().and_then(|s| s.as_int);
    format!("{:?} {:?} {first:?}", numbers(&meta.sizes), numbers(&meta.strides))
}

/// Whether strides are row-major; strides of dimensions of size one do not matter.
fn is_row_major(dims: &[u64], strides: &[i64]) -> bool {
    let mut step = 1u64;
    for (&n, &stride) in dims.iter().zip(strides).rev() {
        if n != 1 && u64::try_from(stride) != Ok(step) {
            return dims.contains(&0);
        }
        step = step.saturating_mul(n);
    }
    true
}
