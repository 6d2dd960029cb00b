//! Opens a TorchScript file: the archive, the tree of modules and the source; then makes the program and the inspection.

use super::inputs::Inputs;
use super::interpret::{Interpreter, Stop, run};
use super::objects::Objects;
use super::value::Value;
use crate::pt2::{Translation, ViewId};
use ns_base::{Refusal, refuse};
use ns_container::ByteSource;
use ns_container::zip::Archive;
use ns_program::{ImportError, ImportOptions, ImportedModel, Inspection, InstructionId, Role, TensorInfo, Verdict};

/// Most inputs whose sizes are found one after another.
const MAX_ROUNDS: usize = 64;

/// What to do with results that are not tensors.
const TENSORS: &str = "give tensors as results";

/// Most results of a model.
const MAX_RESULTS: usize = 1 << 16;

/// Reads a file of `torch.jit.save`. Fails when the archive, a pickle or the source is damaged; when a loop, a branch or a size
/// depends on data; when the file is already compiled for Neuron; or when the sizes of an input are unknown.
pub fn read_torchscript(bytes: &dyn ByteSource, options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    let archive = Archive::open(bytes)?;
    let mut objects = Objects::open(&archive)?;
    if objects.short_text("byteorder").is_some_and(|order| order == "big") {
        return Err(refuse!(
            instead = "save it again on a processor that is little-endian",
            "its weights are big-endian: it was saved on another kind of processor"
        )
        .into());
    }
    let mut inputs = Inputs::new(options);
    for _ in 0..MAX_ROUNDS {
        let mut interpreter = Interpreter::new(bytes, objects, inputs, options.display_only);
        match run(&mut interpreter) {
            Ok(result) => return finish(interpreter, &result),
            Err(Stop::Refused(error)) => return Err(error),
            Err(Stop::Needs(name, fitting)) => {
                (objects, inputs) = (interpreter.objects, interpreter.inputs);
                inputs.restart();
                inputs.assume(&name, fitting)?;
            }
        }
    }
    let instead = "save a trace with PyTorch 2.4 or later";
    Err(refuse!(instead = instead, "the sizes of its inputs are not known").into())
}

/// The program and what the file holds.
fn finish(mut interpreter: Interpreter<'_>, result: &Value) -> Result<ImportedModel, ImportError> {
    let wrong = |e: Refusal| ImportError::from(e.advise(TENSORS));
    let mut views = Vec::new();
    results(result, &mut views, 0).map_err(|e| e.advise(TENSORS))?;
    if views.is_empty() {
        let given = result.described();
        return Err(refuse!(instead = TENSORS, "the model gives {given} and no tensor").into());
    }
    interpreter.t.b.set_origin("", "");
    let mut outputs: Vec<InstructionId> = Vec::new();
    let mut infos = Vec::new();
    for (at, &view) in views.iter().enumerate() {
        let value = interpreter.t.views.get(&mut interpreter.t.b, view).map_err(wrong)?;
        let ty = interpreter.t.type_of_view(view).map_err(wrong)?;
        infos.push(TensorInfo {
            name: format!("output{at}"),
            dtype: ty.element.name().to_owned(),
            shape: ty.dims,
            ..TensorInfo::default()
        });
        outputs.push(value);
    }
    changed(&mut interpreter, &mut outputs).map_err(wrong)?;
    let (parameters, buffers) = interpreter.objects.count_elements()?;
    let version = interpreter.objects.short_text(".data/version").or_else(|| interpreter.objects.short_text("version"));
    let producer = version.map_or_else(|| "torch".to_owned(), |v| format!("torch (TorchScript of version {v})"));
    let Interpreter { t, counts, inputs, .. } = interpreter;
    let Translation { program, unsupported, notes } = t.into_translated(&outputs).map_err(wrong)?;
    let mut inspection = Inspection {
        format: "torchscript".to_owned(),
        producer,
        ops: counts.all(),
        flops: counts.flops,
        modules: counts.modules.into_iter().collect(),
        inputs: inputs.infos,
        outputs: infos,
        parameters,
        buffers,
        open_dimensions: inputs.open,
        unsupported,
        notes,
        ..Inspection::default()
    };
    if parameters == 0 {
        count_constants(&program, &mut inspection);
    }
    for open in inspection.open_dimensions.iter().filter(|d| !d.is_chosen) {
        let (name, used) = (&open.name, open.used);
        let note = format!("the file does not say dimension {name}: {used} is used; --dim {name}=N asks for another");
        inspection.notes.push(note);
    }
    let is_open = inspection.open_dimensions.iter().any(|d| !d.is_chosen);
    if is_open || !inspection.unsupported.is_empty() {
        inspection.verdict = Verdict::Partial;
    }
    Ok(ImportedModel { inspection, program })
}

/// A frozen model has constants in place of parameters.
fn count_constants(program: &ns_program::Program, inspection: &mut Inspection) {
    let is_weight =
        |p: &&ns_program::ProgramParameter| p.role == Role::Buffer && p.ty.element.is_float() && !p.ty.dims.is_empty();
    let elements = program.parameters.iter().filter(is_weight).filter_map(|p| p.ty.elements());
    let all = elements.fold(0u64, u64::saturating_add);
    if all > 0 {
        inspection.parameters = all;
        inspection.notes.push("the model is frozen: its constants are counted as parameters".to_owned());
    }
}

/// Tensors of a result, in their order.
fn results(value: &Value, views: &mut Vec<ViewId>, depth: usize) -> Result<(), Refusal> {
    if depth > 16 || views.len() > MAX_RESULTS {
        return Err(refuse!("its result has too many levels or parts"));
    }
    match value {
        Value::Tensor(view) => views.push(*view),
        Value::Map(pairs) => pairs.iter().try_for_each(|(_, v)| results(v, views, depth + 1))?,
        Value::Unsized(name) => {
            return Err(refuse!("the input {name} is its result, and its sizes are not known"));
        }
        other => {
            for item in other.items().unwrap_or_default() {
                results(&item, views, depth + 1)?;
            }
        }
    }
    Ok(())
}

/// Weights and buffers that the model writes come after its results.
fn changed(interpreter: &mut Interpreter<'_>, outputs: &mut Vec<InstructionId>) -> Result<(), Refusal> {
    let before = outputs.len();
    for view in interpreter.weights.clone() {
        if interpreter.t.views.is_changed(view) {
            let value = interpreter.t.views.get(&mut interpreter.t.b, view)?;
            outputs.push(value);
        }
    }
    let count = outputs.len() - before;
    if count > 0 {
        interpreter.t.note(format!("{count} buffers are changed; their new values follow the results"));
    }
    Ok(())
}
