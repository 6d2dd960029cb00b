//! Operations on whole rows that the machine has instructions for the parts of: norms and softmax.
//!
//! Rows are on the partitions. A layer norm is three passes of the vector engine: the statistics of each row, then the row
//! less its mean times the weight, then that times the reciprocal deviation plus the bias. Weight and bias lie along the
//! rows: the weight comes from PSUM, where the array repeats it over the partitions, the bias from SBUF, which makes its
//! pass twice as long. Where only products read the result, it is turned first, and weight and bias are applied as the
//! turned blocks leave PSUM: along the partitions they are scalars. An RMS norm has no mean to take: the scalar engine squares the
//! row and sums what it writes in one pass (`activation_reduce`, max(64, N) + 64 cycles), the vector engine makes the reciprocal root of
//! it, and the row times that times the weight is one pass more. A softmax is the maximum in one pass of the vector engine, the exponential with its
//! sum in one of the scalar engine, and the quotient in one of the vector engine; scores are read from PSUM directly.

use super::CodegenError;
use super::emitter::Purpose;
use super::idioms::{Norm, Softmax};
use super::program::{Generator, latest};
use super::tiles::{InFlight, Pipeline, SQUARE, Step, StepKind};
use super::value::{Layout, Resident, Value, blocks};
use crate::compiler::hlo::InstrId;
use crate::machine::SourceId;
use crate::machine::cost::decisions::STATISTICS_CHUNK_ELEMENTS;
use crate::machine::isa::Wait;

