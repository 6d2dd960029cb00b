//! Walks a module in order and emits each instruction.

use super::code::Code;
use super::conv::{convolution, reduce_window, select_and_scatter};
use super::dot::dot;
use super::elementwise::elementwise;
use super::emitter::MAX_ITEMS;
use super::lazy;
use super::memory::bytes_text;
use super::places::Places;
use super::plan::Plan;
use super::precision::Precision;
use super::product::ProductWithEpilogue;
use super::reduce::reduce;
use super::rows::{norm, softmax};
use super::spill::begin_operation;
use super::transfer::{assign, custom_call, input, output};
use super::value::Resident;
use super::views::{concatenate, gather, reshape_resident, slice_resident, transpose_resident, update_in_place};
use super::work::{scatter, work};
use crate::CompileOptions;
use crate::error::StageError;
use crate::hlo::{HloInstruction, HloModule, InstrId, Opcode, ParameterRole};
use ns_base::convert::usize_to_f64;
use ns_base::refuse;
use ns_machine::Executable;
use ns_machine::cost::CostTable;
use ns_machine::cost::decisions::COMPILE_MS_PER_OPERATION;

/// Elements that an instruction works on at least, where an array is cut into blocks: one partition of PSUM's width.
const LEAST_ELEMENTS: u64 = 512;

/// Compiles a module for one core, with the default options. The costs of the engines decide which engine takes which work. Fails
/// when it does not fit the core, or uses an opcode in a form that has no lowering to instructions.
pub fn generate(module: &HloModule, costs: &CostTable) -> Result<Executable, StageError> {
    generate_with(module, costs, &CompileOptions::default())
}

/// Compiles a module for one core with other options than the defaults. Fails as [`generate`].
pub fn generate_with(
    module: &HloModule,
    costs: &CostTable,
    options: &CompileOptions,
) -> Result<Executable, StageError> {
    let plan = Plan::new(module, costs, Precision::of(options, &costs.core));
    let mut places = Places::new(&plan);
    let mut code = Code::new(&plan);
    for id in module.instructions.ids() {
        fits_device_memory(&plan, id)?;
        instruction_at(&plan, &mut places, &mut code, id)?;
        places.release_after(&plan, id);
        code.emitter.check_size()?;
    }
    let root = &module.instructions[module.root];
    match root.opcode {
        Opcode::Tuple => {
            // New values of weights are in device memory already.
            let leaves = |id: &&InstrId| !matches!(module.instructions[**id].opcode, Opcode::Copy { .. });
            root.operands
                .iter()
                .filter(leaves)
                .try_for_each(|result| output(&plan, &mut places, &mut code, *result))?;
        }
        _ => output(&plan, &mut places, &mut code, module.root)?,
    }
    code.finish(&plan, places.ring.peak())
}

/// Modelled compile time, seconds. It grows only with the number of operations of the program, as unrolled loops show:
/// no other figure is published. It is the same on any machine, unlike the real one; it is right to within a factor, not
/// a percentage.
pub fn modelled_compile_s(executable: &Executable) -> f64 {
    usize_to_f64(executable.sources.len()) * COMPILE_MS_PER_OPERATION / 1e3
}

/// Refuses an array that no core can hold before it is cut into blocks: a size with wrong digits would otherwise fill
/// this machine's memory with instructions. A model that exceeds device memory by less is compiled, and told how much is missing.
fn fits_device_memory(plan: &Plan<'_>, id: InstrId) -> Result<(), StageError> {
    let instruction = &plan.module.instructions[id];
    let elements = instruction.shape.elements();
    let needed = elements.saturating_mul(plan.operand_bytes(id));
    let available = plan.core.hbm_bytes;
    if needed <= available || elements / LEAST_ELEMENTS <= MAX_ITEMS as u64 {
        return Ok(());
    }
    let path = plan.path(id);
    let refusal = refuse!(
        "{path} has an array of {}, and one core has {} of device memory. Use a smaller batch or smaller sizes",
        bytes_text(needed),
        bytes_text(available)
    );
    Err(StageError::at(path, refusal))
}

fn instruction_at(plan: &Plan<'_>, places: &mut Places, code: &mut Code<'_>, id: InstrId) -> Result<(), StageError> {
    if places.is_done(id) {
        return Ok(());
    }
    let instruction = &plan.module.instructions[id];
    if lazy::define(places, id, instruction) {
        return Ok(());
    }
    begin_operation(plan, places, code, id)?;
    code.engines.begin_operation();
    if let Some(of_rows) = plan.idioms.softmaxes.get(&id) {
        return softmax(plan, places, code, of_rows);
    }
    if let Some(of_rows) = plan.idioms.norms.get(&id) {
        return norm(plan, places, code, of_rows);
    }
    match &instruction.opcode {
        Opcode::Parameter { role: ParameterRole::Input(_), .. } => input(plan, places, code, id),
        Opcode::Dot(_) | Opcode::Convolution { .. } => product_at(plan, places, code, id, instruction),
        Opcode::ReduceWindow { window, .. } => reduce_window(plan, places, code, id, window),
        Opcode::SelectAndScatter { window } => select_and_scatter(plan, places, code, id, window),
        Opcode::Scatter => scatter(plan, places, code, id),
        Opcode::Copy { .. } => assign(plan, places, code, id),
        Opcode::Gather => gather(plan, places, code, id),
        Opcode::Concatenate { .. } => concatenate(plan, places, code, id),
        Opcode::Slice { .. } => slice_resident(plan, places, code, id),
        Opcode::DynamicUpdateSlice => update_in_place(plan, places, code, id),
        Opcode::Reduce { dimensions, .. } => reduce(plan, places, code, id, dimensions),
        Opcode::CustomCall { .. } => custom_call(plan, places, code, id),
        Opcode::Work(of_cost) => work(plan, places, code, id, of_cost),
        Opcode::Transpose { permutation } => transpose_resident(plan, places, code, id, permutation),
        Opcode::Reshape => reshape_resident(plan, places, code, id),
        // Results are written one by one at the end.
        Opcode::Tuple => Ok(()),
        _ => {
            let members = lazy::members_of(plan, places, id);
            elementwise(plan, places, code, id, &members)
        }
    }
}

/// A dot or a convolution with its epilogue.
fn product_at(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    instruction: &HloInstruction,
) -> Result<(), StageError> {
    let epilogue = plan.epilogue_of(id);
    let members = epilogue.map(|e| lazy::members_of(plan, places, e)).unwrap_or_default();
    let evicted = ProductWithEpilogue { id, result: epilogue.unwrap_or(id), epilogue: &members };
    match &instruction.opcode {
        Opcode::Dot(dims) => dot(plan, places, code, dims, &evicted)?,
        Opcode::Convolution { window, feature_group_count } => {
            convolution(plan, places, code, (window, *feature_group_count), &evicted)?;
        }
        _ => return Err(plan.unsupported(id, "a product of this kind")),
    }
    if let Some(epilogue) = epilogue {
        // The product itself never reaches SBUF; its operands are free when its epilogue is complete.
        places.value(plan, epilogue)?;
        if let Some(evicted) = places.resident(epilogue) {
            let nowhere = Resident { bytes: 0, ..evicted.clone() };
            places.set_resident(id, nowhere);
        }
        places.set_done(epilogue);
    }
    Ok(())
}
