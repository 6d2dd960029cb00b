//! The reference evaluator: what a module computes, by the reference kernels.

use std::rc::Rc;

use thiserror::Error;

use crate::base::{Idx as _, IndexVec};
use crate::tensor::kernels::{
    BinaryOp, ReduceOp, UnaryOp, binary, broadcast_in_dim, concatenate, convert, convolution, dot,
    dynamic_update_slice, gather_rows, reduce, reduce_window, slice, transpose, unary,
};
use crate::tensor::{Shape, Tensor, TensorError};

use super::{HloInstruction, HloModule, InstrId, Opcode, ReduceKind};

/// A module that can not be evaluated with these parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EvalError {
    /// Too few values.
    #[error("instruction %{name}: no value was given for parameter {index}")]
    MissingParameter {
        /// The parameter's instruction.
        name: String,
        /// Its index.
        index: u32,
    },
    /// A value of another shape.
    #[error("instruction %{name}: parameter {index} is {expected}, a value of {found} was given")]
    ParameterShape {
        /// The parameter's instruction.
        name: String,
        /// Its index.
        index: u32,
        /// Its shape.
        expected: Shape,
        /// The value's shape.
        found: Shape,
    },
    /// A custom call whose kernel is not known.
    #[error("instruction %{name}: there is no kernel {target:?}; there is relu")]
    UnknownTarget {
        /// The instruction.
        name: String,
        /// The kernel asked for.
        target: String,
    },
    /// A kernel refused its operands.
    #[error("instruction %{name}: {source}")]
    Compute {
        /// The instruction.
        name: String,
        /// Why.
        source: Box<TensorError>,
    },
    /// An operand has no value: the module is not well formed.
    #[error("instruction %{name}: an operand has no value; verify the module")]
    NoOperand {
        /// The instruction.
        name: String,
    },
}

/// Evaluates a verified module with a value for each parameter, by index. Gives the root's value, or a tuple's values.
///
/// # Errors
/// When parameters do not fit, a custom call is unknown, or memory runs out.
pub fn evaluate(module: &HloModule, parameters: &[Rc<Tensor>]) -> Result<Vec<Rc<Tensor>>, EvalError> {
    let last_use = last_uses(module);
    let mut values: IndexVec<InstrId, Option<Rc<Tensor>>> = module.instructions.iter().map(|_| None).collect();
    for (id, instruction) in module.instructions.iter_enumerated() {
        let operands = gather(instruction, |o| values.get(o).cloned().flatten())?;
        if matches!(instruction.opcode, Opcode::Tuple) {
            return Ok(operands);
        }
        let value = match &instruction.opcode {
            Opcode::Parameter { index, .. } => parameter(instruction, *index, parameters)?,
            Opcode::Fusion(_) => fusion(instruction, &operands)?,
            _ => Rc::new(compute(instruction, &operands)?),
        };
        values[id] = Some(value);
        // Values nobody reads any more are let go: a chain of a thousand products holds two.
        for &operand in &instruction.operands {
            if last_use[operand] == id && operand != module.root {
                values[operand] = None;
            }
        }
        if id == module.root {
            break;
        }
    }
    let root = &module.instructions[module.root];
    let value = values[module.root].take().ok_or_else(|| EvalError::NoOperand { name: root.name.clone() })?;
    Ok(vec![value])
}

fn last_uses(module: &HloModule) -> IndexVec<InstrId, InstrId> {
    let mut last: IndexVec<InstrId, InstrId> = module.instructions.ids().collect();
    for (id, instruction) in module.instructions.iter_enumerated() {
        for &operand in &instruction.operands {
            if operand.index() < last.len() {
                last[operand] = id;
            }
        }
    }
    last
}

fn gather(
    instruction: &HloInstruction,
    value: impl Fn(InstrId) -> Option<Rc<Tensor>>,
) -> Result<Vec<Rc<Tensor>>, EvalError> {
    let all: Option<Vec<_>> = instruction.operands.iter().map(|o| value(*o)).collect();
    all.ok_or_else(|| EvalError::NoOperand { name: instruction.name.clone() })
}

fn parameter(instruction: &HloInstruction, index: u32, given: &[Rc<Tensor>]) -> Result<Rc<Tensor>, EvalError> {
    let name = || instruction.name.clone();
    let value = given.get(index as usize).ok_or_else(|| EvalError::MissingParameter { name: name(), index })?;
    if *value.shape() != instruction.shape {
        let (expected, found) = (instruction.shape.clone(), value.shape().clone());
        return Err(EvalError::ParameterShape { name: name(), index, expected, found });
    }
    Ok(Rc::clone(value))
}

