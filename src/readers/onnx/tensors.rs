//! Arrays of numbers in a file: their types, and where their numbers are.

use std::rc::Rc;

use super::arrays::MOST_CONSTANT;
use super::elements::{element, element_name, numbers};
use super::messages::{Tensor, TensorData};
use super::parse::Part;
use super::spans::{Spans, read};
use ns_base::convert::{low8, low32};
use ns_base::wire::{Fields, Wire};
use ns_base::{Refusal, refuse};
use ns_container::ByteSource;
use ns_program::{ArrayType, DataBeside, ElementType, ImportError, Numbers, Place, Value, round};

/// What to do with a file that does not keep to the rules of its format.
pub(super) const AGAIN: &str = "export the model again";

/// Most elements that are held in memory; the numbers of larger arrays stay in the file.
const MOST_HELD: u64 = 16 * 1024;

/// Most elements of an initializer of fractions that are held. A larger one is a parameter, whose values no time depends on; a link, which
/// carries what was read of a file, has no room for them.
const MOST_FRACTIONS: u64 = MOST_CONSTANT;

/// Most bytes of numbers in a form that has to be read as a whole, such as variable-length numbers.
const MOST_READ: u64 = 1 << 28;

/// The numbers of one of the typed fields.
#[derive(Default)]
struct TypedNumbers {
    whole: Vec<i64>,
    real: Vec<f64>,
}

impl TypedNumbers {
    /// The first integer with more bits than the elements have, or than a byte that holds two elements.
    fn beyond(&self, element: ElementType) -> Option<i64> {
        let bits = match element {
            // Two elements in each byte.
            ElementType::S4 | ElementType::U4 => 8,
            _ => element.bits().min(64),
        };
        let range = -(1i128 << (bits - 1))..1i128 << bits;
        self.whole.iter().copied().find(|&n| !range.contains(&i128::from(n)))
    }
}

/// An array whose fields are being read.
#[derive(Default)]
struct Draft {
    name: String,
    dims: Vec<i64>,
    code: u64,
    is_external: bool,
    /// Keys and values about the file with the numbers.
    beside: Vec<(String, String)>,
    raw: Option<(u64, u64)>,
    typed: TypedNumbers,
}

/// An array from bytes in memory.
pub(super) fn tensor(part: Part<'_>) -> Result<Tensor, ImportError> {
    let mut draft = Draft::default();
    let mut raw: &[u8] = &[];
    part.each(|field, value, content| {
        match field {
            9 => {
                draft.raw = Some((content.base, content.bytes.len() as u64));
                raw = content.bytes;
            }
            _ => draft.field(field, value),
        }
        Ok(())
    })?;
    draft.finish(part.base, MOST_HELD, None, |_, _| Ok(raw.to_vec()))
}

/// An array from a file; its numbers stay in the file if there are many.
pub(super) fn tensor_in_file(bytes: &dyn ByteSource, start: u64, end: u64) -> Result<Tensor, ImportError> {
    let mut draft = Draft::default();
    let mut spans = Spans::new(bytes, start, end);
    while let Some(span) = spans.next()? {
        // Packed numbers of four bytes have the same form in the file as raw ones.
        if span.field == 9 || span.field == 4 && span.len > 4 {
            draft.raw = Some((span.offset, span.len));
        } else if span.len == 0 && span.field != 8 {
            let value = match span.field {
                4 => Wire::Fixed32(low32(span.number)),
                10 => Wire::Fixed64(span.number),
                _ => Wire::Varint(span.number),
            };
            draft.field(span.field, value);
        } else if span.len <= MOST_READ {
            let content = read(bytes, span.offset, usize::try_from(span.len).unwrap_or(usize::MAX))?;
            draft.field(span.field, Wire::Bytes(&content));
        } else {
            let what = refuse!(
                instead = "save the weights as raw data or beside the model",
                "numbers of {} bytes are spelled in a variable-length form",
                span.len
            );
            return Err(ImportError::at(Place::Byte(span.offset), what));
        }
    }
    let is_fraction = element(draft.code).is_some_and(ElementType::is_float);
    let most = if is_fraction { MOST_FRACTIONS } else { MOST_HELD };
    draft.finish(start, most, Some(bytes), |offset, len| read(bytes, offset, len))
}

impl Draft {
    /// Takes a field other than raw numbers.
    fn field(&mut self, field: u32, value: Wire<'_>) {
        match field {
            1 => self.dims.extend(value.varints().map(|n| n.cast_signed())),
            2 => self.code = value.u64(),
            4 => self.reals(value, 4),
            5 | 7 | 11 => self.typed.whole.extend(value.varints().map(|n| n.cast_signed())),
            8 => self.name = value.text().into_owned(),
            10 => self.reals(value, 8),
            13 => {
                let mut pair = (String::new(), String::new());
                for (field, text) in Fields::of(value.bytes()) {
                    match field {
                        1 => pair.0 = text.text().into_owned(),
                        2 => pair.1 = text.text().into_owned(),
                        _ => {}
                    }
                }
                self.beside.push(pair);
            }
            14 => self.is_external = value.u64() == 1,
            _ => {}
        }
    }

    fn reals(&mut self, value: Wire<'_>, width: usize) {
        match value {
            Wire::Bytes(packed) => self.typed.real.extend(packed.chunks_exact(width).map(real)),
            one => self.typed.real.push(one.f64()),
        }
    }

