//! The work of a kernel, for a meter that knows its cost.

/// One piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// An operation on integers or addresses, a test of a condition.
    Integer,
    /// An operation in single precision: arithmetic, comparison, conversion.
    Float,
    /// The same in double precision.
    Double,
    /// A division or remainder of integers or floats.
    Divide,
    /// A function of the mathematical library in single precision.
    Function,
    /// The same in double precision.
    DoubleFunction,
    /// A jump that is taken: the end of a loop's body, a skipped branch.
    Jump,
    /// A call and its return.
    Call,
    /// An access to local memory (TCM), the stack included.
    Tcm,
    /// An access of one element to device memory (HBM), through a standard accessor.
    HbmAccess { bytes: u64 },
    /// A copy between device memory and TCM, by DMA, that the processor waits for.
    Dma { bytes: u64 },
    /// Filling or copying a tensor in device memory.
    TensorMove {
        /// Bytes written.
        bytes: u64,
    },
}

impl Work {
    /// Bytes that it reads from device memory or writes there.
    pub const fn memory_bytes(self) -> u64 {
        match self {
            Self::HbmAccess { bytes } | Self::Dma { bytes } | Self::TensorMove { bytes } => bytes,
            _ => 0,
        }
    }
}

/// Receives the work of one processor.
pub trait Meter {
    /// A statement or the condition of a loop on this line is about to run.
    fn line(&mut self, line: u32);
    /// Work was done for this line.
    fn work(&mut self, line: u32, work: Work);
}

impl<M: Meter> Meter for &mut M {
    fn line(&mut self, line: u32) {
        (**self).line(line);
    }

    fn work(&mut self, line: u32, work: Work) {
        (**self).work(line, work);
    }
}
