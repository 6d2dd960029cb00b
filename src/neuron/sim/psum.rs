//! The port of PSUM, which engines share on some cores.

use ns_base::SimTime;
use ns_machine::cost::CostTable;
use ns_machine::isa::Instruction;

/// The port through which the vector and the scalar engine read PSUM.
#[derive(Clone, Copy, Debug)]
pub(super) struct PsumPort {
    is_shared: bool,
    /// When an engine that shares the port with another can read again.
    free_at: SimTime,
}

impl PsumPort {
    /// A port that nobody has read through.
    pub const fn new(costs: &CostTable) -> Self {
        Self { is_shared: costs.engine.psum_readers <= 1, free_at: SimTime::ZERO }
    }

    /// Whether an instruction has to take its turn at the port.
    #[inline]
    pub const fn is_needed(&self, instruction: &Instruction) -> bool {
        self.is_shared && instruction.from_psum
    }

    /// When an instruction that needs the port and is due can read PSUM; it holds the port for `time` from then on.
    #[inline]
    pub fn read(&mut self, due: SimTime, time: SimTime) -> SimTime {
        let start = due.max(self.free_at);
        self.free_at = start + time;
        start
    }
}