/// Members in order; operands that are no members are the fusion's.
fn fusion(instruction: &HloInstruction, operands: &[Rc<Tensor>]) -> Result<Rc<Tensor>, EvalError> {
    let no_operand = || EvalError::NoOperand { name: instruction.name.clone() };
    let Opcode::Fusion(body) = &instruction.opcode else { return Err(no_operand()) };
    let mut values: Vec<(InstrId, Rc<Tensor>)> =
        instruction.operands.iter().copied().zip(operands.iter().cloned()).collect();
    for (member, &id) in body.members.iter().zip(&body.ids) {
        let find = |o: InstrId| values.iter().find(|(id, _)| *id == o).map(|(_, v)| Rc::clone(v));
        let result = compute(member, &gather(member, find)?)?;
        values.push((id, Rc::new(result)));
    }
    values.pop().map(|(_, v)| v).ok_or_else(no_operand)
}

fn compute(instruction: &HloInstruction, operands: &[Rc<Tensor>]) -> Result<Tensor, EvalError> {
    let operands: Vec<&Tensor> = operands.iter().map(Rc::as_ref).collect();
    let shape = &instruction.shape;
    let result = match (&instruction.opcode, operands.as_slice()) {
        (Opcode::Constant(literal), []) => Tensor::splat(shape.clone(), literal.0),
        (Opcode::Dot(d), [lhs, rhs]) => dot(lhs, rhs, d.batch, d.lhs_contracting, d.rhs_contracting),
        (Opcode::Transpose { permutation }, [x]) => transpose(x, permutation),
        (Opcode::Broadcast { dimensions }, [x]) => broadcast_in_dim(x, shape, dimensions),
        (Opcode::Reshape, [x]) => (*x).clone().reshaped(shape.clone()),
        (Opcode::Convert, [x]) => convert(x, shape.dtype),
        (Opcode::Reduce { kind, dimensions }, [x]) => reduce(reduce_op(*kind), x, dimensions),
        (Opcode::ReduceWindow { kind, window }, [x]) => reduce_window(reduce_op(*kind), x, window),
        (Opcode::Convolution { window, feature_group_count }, [x, weight]) => {
            convolution(x, weight, window, *feature_group_count)
        }
        (Opcode::Gather, [table, indices]) => gather_rows(table, indices),
        (Opcode::Concatenate { dimension }, operands) => concatenate(operands, *dimension),
        (Opcode::Slice { ranges }, [x]) => slice(x, ranges),
        (Opcode::DynamicUpdateSlice, [x, update, starts @ ..]) => {
            let starts: Vec<f32> = starts.iter().filter_map(|s| s.data().first().copied()).collect();
            dynamic_update_slice(x, update, &starts)
        }
        (Opcode::CustomCall { target }, [x]) => {
            if target != "relu" {
                return Err(EvalError::UnknownTarget { name: instruction.name.clone(), target: target.clone() });
            }
            unary(UnaryOp::ReluKernel, x)
        }
        (op, [x]) => match unary_op(op) {
            Some(op) => unary(op, x),
            None => return Err(EvalError::NoOperand { name: instruction.name.clone() }),
        },
        (op, [a, b]) => match binary_op(op) {
            Some(op) => binary(op, a, b),
            None => return Err(EvalError::NoOperand { name: instruction.name.clone() }),
        },
        _ => return Err(EvalError::NoOperand { name: instruction.name.clone() }),
    };
    result.map_err(|e| EvalError::Compute { name: instruction.name.clone(), source: Box::new(e) })
}

const fn reduce_op(kind: ReduceKind) -> ReduceOp {
    match kind {
        ReduceKind::Sum => ReduceOp::Sum,
        ReduceKind::Max => ReduceOp::Max,
    }
}

const fn unary_op(op: &Opcode) -> Option<UnaryOp> {
    Some(match op {
        Opcode::Negate => UnaryOp::Neg,
        Opcode::Exponential => UnaryOp::Exp,
        Opcode::Log => UnaryOp::Log,
        Opcode::Tanh => UnaryOp::Tanh,
        Opcode::Sqrt => UnaryOp::Sqrt,
        Opcode::Rsqrt => UnaryOp::Rsqrt,
        Opcode::Gelu => UnaryOp::Gelu,
        Opcode::Logistic => UnaryOp::Logistic,
        _ => return None,
    })
}

