//! Local memory of one processor: the TCM pool of `tcm_malloc` and the stack. For every byte it records whether it was
//! written.

use super::tensor::{decode, encode, zeroed};
use crate::problem::{Diagnostic, Pos, Problem};
use crate::types::Scalar;
use crate::value::{Pointer, Value};
use ns_base::convert::usize_to_u32;

/// Size of the stack in local memory; a larger stack lies in slower memory (API reference: about 8 KB by default).
const FAST_STACK_BYTES: u64 = 8 * 1024;
/// The largest stack (API reference: 400 KB).
const MAX_STACK_BYTES: u64 = 400 * 1024;
/// Most buffers and arrays in one run.
const MAX_BLOCKS: usize = 100_000;

struct Block {
    bytes: Vec<u8>,
    written: Vec<bool>,
    /// The line of its allocation, for messages.
    pos: Pos,
    /// Its offset in the pool; `None` for the stack.
    pool_start: Option<u64>,
    live: bool,
    /// Whether it is in device memory.
    slow: bool,
}

/// Blocks by number; number 0 is null.
pub(crate) struct Memory {
    blocks: Vec<Block>,
    /// Pieces of the pool in use, ascending: start and length.
    used: Vec<(u64, u64)>,
    pool_bytes: u64,
    stack_bytes: u64,
}

impl Memory {
    /// An empty memory with a pool of this size.
    pub fn new(pool_bytes: u64) -> Self {
        let null = Block {
            bytes: Vec::new(),
            written: Vec::new(),
            pos: Pos::default(),
            pool_start: None,
            live: false,
            slow: false,
        };
        Self { blocks: vec![null], used: Vec::new(), pool_bytes, stack_bytes: 0 }
    }

    /// Takes a piece of the pool, first fit; if none fits, returns the size of the largest free piece.
    pub fn reserve(&mut self, bytes: u64) -> Result<u64, u64> {
        let bytes = bytes.max(1).checked_next_multiple_of(8).unwrap_or(u64::MAX);
        let (mut at, mut largest) = (0, 0);
        let mut place = None;
        for (index, &(start, len)) in self.used.iter().enumerate() {
            largest = largest.max(start - at);
            if start - at >= bytes && place.is_none() {
                place = Some((index, at));
            }
            at = start + len;
        }
        largest = largest.max(self.pool_bytes - at);
        if place.is_none() && self.pool_bytes - at >= bytes {
            place = Some((self.used.len(), at));
        }
        let Some((index, start)) = place else { return Err(largest) };
        self.used.insert(index, (start, bytes));
        Ok(start)
    }

    /// Gives a piece back.
    pub fn release(&mut self, start: u64) {
        self.used.retain(|piece| piece.0 != start);
    }

    /// `tcm_malloc`: a pointer, or the size of the largest free piece when the pool does not suffice.
    pub fn malloc(&mut self, bytes: u64, pos: Pos) -> Result<Pointer, u64> {
        let start = self.reserve(bytes)?;
        // A block that fits in the pool is small.
        self.push(bytes, pos, Some(start), false).ok_or(0)
    }

    fn push(&mut self, bytes: u64, pos: Pos, pool_start: Option<u64>, slow: bool) -> Option<Pointer> {
        let len = usize::try_from(bytes).ok()?;
        if self.blocks.len() > MAX_BLOCKS {
            return None;
        }
        let block = u32::try_from(self.blocks.len()).ok()?;
        self.blocks.push(Block { bytes: zeroed(len)?, written: vec![false; len], pos, pool_start, live: true, slow });
        Some(Pointer { block, offset: 0 })
    }

