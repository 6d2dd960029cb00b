//! Weights of files up to torch 2.7: nested archives of `torch.save`, each with a pickle that names storages.

use super::pickle::{Id, Pickle, PickleValue};
use super::weights::{Layout, Weight};
use ns_base::{Refusal, refuse};
use ns_container::ByteSource;
use ns_container::zip::{Archive, Entry};
use ns_program::{ArrayType, ElementType, WeightData};

/// Most bytes of a pickle that is read.
const MAX_PICKLE: u64 = 256 << 20;

/// A range of bytes in a file.
struct Window<'a> {
    bytes: &'a dyn ByteSource,
    start: u64,
    len: u64,
}

impl ByteSource for Window<'_> {
    fn size(&self) -> u64 {
        self.len
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let n = buf.len().min(left);
        self.bytes.read(self.start.saturating_add(offset), &mut buf[..n])
    }
}

/// Tensors of a `torch.save` archive that is an entry of `outer`, by their paths. Fails when the entry is packed or its contents
/// are damaged.
pub fn tensors(bytes: &dyn ByteSource, outer: &Archive<'_>, entry: &Entry) -> Result<Vec<(String, Weight)>, Refusal> {
    let start = outer.stored_at(entry)?.ok_or_else(|| refuse!("they are packed in the archive"))?;
    let window = Window { bytes, start, len: entry.size };
    let archive = Archive::open(&window)?;
    let data = archive.ending("data.pkl").ok_or_else(|| refuse!("there is no data.pkl"))?;
    let folder = data.name.trim_end_matches("data.pkl");
    let pickle = Pickle::read(&archive.content(data, MAX_PICKLE)?)?;
    let items = match pickle.get(pickle.root) {
        PickleValue::Map(items) | PickleValue::Call { items, .. } => items.as_slice(),
        _ => &[],
    };
    let mut found = Vec::new();
    for &(key, value) in items {
        let (PickleValue::Text(path), Some(tensor)) = (pickle.get(key), tensor(&pickle, value, 4)) else { continue };
        let storage = archive.entries.iter().find(|e| {
            e.name.strip_prefix(folder).and_then(|n| n.strip_prefix("data/")) == Some(tensor.storage.as_str())
        });
        let mut data = WeightData::Absent;
        if let Some(storage) = storage
            && tensor.layout.end <= storage.size
            && let Some(at) = archive.stored_at(storage)?
        {
            data = tensor.layout.in_file(start.saturating_add(at));
        }
        let key = format!("{} {} {:?}", entry.name, tensor.storage, (&tensor.ty, &tensor.layout));
        found.push((path.clone(), Weight { key, data }));
    }
    Ok(found)
}

/// A tensor of a pickle.
#[derive(Clone, Debug)]
pub struct PickledTensor {
    /// Name of its storage: an entry of the archive.
    pub storage: String,
    pub ty: ArrayType,
    /// Where its numbers lie in the storage.
    pub layout: Layout,
}

/// The tensor that a pickle's call would build; `None` if it builds something else.
pub fn pickled_tensor(pickle: &Pickle, id: Id) -> Option<PickledTensor> {
    tensor(pickle, id, 4)
}

/// The tensor that a call would build; a call that builds a parameter wraps the call that builds its tensor.
fn tensor(pickle: &Pickle, id: Id, depth: u32) -> Option<PickledTensor> {
    let PickleValue::Call { function, arguments, .. } = pickle.get(id) else { return None };
    let PickleValue::Global(function) = pickle.get(*function) else { return None };
    let arguments = pickle.items(*arguments);
    match function.as_str() {
        "torch._utils _rebuild_tensor_v2" | "torch._utils _rebuild_tensor" => {
            let [persistent, first, sizes, strides, ..] = arguments else { return None };
            let PickleValue::Persistent(storage) = pickle.get(*persistent) else { return None };
            let [_, kind, key, ..] = pickle.items(*storage) else { return None };
            let (PickleValue::Global(kind), PickleValue::Text(key)) = (pickle.get(*kind), pickle.get(*key)) else {
                return None;
            };
            let numbers = |id: Id| pickle.items(id).iter().map(|&n| int(pickle, n)).collect::<Option<Vec<i64>>>();
            let dims = numbers(*sizes)?.into_iter().map(|n| u64::try_from(n).ok()).collect::<Option<Vec<u64>>>()?;
            let ty = ArrayType::new(storage_element(kind)?, dims);
            ty.elements()?;
            let layout = Layout::new(&ty, &numbers(*strides)?, u64::try_from(int(pickle, *first)?).ok()?)?;
            Some(PickledTensor { storage: key.clone(), ty, layout })
        }
        "torch._utils _rebuild_parameter" if depth > 0 => tensor(pickle, *arguments.first()?, depth - 1),
        _ => None,
    }
}

fn int(pickle: &Pickle, id: Id) -> Option<i64> {
    match pickle.get(id) {
        PickleValue::Int(n) => Some(*n),
        _ => None,
    }
}

/// The element type of a storage class: `torch FloatStorage`.
fn storage_element(kind: &str) -> Option<ElementType> {
    Some(match kind.rsplit(' ').next()? {
        "FloatStorage" => ElementType::F32,
        "DoubleStorage" => ElementType::F64,
        "HalfStorage" => ElementType::F16,
        "BFloat16Storage" => ElementType::Bf16,
        "LongStorage" => ElementType::S64,
        "IntStorage" => ElementType::S32,
        "ShortStorage" => ElementType::S16,
        "CharStorage" => ElementType::S8,
        "ByteStorage" => ElementType::U8,
        "BoolStorage" => ElementType::Pred,
        "ComplexFloatStorage" => ElementType::C64,
        "ComplexDoubleStorage" => ElementType::C128,
        _ => return None,
    })
}
