//! Pickles, read and never executed: the calls that would build their objects are kept as written.

use ns_base::{Refusal, refuse};
use rustc_hash::FxHashMap;

/// The index of a value in a pickle.
pub type Id = usize;

#[derive(Clone, Debug, PartialEq)]
pub enum PickleValue {
    /// None, an empty set and other values that are not needed here.
    Nothing,
    Bool(bool),
    Int(i64),
    /// A floating point number.
    Float(f64),
    Text(String),
    /// A name of a module: `torch._utils _rebuild_tensor_v2`.
    Global(String),
    /// A tuple or a list.
    Items(Vec<Id>),
    /// A dictionary, or an object that has dictionary items.
    Map(Vec<(Id, Id)>),
    /// A persistent id: a reference to an object that is stored outside the pickle.
    Persistent(Id),
    /// A call that would build an object: the function, its arguments, and the items and state set later.
    Call {
        function: Id,
        arguments: Id,
        /// Items set later.
        items: Vec<(Id, Id)>,
        /// Its state: for an object, its fields as a dictionary.
        state: Option<Id>,
    },
}

#[derive(Debug)]
pub struct Pickle {
    values: Vec<PickleValue>,
    /// The value that it builds.
    pub root: Id,
}

impl Pickle {
    pub fn get(&self, id: Id) -> &PickleValue {
        self.values.get(id).unwrap_or(&PickleValue::Nothing)
    }

    /// The parts of a tuple or list.
    pub fn items(&self, id: Id) -> &[Id] {
        match self.get(id) {
            PickleValue::Items(items) => items,
            _ => &[],
        }
    }

    /// Reads a pickle of protocol 2 to 5. Fails when it is truncated or has an unknown operation: the error names the byte.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut reader = Reader {
            bytes,
            at: 0,
            values: vec![PickleValue::Nothing],
            stack: Vec::new(),
            marks: Vec::new(),
            memo: FxHashMap::default(),
        };
        loop {
            let at = reader.at;
            match reader.step() {
                Some(Step::Stop) => {
                    let root = reader.stack.pop().ok_or_else(|| refuse!("a pickle builds nothing"))?;
                    return Ok(Self { values: reader.values, root });
                }
                Some(Step::On) => {}
                None => return Err(refuse!("a pickle is damaged or not known at its byte {at}")),
            }
        }
    }
}

enum Step {
    On,
    Stop,
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    values: Vec<PickleValue>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: FxHashMap<u32, Id>,
}

