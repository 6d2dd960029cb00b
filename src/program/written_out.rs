//! How large a program is once its calls are written out.

use super::Program;
use ns_base::Idx;

/// Instructions of each computation with those of all that it calls, in the order of the computations; a loop's body and each branch count
/// once. Saturates: forty computations that call each other twice have a million million.
pub fn written_out(program: &Program) -> Vec<u64> {
    let mut sizes: Vec<u64> = Vec::with_capacity(program.computations.len());
    // A computation calls only those before it.
    for computation in program.computations.iter() {
        let called = computation.instructions.iter().flat_map(|instruction| &instruction.called);
        let inside = called.filter_map(|id| sizes.get(id.index()));
        sizes.push(inside.fold(computation.instructions.len() as u64, |sum, size| sum.saturating_add(*size)));
    }
    sizes
}