    /// Where the numbers of an array of another file are.
    fn beside(&self, ty: &ArrayType) -> Result<DataBeside, Refusal> {
        let value = |key: &str| self.beside.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str());
        let number = |key: &str, default: u64| match value(key) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| refuse!("its {key} in another file is {text:?}")),
        };
        let file = value("location").ok_or_else(|| refuse!("its numbers are in another file without a name"))?;
        let (offset, len, wanted) = (number("offset", 0)?, number("length", ty.bytes())?, ty.bytes());
        if len != wanted {
            return Err(refuse!("{ty} needs {wanted} bytes and {len} are in {file}"));
        }
        Ok(DataBeside { file: file.to_owned(), offset, len })
    }

    /// The array, held if it has at most so many elements; `model` is the file, and `fetch` gives bytes of it.
    fn finish(
        self,
        base: u64,
        most_in_memory: u64,
        model: Option<&dyn ByteSource>,
        fetch: impl FnOnce(u64, usize) -> Result<Vec<u8>, ImportError>,
    ) -> Result<Tensor, ImportError> {
        let place = || if self.name.is_empty() { Place::Byte(base) } else { Place::Node(short(&self.name)) };
        let fail = |what: Refusal| ImportError::at(place(), what.advise(AGAIN));
        let Some(element) = element(self.code) else {
            let (name, code) = (element_name(self.code), self.code);
            return Err(fail(refuse!("an array has elements {name} ({code}), which no NeuronCore computes with")));
        };
        let dims = self.dims.iter().map(|&d| u64::try_from(d)).collect::<Result<Vec<u64>, _>>();
        let Ok(dims) = dims else {
            return Err(fail(refuse!("an array has negative sizes {:?}", self.dims)));
        };
        let ty = ArrayType::new(element, dims);
        let Some(count) = ty.elements().filter(|n| n.checked_mul(16).is_some()) else {
            return Err(fail(refuse!("the number of elements of {ty} is beyond 64 bits")));
        };
        if let Some(number) = self.typed.beyond(element) {
            return Err(fail(refuse!("{number} is not a number of {element}")));
        }
        let data = match self.raw {
            _ if self.is_external => {
                let data = self.beside(&ty).map_err(fail)?;
                let small = model.filter(|_| count <= most_in_memory).and_then(|model| data.bytes(model).ok());
                let constant = small.and_then(|raw| numbers(element, &raw, usize::try_from(count).ok()?));
                match constant {
                    Some(numbers) => TensorData::Inline(Rc::new(Value { ty: ty.clone(), numbers })),
                    None => TensorData::Beside(data),
                }
            }
            Some((offset, len)) => {
                if len < ty.bytes() {
                    return Err(fail(refuse!("{ty} needs {} bytes and {len} are there", ty.bytes())));
                }
                if count > most_in_memory {
                    TensorData::InFile { offset, len: ty.bytes() }
                } else {
                    let bytes = fetch(offset, usize::try_from(len).unwrap_or(usize::MAX))?;
                    let numbers = numbers(element, &bytes, usize::try_from(count).unwrap_or(0));
                    let numbers = numbers.ok_or_else(|| fail(refuse!("the bytes of {ty} are cut off")))?;
                    TensorData::Inline(Rc::new(Value { ty: ty.clone(), numbers }))
                }
            }
            None => match typed(element, &self.typed, count) {
                Some(numbers) => TensorData::Inline(Rc::new(Value { ty: ty.clone(), numbers })),
                None if self.typed.whole.is_empty() && self.typed.real.is_empty() => TensorData::Absent,
                None => {
                    let found = self.typed.whole.len() + self.typed.real.len();
                    return Err(fail(refuse!("{ty} needs {count} numbers and {found} are there")));
                }
            },
        };
        Ok(Tensor { name: Rc::from(self.name.as_str()), ty, data })
    }
}

/// Numbers of typed fields; `None` if their count differs from the elements.
fn typed(element: ElementType, typed: &TypedNumbers, count: u64) -> Option<Numbers> {
    let count = usize::try_from(count).ok()?;
    let reals = || (typed.real.len() == count).then(|| typed.real.clone());
    Some(match element {
        ElementType::F32 | ElementType::F64 => Numbers::Real(reals()?),
        ElementType::C64 | ElementType::C128 => {
            let pairs: Vec<[f64; 2]> = typed.real.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
            (pairs.len() == count).then_some(Numbers::Complex(pairs))?
        }
        _ if typed.whole.len() != count && !matches!(element, ElementType::S4 | ElementType::U4) => return None,
        ElementType::S4 | ElementType::U4 => {
            let bytes: Vec<u8> = typed.whole.iter().map(|&n| low8(n.cast_unsigned())).collect();
            numbers(element, &bytes, count)?
        }
        _ if element.is_float() => {
            Numbers::Real(typed.whole.iter().map(|&n| element.real_of_bits(n.cast_unsigned())).collect())
        }
        _ => Numbers::Whole(typed.whole.iter().map(|&n| round::whole(element, n)).collect()),
    })
}

/// A number from four or eight bytes.
fn real(bytes: &[u8]) -> f64 {
    let word = bytes.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
    if bytes.len() == 8 { f64::from_bits(word) } else { f64::from(f32::from_bits(low32(word))) }
}

/// The beginning of a name, for a message.
pub(super) fn short(name: &str) -> String {
    const MOST: usize = 120;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}... ({} bytes)", &name[..end], name.len()),
        None => name.to_owned(),
    }
}
