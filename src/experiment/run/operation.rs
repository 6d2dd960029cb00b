//! A program on the processor, as [`do_bench`](crate::micro::do_bench) times it.

use super::error::RunError;
use super::network::Program;
use crate::micro::TimedOperation;

/// Bytes that clear the caches, as in the suite.
const CACHE_BYTES: usize = 256_000_000;

/// A program, and a buffer that displaces it from the caches.
pub(super) struct ProgramOperation<'a> {
    program: &'a Program,
    buffer: Vec<u8>,
    fill: u8,
}

impl<'a> ProgramOperation<'a> {
    /// Nothing calls the program before the benchmark does.
    pub fn new(program: &'a Program) -> Self {
        Self { program, buffer: vec![0; CACHE_BYTES], fill: 0 }
    }
}

impl TimedOperation for ProgramOperation<'_> {
    type Error = RunError;

    fn call(&mut self) -> Result<(), RunError> {
        // The outputs are read, so that the computation cannot be optimised away.
        std::hint::black_box(self.program.run()?);
        Ok(())
    }

    fn empty_caches(&mut self) {
        self.fill = self.fill.wrapping_add(1);
        self.buffer.fill(self.fill);
        std::hint::black_box(&self.buffer);
    }
}