    /// `tcm_free`; null is allowed. Fails when the pointer is not the start of a live buffer.
    pub fn free(&mut self, p: Pointer) -> Result<(), Problem> {
        if p.block == 0 {
            return Ok(());
        }
        let Some(block) = self.blocks.get_mut(p.block as usize) else { return Err(Problem::null_pointer()) };
        let Some(start) = block.pool_start else {
            let text =
                "tcm_free() needs a pointer that tcm_malloc() returned; this one points to an array on the stack";
            return Err(Problem::error("bad_free", text));
        };
        if !block.live {
            let line = block.pos.line;
            let text = format!("the TCM buffer from line {line} is freed twice; call tcm_free() once");
            return Err(Problem::error("double_free", text));
        }
        if p.offset != 0 {
            let text = "tcm_free() needs a pointer that tcm_malloc() returned; this one points into a buffer and not to its start";
            return Err(Problem::error("bad_free", text));
        }
        block.live = false;
        block.bytes = Vec::new();
        block.written = Vec::new();
        self.release(start);
        Ok(())
    }

    /// An array on the stack, and whether the stack has just outgrown its fast part.
    pub fn stack_array(&mut self, bytes: u64, pos: Pos) -> Option<(Pointer, bool)> {
        let before = self.stack_bytes;
        self.stack_bytes += bytes;
        if self.stack_bytes > MAX_STACK_BYTES {
            return None;
        }
        let slow = self.stack_bytes > FAST_STACK_BYTES;
        let pointer = self.push(bytes, pos, None, slow)?;
        Some((pointer, slow && before <= FAST_STACK_BYTES))
    }

    /// Ends the life of an array on the stack.
    pub fn end_stack_array(&mut self, p: Pointer) {
        if let Some(block) = self.blocks.get_mut(p.block as usize)
            && block.live
            && block.pool_start.is_none()
        {
            block.live = false;
            self.stack_bytes -= block.bytes.len() as u64;
            block.bytes = Vec::new();
            block.written = Vec::new();
        }
    }

    /// The number of blocks so far.
    pub const fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Ends the arrays of a function; `first` is the number of blocks when the function began.
    pub fn end_stack_from(&mut self, first: usize) {
        for block in first..self.blocks.len() {
            self.end_stack_array(Pointer { block: usize_to_u32(block), offset: 0 });
        }
        // Functions that are called often would otherwise leave a block for each call.
        while self.blocks.len() > first.max(1) && self.blocks.last().is_some_and(|b| !b.live && b.pool_start.is_none())
        {
            self.blocks.pop();
        }
    }

    /// Bytes of stack in use.
    pub const fn stack_bytes(&self) -> u64 {
        self.stack_bytes
    }

    /// The fast part of the stack.
    pub const fn fast_stack_bytes() -> u64 {
        FAST_STACK_BYTES
    }

    /// Whether the memory behind a pointer is device memory.
    pub fn is_slow(&self, p: Pointer) -> bool {
        self.blocks.get(p.block as usize).is_some_and(|b| b.slow)
    }

    /// Buffers that were never freed.
    pub fn leaks(&self) -> Vec<Diagnostic> {
        let leaked = self.blocks.iter().filter(|b| b.live && b.pool_start.is_some());
        let leak = |b: &Block| {
            let bytes = b.bytes.len();
            let text =
                format!("this TCM buffer of {bytes} bytes is never freed; call tcm_free() before the function returns");
            Diagnostic::new(b.pos, Problem::warning("tcm_leak", text))
        };
        leaked.map(leak).collect()
    }

    /// The bytes of an access, checked.
    fn range(&self, p: Pointer, len: u64) -> Result<(usize, std::ops::Range<usize>), Problem> {
        if p.block == 0 {
            return Err(Problem::null_pointer());
        }
        let Some(block) = self.blocks.get(p.block as usize) else { return Err(Problem::null_pointer()) };
        let line = block.pos.line;
        if !block.live && block.pool_start.is_some() {
            let text = format!("the TCM buffer from line {line} is used after tcm_free(); free it after its last use");
            return Err(Problem::error("use_after_free", text));
        }
        if !block.live {
            let text = format!("the array of line {line} is out of bounds: the function that declared it has returned");
            return Err(Problem::error("out_of_bounds", text));
        }
        let size = block.bytes.len();
        let start = usize::try_from(p.offset).ok();
        let range = start.and_then(|s| Some(s..s.checked_add(usize::try_from(len).ok()?)?)).filter(|r| r.end <= size);
        let Some(range) = range else {
            let what = if block.pool_start.is_some() { "the TCM buffer" } else { "the array" };
            let text = format!("{what} of line {line} is out of bounds: {len} byte(s) at byte {} of {size}", p.offset);
            return Err(Problem::error("out_of_bounds", text));
        };
        Ok((p.block as usize, range))
    }

