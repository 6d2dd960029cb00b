//! Operations that move nothing or little: transposes and reshapes of what is in SBUF, slices, joins, table look-ups.

use super::CodegenError;
use super::emitter::Transfer;
use super::program::{Generator, latest};
use super::value::{Layout, Resident, Value, matrix_of};
use crate::compiler::hlo::InstrId;
use crate::machine::cost::decisions::IMAGE_RANK;
use crate::machine::isa::{DmaDirection, DmaQueue};

impl Generator<'_> {
    /// A transpose of what is in SBUF: the same bytes. Where the last dimension changes, what were the columns are rows
    /// now; other permutations only rename blocks.
    pub(super) fn transpose_resident(&mut self, id: InstrId, permutation: &[u32]) -> Result<(), CodegenError> {
        let mut resident = self.view_of(id)?;
        let last = permutation.len().saturating_sub(1);
        if permutation.last().is_some_and(|p| *p as usize != last) {
            resident.layout = match resident.layout {
                Layout::FeatureMajor => Layout::RowMajor,
                Layout::RowMajor => Layout::FeatureMajor,
            };
        }
        // What convolutions gather is not in SBUF yet.
        if self.only_gathered(id) {
            resident.layout = Layout::FeatureMajor;
        }
        // An image [n, c, h, w] has its channels on the partitions whatever the order of its dimensions is called; as
        // tokens [n, h x w, c] that is feature-major.
        if permutation.len() == 3 && permutation == [0, 2, 1] && self.came_from_image(id) {
            resident.layout = Layout::FeatureMajor;
        }
        self.set_view(id, resident);
        Ok(())
    }

    /// A reshape of what is in SBUF: the same bytes.
    pub(super) fn reshape_resident(&mut self, id: InstrId) -> Result<(), CodegenError> {
        let resident = self.view_of(id)?;
        self.set_view(id, resident);
        Ok(())
    }

    /// A slice of what is in SBUF, read in place.
    pub(super) fn slice_resident(&mut self, id: InstrId) -> Result<(), CodegenError> {
        let operand = self.operand(id, 0)?;
        let (whole, part) = (self.instruction(operand)?.shape.clone(), self.instruction(id)?.shape.clone());
        let mut resident = self.view_of(id)?;
        let columns_cut = matrix_of(&whole).1 != matrix_of(&part).1;
        let keep = |n: u64| (n * part.elements()).div_ceil(whole.elements().max(1)).max(1);
        match (resident.layout, columns_cut) {
            (Layout::FeatureMajor, true) | (Layout::RowMajor, false) => {
                resident.partition_elements = keep(resident.partition_elements);
            }
            _ => resident.free_elements = keep(resident.free_elements),
        }
        self.set_view(id, resident);
        Ok(())
    }

    /// Joined values are written side by side by whoever makes them, so joining takes no instruction; weights among them
    /// (a class token) are loaded beside the rest.
    pub(super) fn concatenate(&mut self, id: InstrId) -> Result<(), CodegenError> {
        let operands = self.instruction(id)?.operands.clone();
        let mut ready = Vec::new();
        let mut layout = None;
        for operand in operands {
            match self.value(operand)?.clone() {
                Value::Resident(r) => {
                    layout.get_or_insert(r.layout);
                    ready.extend(r.ready);
                }
                Value::Weight { parameter, via } => ready.push(self.load_vector(parameter, via)?),
                Value::Broadcast { of, via, .. } => {
                    if let Value::Weight { parameter, .. } = self.value(of)?.clone() {
                        ready.push(self.load_vector(parameter, via)?);
                    }
                }
                Value::Splat => {}
            }
        }
        let shape = &self.instruction(id)?.shape;
        let (rows, columns) = self.rows_and_columns(shape);
        let mut resident = Resident::of(layout.unwrap_or(Layout::FeatureMajor), rows, columns);
        resident.ready = latest(ready);
        // The parts keep their space until they are dead; the whole only names them.
        self.set_view(id, resident);
        Ok(())
    }

    /// Rows of a table in device memory, one descriptor a row.
    pub(super) fn gather(&mut self, id: InstrId) -> Result<(), CodegenError> {
        let shape = self.instruction(id)?.shape.clone();
        let (rows, columns) = matrix_of(&shape);
        let mut resident = Resident::of(Layout::RowMajor, rows, columns);
        resident.bytes = self.resident_bytes(rows, columns, self.element_bytes(id));
        let mut after = self.take(id, resident.bytes)?;
        if let Ok(Value::Resident(indices)) = self.value(self.operand(id, 1)?) {
            after.extend_from_slice(&indices.ready);
        }
        let source = self.sources.of(id);
        let transfer = Transfer {
            queue: DmaQueue::Io,
            direction: DmaDirection::HbmToSbuf,
            bytes: rows * columns * self.precision.operand_bytes,
            partitions: u32::try_from(rows).unwrap_or(u32::MAX).min(self.core.partitions),
            short_descriptors: rows,
        };
        resident.ready = vec![self.emitter.dma(transfer, source, &after)];
        self.set_resident(id, resident);
        Ok(())
    }

    /// An update in place: the new part is written to device memory, and readers go on with the whole.
    pub(super) fn update_in_place(&mut self, id: InstrId) -> Result<(), CodegenError> {
        let mut resident = self.view_of(id)?;
        let update = self.operand(id, 1)?;
        if let Value::Resident(new) = self.value(update)?.clone() {
            let source = self.sources.of(id);
            let transfer = Transfer {
                queue: DmaQueue::Io,
                direction: DmaDirection::SbufToHbm,
                bytes: self.instruction(update)?.shape.elements() * self.precision.operand_bytes,
                partitions: self.core.partitions,
                short_descriptors: 0,
            };
            self.emitter.dma(transfer, source, &new.ready);
            resident.ready.extend(new.ready);
            resident.ready = latest(resident.ready);
        }
        self.set_view(id, resident);
        Ok(())
    }

    /// The resident value that a view looks at.
    fn view_of(&mut self, id: InstrId) -> Result<Resident, CodegenError> {
        let operand = self.operand(id, 0)?;
        match self.value(operand)?.clone() {
            Value::Resident(resident) => Ok(resident),
            Value::Broadcast { of, .. } => match self.value(of)?.clone() {
                Value::Resident(resident) => Ok(resident),
                _ => Err(self.unsupported(id, "a view of a broadcast")),
            },
            Value::Weight { parameter, via } => self.load_whole(parameter, via, Layout::FeatureMajor),
            Value::Splat => Err(self.unsupported(id, "a view of a constant")),
        }
    }

    fn set_view(&mut self, id: InstrId, resident: Resident) {
        self.set_resident(id, Resident { bytes: 0, ..resident });
    }

    fn came_from_image(&self, id: InstrId) -> bool {
        let operand = self.operand(id, 0).ok();
        let before = operand.and_then(|o| self.operand(o, 0).ok()).and_then(|o| self.instruction(o).ok());
        before.is_some_and(|i| i.shape.rank() == IMAGE_RANK)
    }
}
