//! The layout, the grouping and the element width of a value, as its readers need them, and the SBUF that the value
//! then takes.

use super::plan::Plan;
use super::value::{Layout, Resident, matrix_of};
use crate::hlo::{InstrId, Opcode, ParameterRole};
use ns_base::convert::usize_to_u32;
use ns_machine::arch::CoreSpec;
use ns_machine::cost::decisions::{FEW_CHANNELS, IMAGE_RANK, LAYOUT_LOOKAHEAD, SBUF_PARTS};
use ns_tensor::Shape;
use ns_tensor::kernels::WindowDim;

/// Rows and columns of a shape, the columns of an image being its channels.
pub(super) fn rows_and_columns(shape: &Shape) -> (u64, u64) {
    match shape.dims.as_slice() {
        [n, c, pixels @ ..] if shape.rank() == IMAGE_RANK => (n * pixels.iter().product::<u64>(), (*c).max(1)),
        _ => matrix_of(shape),
    }
}

/// The layout that the readers of a result need. Rows are on the partitions where a reduction over the last dimension or a
/// product that contracts the rows reads the result; otherwise columns are.
pub(super) fn wanted_layout(plan: &Plan<'_>, id: InstrId) -> Layout {
    if wants_row_major(plan, id, LAYOUT_LOOKAHEAD) { Layout::RowMajor } else { Layout::FeatureMajor }
}

/// The number of equal parts of a value's rows that must each start at a block of partitions: one for each sequence
/// when a product contracts the tokens of each sequence.
pub(super) fn row_groups(plan: &Plan<'_>, id: InstrId) -> u64 {
    let Some(instruction) = plan.find(id) else { return 1 };
    let dims = &instruction.shape.dims;
    let leading: u64 = dims.iter().rev().skip(2).product();
    if leading > 1 && rows_contracted(plan, id, LAYOUT_LOOKAHEAD) { leading } else { 1 }
}

fn rows_contracted(plan: &Plan<'_>, id: InstrId, depth: u32) -> bool {
    let contracts = |user: &InstrId| {
        let Some(instruction) = plan.module.instructions.get(*user) else { return false };
        match &instruction.opcode {
            Opcode::Dot(dims) => {
                let rank = usize_to_u32(plan.module.instructions[id].shape.rank());
                instruction.operands.get(1) == Some(&id) && dims.rhs_contracting + 1 != rank
            }
            Opcode::Reshape | Opcode::Transpose { .. } => rows_contracted(plan, *user, depth - 1),
            _ => false,
        }
    };
    depth > 0 && plan.users(id).iter().any(contracts)
}

fn wants_row_major(plan: &Plan<'_>, id: InstrId, depth: u32) -> bool {
    let Some(rank) = plan.module.instructions.get(id).map(|i| i.shape.rank()) else { return false };
    let last = usize_to_u32(rank.saturating_sub(1));
    let wants = |user: &InstrId| {
        let instruction = &plan.module.instructions[*user];
        match &instruction.opcode {
            Opcode::Reduce { dimensions, .. } => dimensions.as_slice() == [last] && rank > 1,
            Opcode::Dot(dims) => instruction.operands.get(1) == Some(&id) && dims.rhs_contracting != last,
            Opcode::Reshape => wants_row_major(plan, *user, depth - 1),
            Opcode::Transpose { permutation } => {
                permutation.last() == Some(&last) && wants_row_major(plan, *user, depth - 1)
            }
            Opcode::Fusion(_) => wants_row_major(plan, *user, depth - 1),
            opcode => opcode.is_elementwise() && wants_row_major(plan, *user, depth - 1),
        }
    };
    depth > 0 && plan.users(id).iter().any(wants)
}

/// Whether products alone read a value, through views of it.
pub(super) fn only_matmuls_read(plan: &Plan<'_>, id: InstrId) -> bool {
    let users = plan.users(id);
    let is_matmul = |user: &InstrId| match plan.module.instructions[*user].opcode {
        Opcode::Dot(_) | Opcode::Convolution { .. } => true,
        Opcode::Reshape | Opcode::Transpose { .. } => *user != plan.module.root && only_matmuls_read(plan, *user),
        _ => false,
    };
    !users.is_empty() && users.iter().all(is_matmul)
}