impl Reader<'_> {
    /// Runs one operation; `None` if it is damaged or unknown.
    fn step(&mut self) -> Option<Step> {
        let code = self.byte()?;
        match code {
            b'.' => return Some(Step::Stop),
            // The protocol's version; the length of a frame.
            0x80 => {
                self.byte()?;
            }
            0x95 => {
                self.take(8)?;
            }
            b'Q' => {
                let id = self.stack.pop()?;
                self.push(PickleValue::Persistent(id));
            }
            b'(' => self.marks.push(self.stack.len()),
            b'0' => {
                self.stack.pop()?;
            }
            b'R' | 0x81 => {
                let (arguments, function) = (self.stack.pop()?, self.stack.pop()?);
                self.push(PickleValue::Call { function, arguments, items: Vec::new(), state: None });
            }
            b'b' => {
                let fields = self.stack.pop()?;
                let object = *self.stack.last()?;
                if let PickleValue::Call { state, .. } = &mut self.values[object] {
                    *state = Some(fields);
                }
            }
            b'N' | 0x8f | 0x88 | 0x89 | b'J' | b'K' | b'M' | 0x8a | b'G' => self.number(code)?,
            b'X' | b'B' | 0x8c | b'C' | b'U' | 0x8d | 0x8e | b'c' | 0x93 => self.word(code)?,
            b')' | b']' | b'}' | b't' | 0x85..=0x87 | b'a' | b'e' | b's' | b'u' => self.collect(code)?,
            b'q' | b'r' | 0x94 | b'h' | b'j' => self.remember(code)?,
            _ => return None,
        }
        Some(Step::On)
    }

    /// Pushes None, booleans and numbers.
    fn number(&mut self, code: u8) -> Option<()> {
        let value = match code {
            0x88 => PickleValue::Bool(true),
            0x89 => PickleValue::Bool(false),
            b'J' => PickleValue::Int(i64::from(i32::from_le_bytes(self.take(4)?.try_into().ok()?))),
            b'K' => PickleValue::Int(i64::from(self.byte()?)),
            b'M' => PickleValue::Int(i64::from(u16::from_le_bytes(self.take(2)?.try_into().ok()?))),
            0x8a => {
                let n = usize::from(self.byte()?);
                let raw = self.take(n)?;
                let mut wide = [if raw.last().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 }; 8];
                wide.get_mut(..n)?.copy_from_slice(raw);
                PickleValue::Int(i64::from_le_bytes(wide))
            }
            b'G' => PickleValue::Float(f64::from_be_bytes(self.take(8)?.try_into().ok()?)),
            _ => PickleValue::Nothing,
        };
        self.push(value);
        Some(())
    }

    /// Pushes strings, and names of classes and functions.
    fn word(&mut self, code: u8) -> Option<()> {
        let name = match code {
            b'X' | b'B' => return self.text(4),
            0x8c | b'C' | b'U' => return self.text(1),
            0x8d | 0x8e => return self.text(8),
            b'c' => format!("{} {}", self.line()?, self.line()?),
            _ => {
                let (name, module) = (self.stack.pop()?, self.stack.pop()?);
                match (&self.values[module], &self.values[name]) {
                    (PickleValue::Text(module), PickleValue::Text(name)) => format!("{module} {name}"),
                    _ => return None,
                }
            }
        };
        self.push(PickleValue::Global(name));
        Some(())
    }

    /// Builds tuples, lists and dictionaries, and adds items to them.
    fn collect(&mut self, code: u8) -> Option<()> {
        match code {
            b')' | b']' => self.push(PickleValue::Items(Vec::new())),
            b'}' => self.push(PickleValue::Map(Vec::new())),
            b't' => {
                let items = self.marked()?;
                self.push(PickleValue::Items(items));
            }
            b'a' => {
                let item = self.stack.pop()?;
                self.append(&[item])?;
            }
            b'e' => {
                let items = self.marked()?;
                self.append(&items)?;
            }
            b's' => {
                let value = self.stack.pop()?;
                let key = self.stack.pop()?;
                self.set_items(&[key, value])?;
            }
            b'u' => {
                let items = self.marked()?;
                self.set_items(&items)?;
            }
            // A tuple of one to three.
            _ => {
                let count = usize::from(code.checked_sub(0x84)?);
                let items = self.stack.split_off(self.stack.len().checked_sub(count)?);
                self.push(PickleValue::Items(items));
            }
        }
        Some(())
    }

    /// Memo: stores values under a number and gets them back.
    fn remember(&mut self, code: u8) -> Option<()> {
        let key = match code {
            b'q' | b'h' => u32::from(self.byte()?),
            b'r' | b'j' => u32::from_le_bytes(self.take(4)?.try_into().ok()?),
            _ => u32::try_from(self.memo.len()).ok()?,
        };
        if matches!(code, b'h' | b'j') {
            self.stack.push(*self.memo.get(&key)?);
        } else {
            self.memo.insert(key, *self.stack.last()?);
        }
        Some(())
    }

    fn push(&mut self, value: PickleValue) {
        self.stack.push(self.values.len());
        self.values.push(value);
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, n: usize) -> Option<&[u8]> {
        let part = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(part)
    }

    fn line(&mut self) -> Option<String> {
        let rest = self.bytes.get(self.at..)?;
        let end = memchr::memchr(b'\n', rest)?;
        self.at += end + 1;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    }

    /// A string with a length prefix of this many bytes.
    fn text(&mut self, width: usize) -> Option<()> {
        let mut wide = [0; 8];
        wide[..width].copy_from_slice(self.take(width)?);
        let n = usize::try_from(u64::from_le_bytes(wide)).ok()?;
        let text = String::from_utf8_lossy(self.take(n)?).into_owned();
        self.push(PickleValue::Text(text));
        Some(())
    }

    /// Values above the last mark.
    fn marked(&mut self) -> Option<Vec<Id>> {
        let mark = self.marks.pop()?;
        (mark <= self.stack.len()).then(|| self.stack.split_off(mark))
    }

    fn append(&mut self, items: &[Id]) -> Option<()> {
        let list = *self.stack.last()?;
        if let PickleValue::Items(all) = &mut self.values[list] {
            all.extend(items);
        }
        Some(())
    }

    fn set_items(&mut self, items: &[Id]) -> Option<()> {
        let map = *self.stack.last()?;
        let pairs = items.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        match &mut self.values[map] {
            PickleValue::Map(all) | PickleValue::Call { items: all, .. } => all.extend(pairs),
            _ => {}
        }
        Some(())
    }
}