    /// Reads a number. Fails outside a live block, or at bytes that were never written.
    pub fn load(&self, p: Pointer, of: Scalar) -> Result<Value, Problem> {
        let (block, range) = self.range(p, of.bytes())?;
        let block = &self.blocks[block];
        if !block.written[range.clone()].iter().all(|w| *w) {
            let element = p.offset / of.bytes().cast_signed();
            let what = format!("element {element} of the memory from line {}", block.pos.line);
            return Err(Problem::uninitialised(&what));
        }
        Ok(decode(&block.bytes[range], of))
    }

    /// Writes a number. Fails outside a live block.
    pub fn store(&mut self, p: Pointer, of: Scalar, value: Value) -> Result<(), Problem> {
        let (block, range) = self.range(p, of.bytes())?;
        let block = &mut self.blocks[block];
        encode(value, of, &mut block.bytes[range.clone()]);
        block.written[range].fill(true);
        Ok(())
    }

    /// The bytes of a copy that reads local memory, and whether each was written. Fails outside a live block.
    pub fn slice(&self, p: Pointer, len: u64) -> Result<(&[u8], &[bool]), Problem> {
        let (block, range) = self.range(p, len)?;
        let block = &self.blocks[block];
        Ok((&block.bytes[range.clone()], &block.written[range]))
    }

    /// The bytes of a copy that writes local memory. Fails outside a live block.
    pub fn slice_mut(&mut self, p: Pointer, len: u64) -> Result<(&mut [u8], &mut [bool]), Problem> {
        let (block, range) = self.range(p, len)?;
        let block = &mut self.blocks[block];
        Ok((&mut block.bytes[range.clone()], &mut block.written[range]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POS: Pos = Pos { line: 7, column: 1 };

    #[test]
    fn the_pool_is_first_fit() {
        let mut m = Memory::new(16 * 1024);
        let a = m.malloc(8 * 1024, POS).unwrap();
        let b = m.malloc(4 * 1024, POS).unwrap();
        assert_eq!(m.malloc(8 * 1024, POS), Err(4 * 1024));
        m.free(a).unwrap();
        assert!(m.malloc(6 * 1024, POS).is_ok());
        assert!(m.malloc(4 * 1024, POS).is_ok());
        assert_eq!(m.malloc(4 * 1024, POS), Err(2 * 1024));
        assert_eq!(m.free(a).unwrap_err().code(), "double_free");
        assert_eq!(m.free(Pointer { offset: 4, ..b }).unwrap_err().code(), "bad_free");
        assert_eq!(m.free(Pointer::default()), Ok(()));
        assert_eq!(m.leaks().len(), 3);
    }

    #[test]
    fn every_access_is_checked() {
        let mut m = Memory::new(64);
        let p = m.malloc(8, POS).unwrap();
        let at = |offset| Pointer { offset, ..p };
        assert_eq!(m.load(p, Scalar::F32).unwrap_err().code(), "uninitialised");
        m.store(at(4), Scalar::F32, Value::F32(1.5)).unwrap();
        assert_eq!(m.load(at(4), Scalar::F32), Ok(Value::F32(1.5)));
        for bad in [-4, 5, 8, i64::MAX] {
            assert_eq!(m.store(at(bad), Scalar::F32, Value::F32(0.0)).unwrap_err().code(), "out_of_bounds");
        }
        assert_eq!(m.load(Pointer::default(), Scalar::F32).unwrap_err().code(), "null_pointer");
        m.free(p).unwrap();
        assert_eq!(m.load(at(4), Scalar::F32).unwrap_err().code(), "use_after_free");
    }
}
