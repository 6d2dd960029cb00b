//! Streaming accessors: sequential reads and writes through 4 KB of TCM each.

use super::machine::{Machine, Stop, stop};
use super::work::{Meter, Work};
use crate::problem::{Pos, Problem};
use crate::types::Scalar;
use crate::value::Value;
use ns_base::convert::{u64_to_usize, usize_to_u32};

/// The size of a streaming accessor's buffer in the TCM pool (API reference).
const BUFFER_BYTES: u64 = 4 * 1024;
/// Most streaming accessors that can be fast at the same time (API reference).
const FAST_STREAMS: usize = 4;

pub(super) struct Stream {
    tensor: u32,
    of: Scalar,
    writes: bool,
    open: bool,
    at: u64,
    /// Elements written since the last copy to device memory.
    pending: u64,
    /// Its buffer in the pool; a slow accessor has none.
    buffer: Option<u64>,
}

impl Stream {
    const fn elements_of_buffer(&self) -> u64 {
        BUFFER_BYTES / self.of.bytes()
    }
}

impl<M: Meter> Machine<M> {
    /// `read_stream_accessor` and `write_stream_accessor`.
    pub(super) fn open_stream(&mut self, pos: Pos, tensor: u32, of: Scalar, writes: bool) -> Result<Value, Stop> {
        let what = if writes { "write_stream_accessor()" } else { "read_stream_accessor()" };
        self.single_core_only(pos, what)?;
        self.element_type(pos, tensor, of, what)?;
        let same = self.streams.iter().filter(|s| s.open && s.tensor == tensor);
        let conflict = if writes { same.count() > 0 } else { same.filter(|s| s.writes).count() > 0 };
        if conflict && self.tensor_policy(tensor) == 0 {
            let text = if writes {
                "a write stream is opened on a tensor that another streaming accessor uses; close the other accessor first"
            } else {
                "a read stream is opened on a tensor that a write stream uses; close the other accessor first"
            };
            return Err(stop(pos, Problem::error("incoherent", text)));
        }
        let active = self.streams.iter().filter(|s| s.open).count() + 1;
        let buffer = if active > FAST_STREAMS { None } else { self.memory.reserve(BUFFER_BYTES).ok() };
        if active > FAST_STREAMS {
            let text = format!(
                "{active} streaming accessors are active; beyond {FAST_STREAMS} each is as slow as the standard accessor"
            );
            self.note(pos, Problem::warning("many_streams", text));
        } else if buffer.is_none() {
            self.note(pos, Problem::tcm_exhausted(BUFFER_BYTES, 0, self.options.tcm_pool_bytes));
        }
        let number = usize_to_u32(self.streams.len());
        self.streams.push(Stream { tensor, of, writes, open: true, at: 0, pending: 0, buffer });
        self.work(pos, Work::Call);
        Ok(Value::Stream(number))
    }

    /// `read()`
    pub(super) fn read_stream(&mut self, pos: Pos, stream: u32) -> Result<Value, Stop> {
        let (tensor, at, fast, len) = self.stream_access(pos, stream)?;
        if !fast {
            let bytes = self.tensors[tensor as usize].of.bytes();
            self.work(pos, Work::HbmAccess { bytes });
        } else {
            if at % len == 0 {
                self.copy_of_stream(pos, tensor, at, len);
            }
            self.work(pos, Work::Tcm);
            self.work(pos, Work::Integer);
        }
        let t = &self.tensors[tensor as usize];
        if t.writer[u64_to_usize(at)] == 0 {
            return Err(stop(pos, Problem::uninitialised(&format!("element {at} of the tensor"))));
        }
        let value = t.read(u64_to_usize(at));
        self.streams[stream as usize].at += 1;
        Ok(value)
    }

    /// `write(value)`
    pub(super) fn write_stream(&mut self, pos: Pos, stream: u32, value: Value) -> Result<(), Stop> {
        let (tensor, at, fast, len) = self.stream_access(pos, stream)?;
        let mark = self.mark();
        self.tensors[tensor as usize].write(u64_to_usize(at), value, mark);
        let s = &mut self.streams[stream as usize];
        s.at += 1;
        s.pending += 1;
        let full = s.pending == len;
        if !fast {
            let bytes = self.tensors[tensor as usize].of.bytes();
            self.work(pos, Work::HbmAccess { bytes });
            return Ok(());
        }
        self.work(pos, Work::Tcm);
        self.work(pos, Work::Integer);
        if full {
            self.flush(pos, stream);
        }
        Ok(())
    }

    /// The tensor, the next element, whether the stream is fast, and the elements of its buffer.
    fn stream_access(&mut self, pos: Pos, stream: u32) -> Result<(u32, u64, bool, u64), Stop> {
        let Some(s) = self.streams.get(stream as usize) else { return Err(stop(pos, Problem::null_pointer())) };
        if !s.open {
            let text = "the streaming accessor is used after close(); close it after its last use";
            return Err(stop(pos, Problem::error("invalid", text)));
        }
        let elements = self.tensors[s.tensor as usize].elements();
        if s.at >= elements {
            let text = format!("the stream is out of bounds: element {} of {elements}", s.at);
            return Err(stop(pos, Problem::error("out_of_bounds", text)));
        }
        Ok((s.tensor, s.at, s.buffer.is_some(), s.elements_of_buffer()))
    }

    fn copy_of_stream(&mut self, pos: Pos, tensor: u32, at: u64, len: u64) {
        let t = &self.tensors[tensor as usize];
        let bytes = len.min(t.elements() - at) * t.of.bytes();
        self.work(pos, Work::Dma { bytes });
    }

    fn flush(&mut self, pos: Pos, stream: u32) {
        let s = &mut self.streams[stream as usize];
        let bytes = s.pending * s.of.bytes();
        s.pending = 0;
        if s.writes && s.buffer.is_some() && bytes > 0 {
            self.work(pos, Work::Dma { bytes });
        }
    }

    /// `close()`
    pub(super) fn close_stream(&mut self, pos: Pos, stream: u32) {
        self.flush(pos, stream);
        let Some(s) = self.streams.get_mut(stream as usize) else { return };
        s.open = false;
        if let Some(start) = s.buffer.take() {
            self.memory.release(start);
        }
    }

    /// Streams end with the function that opened them.
    pub(super) fn end_streams(&mut self, first: usize, pos: Pos) -> Result<(), Stop> {
        for stream in first..self.streams.len() {
            if self.streams[stream].open {
                self.close_stream(pos, usize_to_u32(stream));
            }
        }
        Ok(())
    }
}