/// Whether an input is read only by convolutions of few channels. They gather it from device memory, whatever the
/// order of its dimensions there.
pub(super) fn only_gathered(plan: &Plan<'_>, id: InstrId) -> bool {
    let users = plan.users(id);
    let gathers = |user: &InstrId| match &plan.module.instructions[*user].opcode {
        Opcode::Convolution { window, feature_group_count } => {
            let channels = plan.module.instructions[id].shape.dims.get(1).copied().unwrap_or(0);
            // The gradient of a kernel reads the image as values.
            let of_weight = instruction_kernel(plan, *user).is_some_and(|kernel| plan.comes_from_load(kernel));
            of_weight && is_gathered(channels / feature_group_count.max(&1), window)
        }
        Opcode::Transpose { .. } => only_gathered(plan, *user),
        _ => false,
    };
    !users.is_empty() && users.iter().all(gathers)
}

/// Whether a value is an input of the model, or a view of one.
pub(super) fn is_input(plan: &Plan<'_>, id: InstrId) -> bool {
    plan.find(id).is_some_and(|instruction| match instruction.opcode {
        Opcode::Parameter { role: ParameterRole::Input(_), .. } => true,
        Opcode::Transpose { .. } => instruction.operands.iter().all(|of| is_input(plan, *of)),
        _ => false,
    })
}

fn instruction_kernel(plan: &Plan<'_>, convolution: InstrId) -> Option<InstrId> {
    plan.module.instructions[convolution].operands.get(1).copied()
}

/// Whether a convolution gathers the patches of its image.
pub(super) fn is_gathered(channels: u64, window: &[WindowDim; 2]) -> bool {
    let transposed = window.iter().any(|w| w.base_dilation > 1);
    channels < FEW_CHANNELS && window[0].size * window[1].size > 1 && !transposed
}

/// Bytes of an element of a value, by its own type and the cast of its readers.
pub(super) fn element_bytes(plan: &Plan<'_>, id: InstrId) -> u64 {
    if only_matmuls_read(plan, id) { plan.operand_bytes(id) } else { plan.value_bytes(id) }
}

/// SBUF of a matrix: every partition of a block is taken, used or not. A value that is too large for its share of SBUF
/// is written and read slice by slice of the batch, so that it never holds more than its share.
pub(super) fn sbuf_bytes(core: &CoreSpec, along_partitions: u64, along_free: u64, element_bytes: u64) -> u64 {
    whole_bytes(core, along_partitions, along_free, element_bytes).min(share_of_a_value(core))
}

/// SBUF of a result.
pub(super) fn resident_bytes(core: &CoreSpec, value: &Resident, element_bytes: u64) -> u64 {
    sbuf_bytes(core, value.partition_elements, value.free_elements, element_bytes)
}

/// Slices of the batch in which a value is written and read.
pub(super) fn slices(core: &CoreSpec, value: &Resident, element_bytes: u64) -> u64 {
    let whole = whole_bytes(core, value.partition_elements, value.free_elements, element_bytes);
    whole.div_ceil(share_of_a_value(core).max(1)).max(1)
}

/// Whether a result does not fit in SBUF as a whole: every partition of a block is taken, used or not.
pub(super) fn exceeds_sbuf(core: &CoreSpec, value: &Resident, element_bytes: u64) -> bool {
    let blocks = value.partition_blocks(core.partitions).count() as u64;
    let partition_bytes = value.free_elements.saturating_mul(element_bytes);
    blocks.saturating_mul(u64::from(core.partitions)).saturating_mul(partition_bytes) > core.sbuf_bytes
}

fn whole_bytes(core: &CoreSpec, along_partitions: u64, along_free: u64, element_bytes: u64) -> u64 {
    let partitions = u64::from(core.partitions);
    let padded = along_partitions.div_ceil(partitions).saturating_mul(partitions);
    padded.saturating_mul(along_free).saturating_mul(element_bytes)
}

fn share_of_a_value(core: &CoreSpec) -> u64 {
    core.sbuf_bytes / SBUF_PARTS
}
