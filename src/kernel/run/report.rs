//! What can only be said when every processor is done: elements that nobody wrote, and why.

use super::machine::{RunOptions, Written};
use super::tensor::HbmTensor;
use crate::base::convert::place;
use crate::kernel::problem::{Diagnostic, Pos, Problem, add};

/// Adds a diagnostic when elements of the result were never written.
pub(super) fn unwritten(
    result: &HbmTensor,
    written: &[Written],
    options: &RunOptions,
    pos: Pos,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let count = result.writer.iter().filter(|w| **w == 0).count() as u64;
    let Some(first) = result.writer.iter().position(|w| *w == 0) else { return };
    let first = first as u64;
    let gap = result.writer.iter().skip(place(first)).take_while(|w| **w == 0).count() as u64;
    let explained =
        if options.multicore { slice_of_the_last(result.elements(), first, first + gap, written) } else { None };
    let (pos, explanation) = match explained {
        Some(text) => (written.last().map_or(pos, |w| w.pos), text),
        None => (pos, "; write every element, or fill the result first".to_owned()),
    };
    add(diagnostics, Diagnostic::new(pos, Problem::Unwritten { count, first, explanation }));
}

/// The mistake of multiplying the last processor's own, longer slice by its number: its slice begins too late, ends
/// outside, and leaves a gap before it.
fn slice_of_the_last(elements: u64, gap_start: u64, gap_end: u64, written: &[Written]) -> Option<String> {
    let cores = written.len() as u64;
    let last = cores.checked_sub(1).filter(|n| *n > 0)?;
    let (start, end) = written.last()?.span?;
    let share = elements / cores;
    let remainder = elements % cores;
    let begins_late = gap_start == share * last && gap_end == start.min(elements) && end > elements;
    if !begins_late || remainder == 0 || start != (share + remainder) * last {
        return None;
    }
    Some(format!(
        ". {elements} elements do not divide by {cores} processors: the last slice has {} elements, the others {share}. \
         Processor {last} begins at element {start}, which is its own length x {last}, instead of {gap_start} = {share} x {last}: \
         elements {gap_start} to {} are skipped and it ends {} beyond the tensor. Compute the offset from the length before \
         the remainder is added",
        share + remainder,
        gap_end - 1,
        end - elements,
    ))
}