const fn binary_op(op: &Opcode) -> Option<BinaryOp> {
    Some(match op {
        Opcode::Add => BinaryOp::Add,
        Opcode::Subtract => BinaryOp::Sub,
        Opcode::Multiply => BinaryOp::Mul,
        Opcode::Divide => BinaryOp::Div,
        Opcode::Maximum => BinaryOp::Maximum,
        Opcode::Minimum => BinaryOp::Minimum,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_1_SQRT_2;

    use super::*;
    use crate::compiler::hlo::parse;

    fn run(lines: &str, inputs: &[(&[u64], &[f32])]) -> Result<Vec<Rc<Tensor>>, EvalError> {
        let mut text = "HloModule m\nENTRY {\n".to_owned();
        for (i, (dims, _)) in inputs.iter().enumerate() {
            text += &format!("%p{i} = {} parameter({i}), input={i}\n", Shape::f32(*dims));
        }
        let values: Vec<_> =
            inputs.iter().map(|(d, v)| Rc::new(Tensor::new(Shape::f32(*d), v.to_vec()).unwrap())).collect();
        evaluate(&parse(&format!("{text}{lines}\n}}")).unwrap(), &values)
    }

    fn one(lines: &str, inputs: &[(&[u64], &[f32])]) -> Vec<f32> {
        run(lines, inputs).unwrap()[0].data().to_vec()
    }

    #[test]
    fn every_elementwise_opcode_has_its_meaning() {
        let (a, b): (&[f32], &[f32]) = (&[4.0, 1.0], &[2.0, -8.0]);
        for (op, expected) in [
            ("add", [6.0, -7.0]),
            ("subtract", [2.0, 9.0]),
            ("multiply", [8.0, -8.0]),
            ("divide", [2.0, -0.125]),
            ("maximum", [4.0, 1.0]),
            ("minimum", [2.0, -8.0]),
        ] {
            assert_eq!(one(&format!("ROOT %r = f32[2] {op}(%p0, %p1)"), &[(&[2], a), (&[2], b)]), expected, "{op}");
        }
        for (op, expected) in [
            ("negate", [-4.0, -1.0]),
            ("exponential", [libm::expf(4.0), libm::expf(1.0)]),
            ("log", [libm::logf(4.0), 0.0]),
            ("tanh", [libm::tanhf(4.0), libm::tanhf(1.0)]),
            ("sqrt", [2.0, 1.0]),
            ("rsqrt", [0.5, 1.0]),
            ("gelu", [2.0 * (1.0 + libm::erff(4.0 * FRAC_1_SQRT_2)), 0.5 * (1.0 + libm::erff(FRAC_1_SQRT_2))]),
            ("logistic", [1.0 / (1.0 + libm::expf(-4.0)), 1.0 / (1.0 + libm::expf(-1.0))]),
        ] {
            assert_eq!(one(&format!("ROOT %r = f32[2] {op}(%p0)"), &[(&[2], a)]), expected, "{op}");
        }
    }

    #[test]
    fn other_opcodes_have_theirs() {
        let x: (&[u64], &[f32]) = (&[2, 3], &[1.0, 2.0, 3.0, -4.0, 5.0, 6.5]);
        assert_eq!(one("ROOT %r = f32[3,2] transpose(%p0), dimensions={1,0}", &[x]), [1.0, -4.0, 2.0, 5.0, 3.0, 6.5]);
        assert_eq!(one("ROOT %r = f32[6] reshape(%p0)", &[x]), x.1);
        assert_eq!(one("ROOT %r = s32[2,3] convert(%p0)", &[x]), [1.0, 2.0, 3.0, -4.0, 5.0, 6.0]);
        assert_eq!(one("ROOT %r = f32[3] reduce(%p0), dimensions={0}, to_apply=maximum", &[x]), [1.0, 5.0, 6.5]);
        assert_eq!(one("ROOT %r = f32[2] reduce(%p0), dimensions={1}, to_apply=add", &[x]), [6.0, 7.5]);
        assert_eq!(
            one("ROOT %r = f32[2,3] custom-call(%p0), custom_call_target=\"relu\"", &[x]),
            [1.0, 2.0, 3.0, 0.0, 5.0, 6.5]
        );
        assert_eq!(one("ROOT %r = f32[2] constant(-inf)", &[]), [f32::NEG_INFINITY; 2]);
        let dot = "ROOT %r = f32[2,2] dot(%p0, %p0), lhs_contracting_dims={1}, rhs_contracting_dims={1}";
        assert_eq!(one(dot, &[x]), [14.0, 25.5, 25.5, 83.25]);
    }

    #[test]
    fn windows_rows_and_parts() {
        let image: (&[u64], &[f32]) = (&[1, 1, 2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let kernel: (&[u64], &[f32]) = (&[1, 1, 1, 2], &[1.0, 10.0]);
        let line = "ROOT %r = f32[1,1,2,2] convolution(%p0, %p1), window={size=1x2}";
        assert_eq!(one(line, &[image, kernel]), [21.0, 32.0, 54.0, 65.0]);
        // Each element spread over two columns: 1 * (1, 10), 2 * (1, 10), 3 * (1, 10), ...
        let line = "ROOT %r = f32[1,1,2,6] convolution(%p0, %p1), \
                    window={size=1x2 pad=0_0x1_1 lhs_dilate=1x2 rhs_reversal=0x1}";
        assert_eq!(one(line, &[image, kernel]), [1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0, 5.0, 50.0, 6.0, 60.0]);
        let line = "ROOT %r = f32[1,1,1,2] reduce-window(%p0), window={size=1x1x2x2}, to_apply=maximum";
        assert_eq!(one(line, &[image]), [5.0, 6.0]);
        let line = "ROOT %r = f32[1,1,1,2] reduce-window(%p0), window={size=1x1x2x2}, to_apply=add";
        assert_eq!(one(line, &[image]), [12.0, 16.0]);
        let table: (&[u64], &[f32]) = (&[3, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let ids: (&[u64], &[f32]) = (&[2], &[2.0, 0.0]);
        let line = "%i = s32[2] convert(%p1)\n ROOT %r = f32[2,2] gather(%p0, %i)";
        assert_eq!(one(line, &[table, ids]), [4.0, 5.0, 0.0, 1.0]);
        assert_eq!(one("ROOT %r = f32[1,1] slice(%p0), slice={[1:2], [0:2:2]}", &[table]), [2.0]);
        let line = "ROOT %r = f32[3,3] concatenate(%p0, %p1), dimensions={1}";
        assert_eq!(one(line, &[table, (&[3, 1], &[7.0; 3])]), [0.0, 1.0, 7.0, 2.0, 3.0, 7.0, 4.0, 5.0, 7.0]);
        let line = "%c = s32[] constant(2)\n %z = s32[] constant(0)\n \
                    ROOT %r = f32[3,2] dynamic-update-slice(%p0, %p1, %c, %z)";
        assert_eq!(one(line, &[table, (&[1, 2], &[8.0, 9.0])]), [0.0, 1.0, 2.0, 3.0, 8.0, 9.0]);
    }

    #[test]
    fn a_tuple_gives_several_results() {
        let results = run("%n = f32[1] negate(%p0)\nROOT %t = f32[1] tuple(%p0, %n)", &[(&[1], &[2.0])]).unwrap();
        assert_eq!(results.iter().map(|t| t.data()[0]).collect::<Vec<_>>(), [2.0, -2.0]);
    }

    #[test]
    fn errors_name_the_instruction() {
        let unknown = run("ROOT %r = f32[1] custom-call(%p0), custom_call_target=\"gelu\"", &[(&[1], &[2.0])]);
        assert_eq!(unknown.unwrap_err().to_string(), "instruction %r: there is no kernel \"gelu\"; there is relu");
        let module = parse("HloModule m\nENTRY { ROOT %p0 = f32[2] parameter(0), input=0 }").unwrap();
        let missing = evaluate(&module, &[]).unwrap_err();
        assert_eq!(missing.to_string(), "instruction %p0: no value was given for parameter 0");
        let wrong = Rc::new(Tensor::splat(Shape::f32([3]), 0.0).unwrap());
        let e = evaluate(&module, &[wrong]).unwrap_err();
        assert_eq!(e.to_string(), "instruction %p0: parameter 0 is f32[2], a value of f32[3] was given");
        let huge = run("ROOT %r = f32[1000000,1000000] constant(1)", &[]).unwrap_err();
        assert!(huge.to_string().starts_with("instruction %r: a tensor of f32[1000000,1000000] has"), "{huge}");
    }
}