impl Generator<'_> {
    /// Emits a norm at its first instruction.
    pub(super) fn norm(&mut self, norm: &Norm) -> Result<(), CodegenError> {
        let user = norm.centring.map_or(norm.squares, |(sum, _)| sum);
        let rows = self.in_layout(norm.of, user, Layout::RowMajor)?;
        let affine = self.affine_rows(norm.result)?;
        let mut steps = self.statistics_steps(norm, rows.free_elements);
        let result = self.sources.of(norm.result);
        let centred = norm.centring.map_or(result, |(_, centred)| self.sources.of(centred));
        let own = |kind, after, source| Step { source: Some(source), ..Step::new(kind, after) };
        let turned = self.only_matmuls_read(norm.result);
        let mut resident = if turned {
            steps.push(own(StepKind::RowScale, Vec::new(), centred));
            Resident::of(Layout::FeatureMajor, rows.partition_elements, rows.free_elements)
        } else {
            let scaled = if norm.scales { StepKind::TensorsRepeated } else { StepKind::RowScale };
            steps.push(own(scaled, affine.clone(), centred));
            if norm.shifts {
                steps.push(own(StepKind::Tensors { of_main: false }, affine.clone(), result));
            }
            Resident { bytes: 0, ready: Vec::new(), ..rows.clone() }
        };
        let element_bytes = self.element_bytes(norm.result);
        resident.bytes = self.resident_bytes(resident.partition_elements, resident.free_elements, element_bytes);
        let room = self.take(norm.result, resident.bytes)?;
        let normalised = self.emit_rows(&rows, &steps, &room, norm.result);
        resident.ready = latest(if turned { self.turn_rows(&rows, &normalised, &affine, result) } else { normalised });
        self.absorb(&norm.parts, &resident);
        self.set_resident(norm.result, resident);
        self.done.insert(norm.result);
        Ok(())
    }

    /// Mean and reciprocal deviation of each row, or the reciprocal root of its mean square.
    fn statistics_steps(&mut self, norm: &Norm, row: u64) -> Vec<Step> {
        let own = |kind, source| Step { source: Some(source), ..Step::new(kind, Vec::new()) };
        let Some((sum, _)) = norm.centring else {
            let sources = [norm.squares, norm.deviation].map(|id| self.sources.of(id));
            return vec![own(StepKind::FunctionSum(SQUARE), sources[0]), own(StepKind::RowScalar, sources[1])];
        };
        let chunks = u32::try_from(row.div_ceil(u64::from(STATISTICS_CHUNK_ELEMENTS))).unwrap_or(u32::MAX).max(1);
        let sources = [sum, norm.squares, norm.deviation].map(|id| self.sources.of(id));
        let mut steps = vec![own(StepKind::RowStatistic { chunks }, sources[0]); chunks as usize];
        if chunks > 1 {
            steps.push(own(StepKind::RowScalar, sources[1]));
        }
        steps.push(own(StepKind::RowScalar, sources[2]));
        steps
    }

    /// Turns normalised rows through the array, a block of them as soon as it is there; weight and bias are applied as
    /// the turned blocks leave PSUM.
    fn turn_rows(&mut self, rows: &Resident, blocks_ready: &[Wait], affine: &[Wait], source: SourceId) -> Vec<Wait> {
        let purpose = Purpose::execution(source);
        let mut ready = Vec::new();
        for (here, block_ready) in rows.partition_blocks(self.core.partitions).zip(blocks_ready) {
            let columns = blocks(rows.free_elements, self.core.partitions);
            let turns: Vec<(u32, u32)> = columns.map(|columns| (here, columns)).collect();
            let mut after = vec![*block_ready];
            after.extend_from_slice(affine);
            ready.extend(self.turn_blocks(&turns, purpose, &after));
        }
        ready
    }

    /// Emits a softmax of what is in SBUF at its first reduction.
    pub(super) fn softmax(&mut self, softmax: &Softmax) -> Result<(), CodegenError> {
        let rows = self.in_layout(softmax.of, softmax.max, Layout::RowMajor)?;
        let mut resident = Resident { bytes: 0, ready: Vec::new(), ..rows.clone() };
        let element_bytes = self.element_bytes(softmax.result);
        resident.bytes = self.resident_bytes(resident.partition_elements, resident.free_elements, element_bytes);
        let room = self.take(softmax.result, resident.bytes)?;
        let steps = self.softmax_steps(softmax);
        resident.ready = latest(self.emit_rows(&rows, &steps, &room, softmax.result));
        self.absorb_softmax(softmax, &resident);
        self.set_resident(softmax.result, resident);
        Ok(())
    }

    /// The steps of one block of rows.
    pub(super) fn softmax_steps(&mut self, softmax: &Softmax) -> Vec<Step> {
        [
            (StepKind::RowStatistic { chunks: 1 }, softmax.max),
            (StepKind::FunctionSum("exponential"), softmax.exponential),
            (StepKind::RowScale, softmax.result),
        ]
        .into_iter()
        .map(|(kind, id)| Step { source: Some(self.sources.of(id)), ..Step::new(kind, Vec::new()) })
        .collect()
    }

    /// Marks the parts of a softmax as computed.
    pub(super) fn absorb_softmax(&mut self, softmax: &Softmax, result: &Resident) {
        self.absorb(&softmax.parts, result);
        self.done.insert(softmax.result);
    }

    /// Marks values that only exist inside an operation as computed; they take no space of their own.
    fn absorb(&mut self, parts: &[InstrId], result: &Resident) {
        for part in parts {
            self.set_resident(*part, Resident { bytes: 0, ..result.clone() });
            self.done.insert(*part);
        }
    }

    /// Emits steps for every block of rows; the completion of each block in order.
    fn emit_rows(&mut self, rows: &Resident, steps: &[Step], room: &[Wait], result: InstrId) -> Vec<Wait> {
        let purpose = Purpose::execution(self.sources.of(result));
        let mut after = rows.ready.clone();
        after.extend_from_slice(room);
        let free = u32::try_from(rows.free_elements).unwrap_or(u32::MAX);
        let mut pipeline = Pipeline::default();
        for _ in rows.partition_blocks(self.core.partitions) {
            self.enter(&mut pipeline, InFlight::new(free, None, after.clone()), steps, purpose);
        }
        self.drain(&mut pipeline, steps, purpose);
        pipeline.ready
    }

    /// What must be complete before weight and bias of a norm are read.
    fn affine_rows(&mut self, result: InstrId) -> Result<Vec<Wait>, CodegenError> {
        let mut waits = Vec::new();
        for (id, member) in self.members_of(result) {
            if !self.define_lazy(id, member) {
                continue;
            }
            if let Value::Broadcast { of, via, .. } = self.value(id)?.clone()
                && let Ok(Value::Weight { parameter, .. }) = self.value(of).cloned()
            {
                waits.push(self.load_vector(parameter, via)?);
            }
        }
        Ok(waits)
    }
}
