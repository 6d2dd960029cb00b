//! Calls of functions, custom calls, and operations whose sizes were operands.

use super::convert::{Converter, Frame, clip, declared};
use super::dynamic::{FixedOp, called_with_sizes};
use super::failure::MlirFailure;
use super::known::{self, ArgumentValue, argument_value, folded};
use super::slices::known_places;
use super::syntax::Operation;
use ns_base::{Refusal, refuse};
use ns_program::{ComputationId, InstructionId, Op, Type, calls};

impl<'a> Converter<'_, 'a> {
    pub(super) fn call(
        &mut self,
        frame: &mut Frame<'a>,
        operation: &Operation<'a>,
        name: &str,
        operands: Vec<InstructionId>,
    ) -> Result<InstructionId, MlirFailure> {
        let named = || operation.text("callee").or_else(|| operation.text("decomposition"));
        let callee = operation.symbol().or_else(named).unwrap_or("");
        let Some(&index) = self.functions.get(callee) else {
            return Err(self.error(operation.at, refuse!("a function {:?} is called and not defined", clip(callee))));
        };
        let arguments: Vec<ArgumentValue> =
            operands.iter().map(|&o| argument_value(frame.builder.instructions(), o)).collect();
        let id = self.function(index, &arguments, frame.depth)?;
        let ty = self.signatures[id.0 as usize].result.clone();
        let call = frame.builder.push_call(name, Op::Call, operands, vec![id], ty);
        Ok(if self.module.is_open { known::called(frame, call, &self.computations[id]) } else { call })
    }

    pub(super) fn custom_call(
        &mut self,
        frame: &mut Frame<'a>,
        operation: &Operation<'a>,
        name: &str,
        operands: Vec<InstructionId>,
    ) -> Result<InstructionId, MlirFailure> {
        let target = operation.symbol().or_else(|| operation.text("call_target_name")).unwrap_or("");
        let target = target.trim_matches('"');
        // A check of sizes, which are known at this point.
        if let ("shape_assertion", Some(&condition)) = (target, operands.first()) {
            self.check(frame, operation, &operands)?;
            return Ok(condition);
        }
        let failed = |wrong: Refusal| self.error(operation.at, wrong.within(|what| format!("{target}: {what}")));
        let fixed = called_with_sizes(target, frame.builder.instructions(), &operands).map_err(failed)?;
        if let Some(fixed) = fixed {
            let callee = operation.text("called_computations").unwrap_or("");
            let called = match self.functions.get(callee) {
                Some(&index) => vec![self.function(index, &[], frame.depth)?],
                None => Vec::new(),
            };
            return self.fixed(frame, operation, name, fixed, called);
        }
        let config = operation.text("backend_config").unwrap_or("");
        let op = {
            let types: Vec<&Type> = operands.iter().map(|&o| frame.builder.ty(o)).collect();
            calls::meaning(target, config, &types, &declared(&operation.types))
        };
        let types: Vec<Type> = operands.iter().map(|&o| frame.builder.ty(o).clone()).collect();
        let ty = self.result_type(operation, &op, &types.iter().collect::<Vec<_>>(), &[])?;
        Ok(frame.builder.push(name, op, operands, ty))
    }

    /// Refuses sizes for which a check of the model fails. The message of the check counts its operands from the one behind the condition.
    fn check(
        &self,
        frame: &Frame<'a>,
        operation: &Operation<'a>,
        operands: &[InstructionId],
    ) -> Result<(), MlirFailure> {
        let number = |&o: &InstructionId| known::numbers(frame.builder.instructions(), o)?.first().copied();
        let Some((condition, values)) = operands.split_first() else { return Ok(()) };
        if number(condition) != Some(0) {
            return Ok(());
        }
        let said = operation.text("error_message").unwrap_or("");
        let said = said.trim_start_matches("Input shapes do not match the polymorphic shapes specification. ");
        let mut said =
            said.split(" Using the following").next().unwrap_or(said).trim().trim_end_matches('.').to_owned();
        for (i, value) in values.iter().enumerate() {
            if let Some(n) = number(value) {
                said = said.replace(&format!("{{{i}}}"), &n.to_string());
            }
        }
        Err(MlirFailure::of_sizes(refuse!("the model refuses these sizes: {said}")))
    }

    /// Adds an operation whose sizes were operands.
    pub(super) fn fixed(
        &self,
        frame: &mut Frame<'a>,
        operation: &Operation<'a>,
        name: &str,
        (op, operands, ty): FixedOp,
        called: Vec<ComputationId>,
    ) -> Result<InstructionId, MlirFailure> {
        let types: Vec<Type> = operands.iter().map(|&o| frame.builder.ty(o).clone()).collect();
        let inferred = || self.result_type(operation, &op, &types.iter().collect::<Vec<_>>(), &called);
        let ty = ty.map_or_else(inferred, Ok)?;
        // One number for all elements is known as it is.
        if !matches!(op, Op::Broadcast { .. })
            && let Some(simpler) = self.simpler(frame, name, &op, &operands, &ty)
        {
            return Ok(simpler);
        }
        Ok(frame.builder.push_call(name, op, operands, called, ty))
    }

    /// What a module with open sizes needs no operation for, or a simpler one: known numbers, and a gather at known places.
    pub(super) fn simpler(
        &self,
        frame: &mut Frame<'a>,
        name: &str,
        op: &Op,
        operands: &[InstructionId],
        ty: &Type,
    ) -> Option<InstructionId> {
        if !self.module.is_open {
            return None;
        }
        if let Some(value) = folded(op, frame.builder.instructions(), operands, ty) {
            return Some(frame.builder.push(name, Op::Constant(Box::new(value)), Vec::new(), ty.clone()));
        }
        known_places(&mut frame.builder, name, op, operands, ty)
    }
}
