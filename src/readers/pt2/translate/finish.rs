//! Converts the results of an operation to the types in the file.

use super::super::argument::{Argument, Text};
use super::call::{Call, CallOutcome, OpResult};
use super::views::ViewId;
use ns_base::{Refusal, refuse};
use ns_program::{ArrayType, ElementType, InstructionId};

/// Why a node has no translation.
pub enum Reason {
    /// The file is damaged.
    Missing(Refusal),
    /// The operator, or this use of it, is unknown.
    Unknown(Option<Refusal>),
}

impl Call<'_, '_, '_> {
    /// Binds the results of an operation, converted to the types in the file. Fails when the operation has no translation.
    pub fn finish(mut self, made: CallOutcome, is_in_place: bool) -> Result<(), Reason> {
        self.bind_results(made, is_in_place).map_err(|why| match why {
            Some(why) if self.lacks_values() => Reason::Missing(why),
            why => Reason::Unknown(why),
        })
    }

    /// Whether the file does not define an operand, or does not describe a result.
    fn lacks_values(&self) -> bool {
        let is_absent = |name: &Text<'_>| self.t.view_named(name.get()).is_err();
        let lacks_operand = self.node.inputs.iter().any(|input| match &input.arg {
            Argument::Tensor(name) => is_absent(name),
            Argument::Tensors(names) => names.iter().any(is_absent),
            Argument::OptionalTensors(names) => names.iter().flatten().any(is_absent),
            _ => false,
        });
        let is_untyped = |name: &Text<'_>| self.t.has_types && self.t.type_named(name.get(), self.graph).is_err();
        lacks_operand || self.output_names().into_iter().any(is_untyped)
    }

    /// Binds the results of an operation; without a reason if nobody knows the operation.
    fn bind_results(&mut self, made: CallOutcome, is_in_place: bool) -> Result<(), Option<Refusal>> {
        let done = made?;
        let names: Vec<String> = self.output_names().iter().map(|n| n.get().to_owned()).collect();
        let values: Vec<Option<InstructionId>> = match done {
            OpResult::Unknown => return Err(None),
            OpResult::Nothing => Vec::new(),
            OpResult::Views(views) => {
                if views.len() != names.len() {
                    return Err(other_results(views.len(), names.len()).into());
                }
                let types = self.results()?;
                for ((name, view), ty) in names.iter().zip(views).zip(types) {
                    let array = self.t.views.get(&mut self.t.b, view)?;
                    let own = self.t.b.array(array)?;
                    if *own != ty {
                        return Err(Some(refuse!("its result is {own} and the file says {ty}")));
                    }
                    self.t.bind(name, view);
                }
                return Ok(());
            }
            OpResult::One(value) => vec![Some(value)],
            OpResult::Many(values) => values,
        };
        if is_in_place {
            return Ok(self.write(&names, values.first().copied().flatten())?);
        }
        let types = self.results()?;
        for (at, (name, ty)) in names.iter().zip(types).enumerate() {
            let Some(value) = values.get(at).copied().flatten() else {
                // An unused result may be unknown; a used one is reported where it is used.
                if name.contains("unused") || values.len() > at {
                    continue;
                }
                return Err(other_results(values.len(), names.len()).into());
            };
            let value = self.typed(value, &ty)?;
            let view = self.t.views.fresh(value);
            self.t.bind(name, view);
        }
        Ok(())
    }

    /// Binds the results of an operation of a file without types: they keep their own types. Fails when the operation has no
    /// translation.
    pub fn finish_untyped(
        mut self,
        made: CallOutcome,
        is_in_place: bool,
    ) -> Result<Vec<Option<ViewId>>, Option<Refusal>> {
        let values = match made? {
            OpResult::Unknown => return Err(None),
            OpResult::Nothing => Vec::new(),
            OpResult::Views(views) => return Ok(views.into_iter().map(Some).collect()),
            OpResult::One(value) => vec![Some(value)],
            OpResult::Many(values) => values,
        };
        if is_in_place {
            self.write(&[], values.first().copied().flatten())?;
            return Ok(vec![Some(self.view(0)?)]);
        }
        let mut views = Vec::with_capacity(values.len());
        for (at, value) in values.into_iter().enumerate() {
            let Some(value) = value else {
                views.push(None);
                continue;
            };
            let is_place = gives_places(self.op, at) && self.t.b.element(value).is_integer();
            let value = if is_place { self.t.b.convert(value, ElementType::S64)? } else { value };
            views.push(Some(self.t.views.fresh(value)));
        }
        Ok(views)
    }

    /// A value converted to the element type in the file; its sizes must equal those in the file.
    fn typed(&mut self, value: InstructionId, ty: &ArrayType) -> Result<InstructionId, Refusal> {
        let own = self.t.b.array(value)?.clone();
        // Some versions of torch write `[1, 1, 2, 16]` for the states of a recurrent layer, which are `[1, 2, 16]`.
        let is_same = own.dims.iter().filter(|&&n| n != 1).eq(ty.dims.iter().filter(|&&n| n != 1));
        if !is_same {
            return Err(refuse!("its result is {own} and the file says {ty}"));
        }
        let value = self.t.b.reshape(value, &ty.dims)?;
        self.t.b.convert(value, ty.element)
    }

    /// Writes the result of an in-place operation to its first operand.
    fn write(&mut self, names: &[String], value: Option<InstructionId>) -> Result<(), Refusal> {
        let target = self.view(0)?;
        if let Some(value) = value {
            let now = self.t.views.get(&mut self.t.b, target)?;
            let ty = self.t.b.array(now)?.clone();
            let value = self.t.b.convert(value, ty.element)?;
            let value = self.t.b.broadcast_to(value, &ty.dims)?;
            self.t.views.set(&mut self.t.b, target, value)?;
        }
        if let Some(name) = names.first() {
            self.t.bind(name, target);
        }
        Ok(())
    }
}

/// An error for a number of results that differs from the file's.
fn other_results(given: usize, named: usize) -> Refusal {
    refuse!("{named} results are named and {given} are given")
}

/// Whether a result of an operation holds indices, which are 64-bit in torch.
fn gives_places(op: &str, result: usize) -> bool {
    match op {
        "argmax" | "argmin" | "argsort" => result == 0,
        "topk" | "sort" | "max" | "min" => result == 1,
        _ => op.ends_with("with_indices") && result == 1,
    }
}
