//! Functions of whole tensors. Their times are not published, so each is timed as an equivalent loop: over blocks
//! that are copied to local memory and back.

use super::expressions::operation;
use super::interface::{apply, new_size};
use super::machine::{Machine, Stop, stop};
use super::work::{Meter, Work};
use crate::arithmetic::{self, binary, convert, wrap};
use crate::parse::ast::BinaryOp;
use crate::problem::{Pos, Problem};
use crate::program::TensorFunction;
use crate::types::Scalar;
use crate::value::Value;
use ns_base::convert::u64_to_usize;

/// The tensor and the operands of a call.
struct Call {
    function: TensorFunction,
    of: Scalar,
    /// A tensor by its number, or one value for every element.
    operands: Vec<Operand>,
}

#[derive(Clone, Copy)]
enum Operand {
    Tensor(u32),
    Number(Value),
}

impl<M: Meter> Machine<M> {
    /// A function of tensors; the arguments are the result, if it is given, and then the operands.
    pub(super) fn elementwise(
        &mut self,
        pos: Pos,
        function: TensorFunction,
        out: bool,
        v: &[Value],
    ) -> Result<Value, Stop> {
        self.single_core_only(pos, "a function of tensors")?;
        let (result, operands) = if out { (v.first(), v.get(1..).unwrap_or(&[])) } else { (None, v) };
        let Some(first) = operands.first().map(|o| o.handle()) else { return Ok(Value::Void) };
        let call = self.call_on(pos, function, first, operands)?;
        let result = match result {
            Some(given) => self.same_kind(pos, first, given.handle())?,
            None => {
                let dims = self.tensors[first as usize].dims.clone();
                self.create(pos, &dims, Value::DType(call.of), None)?.handle()
            }
        };
        self.charge(pos, &call, result)?;
        let mark = self.mark();
        for i in 0..self.tensors[result as usize].writer.len() {
            let mut values = [Value::Void; 3];
            for (value, operand) in values.iter_mut().zip(&call.operands) {
                *value = self.element(pos, *operand, i)?;
            }
            let value = call.of_elements(values).map_err(|problem| stop(pos, problem))?;
            self.tensors[result as usize].write(i, value, mark);
        }
        Ok(Value::Tensor(result))
    }

    /// Checks that are only possible at run time: element types and shapes.
    fn call_on(&self, pos: Pos, function: TensorFunction, first: u32, given: &[Value]) -> Result<Call, Stop> {
        let of = self.tensors[first as usize].of;
        let fits = match function {
            TensorFunction::Math(_) | TensorFunction::Arithmetic(BinaryOp::Div) => of.is_float(),
            TensorFunction::Arithmetic(BinaryOp::And | BinaryOp::Or) | TensorFunction::BitNot => !of.is_float(),
            _ => true,
        };
        if !fits {
            let text = if of.is_float() {
                format!("a bitwise function is called on a tensor of {}; use a tensor of integers", of.name())
            } else {
                format!("the function is called on a tensor of {}; use a tensor of float", of.name())
            };
            return Err(stop(pos, Problem::error("invalid", text)));
        }
        let mut operands = Vec::with_capacity(given.len());
        for value in given {
            operands.push(match value {
                Value::Tensor(other) => Operand::Tensor(self.same_kind(pos, first, *other)?),
                number => Operand::Number(convert(*number, Scalar::F64, of).map_err(|p| stop(pos, p))?),
            });
        }
        Ok(Call { function, of, operands })
    }

    /// The second of two tensors, if it has the shape and the element type of the first.
    fn same_kind(&self, pos: Pos, first: u32, second: u32) -> Result<u32, Stop> {
        let (a, b) = (&self.tensors[first as usize], &self.tensors[second as usize]);
        if a.dims == b.dims && a.of == b.of {
            return Ok(second);
        }
        let text = format!(
            "{}{:?} meets {}{:?}; use tensors of one element type and shape; there is no broadcasting",
            a.of.name(),
            a.dims,
            b.of.name(),
            b.dims
        );
        Err(stop(pos, Problem::error("invalid", text)))
    }

    fn element(&self, pos: Pos, operand: Operand, index: usize) -> Result<Value, Stop> {
        match operand {
            Operand::Number(value) => Ok(value),
            Operand::Tensor(tensor) => {
                let t = &self.tensors[tensor as usize];
                if t.writer.get(index).is_none_or(|w| *w == 0) {
                    return Err(stop(pos, Problem::uninitialised(&format!("element {index} of the tensor"))));
                }
                Ok(t.read(index))
            }
        }
    }

    /// Charges the time of a call, and its turns to the budget.
    fn charge(&mut self, pos: Pos, call: &Call, result: u32) -> Result<(), Stop> {
        let (elements, bytes) = {
            let t = &self.tensors[result as usize];
            (t.elements(), t.bytes.len() as u64)
        };
        self.turns(pos, elements)?;
        let read = call.operands.iter().filter(|o| matches!(o, Operand::Tensor(_))).count();
        for _ in 0..=read {
            self.work(pos, Work::TensorMove { bytes });
        }
        let work = call.work();
        for _ in 0..elements {
            for _ in 0..=read {
                self.work(pos, Work::Tcm);
            }
            self.work(pos, work);
            // The end of the loop's body.
            self.work(pos, Work::Integer);
            self.work(pos, Work::Jump);
        }
        Ok(())
    }

    /// `torch::eye`: zeros with ones on the diagonal.
    pub(super) fn eye(&mut self, pos: Pos, v: &[Value]) -> Result<Value, Stop> {
        let [rows, columns, dtype] = v else { return Ok(Value::Void) };
        let mut dims = Vec::new();
        for size in [rows, columns] {
            dims.push(new_size(pos, size.int())?);
        }
        let tensor = self.create(pos, &dims, *dtype, Some(Value::F64(0.0)))?;
        let mark = self.mark();
        let t = &mut self.tensors[tensor.handle() as usize];
        let one = convert(Value::F64(1.0), Scalar::F64, t.of).map_err(|p| stop(pos, p))?;
        for i in 0..dims[0].min(dims[1]) {
            t.write(u64_to_usize(i * (dims[1] + 1)), one, mark);
        }
        Ok(tensor)
    }
}

impl Call {
    const fn work(&self) -> Work {
        match self.function {
            TensorFunction::Math(_) => Work::Function,
            TensorFunction::Arithmetic(BinaryOp::Div) => Work::Divide,
            _ => operation(self.of),
        }
    }

    /// The result for one element of each operand.
    fn of_elements(&self, [a, b, c]: [Value; 3]) -> Result<Value, Problem> {
        let of = self.of;
        match self.function {
            TensorFunction::Math(function) => Ok(apply(function, &[a, b])),
            TensorFunction::Abs => match a {
                Value::F32(x) => Ok(Value::F32(x.abs())),
                Value::F64(x) => Ok(Value::F64(x.abs())),
                Value::Int(i) if i < 0 => arithmetic::negate(of, a),
                other => Ok(other),
            },
            // Alpha multiplies the second operand.
            TensorFunction::Arithmetic(op) => {
                let b = if matches!(c, Value::Void) { b } else { binary(BinaryOp::Mul, of, b, c)? };
                binary(op, of, a, b)
            }
            TensorFunction::Clamp => {
                let raised = if binary(BinaryOp::Lt, of, a, b)?.is_true() { b } else { a };
                Ok(if binary(BinaryOp::Lt, of, c, raised)?.is_true() { c } else { raised })
            }
            TensorFunction::BitNot => Ok(match a {
                Value::Int(i) => Value::Int(wrap(!i, of)),
                other => other,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{HbmTensor, KernelRun, Meter, Role, RunOptions, Work, compile};

    #[derive(Default)]
    struct Count(Vec<Work>);

    impl Meter for Count {
        fn line(&mut self, _line: u32) {}
        fn work(&mut self, _line: u32, work: Work) {
            self.0.push(work);
        }
    }

    fn run(body: &str, multicore: bool) -> (Vec<Option<f32>>, Vec<String>, Vec<Work>) {
        let source = format!("torch::Tensor f(const torch::Tensor& t) {{ {body} }}");
        let program = compile(&source).unwrap();
        let input = HbmTensor::from_f32(&[4], &[-2.0, -0.5, 0.0, 3.0]);
        let options = RunOptions { multicore, cores: 1, tcm_pool_bytes: 16_384, step_limit: 10_000 };
        let kernel = program.kernel(Role::Forward).unwrap();
        let mut run = KernelRun::new(kernel, vec![input], &options, vec![Count::default()]);
        while !run.advance(u64::MAX) {}
        let (outcome, meters) = run.finish();
        let said = outcome.diagnostics.iter().map(|d| d.problem.to_string()).collect();
        (outcome.result, said, meters.into_iter().next().unwrap().0)
    }

    fn values(body: &str) -> Vec<f32> {
        let (result, said, _) = run(body, false);
        assert!(said.is_empty(), "{body}: {said:?}");
        result.into_iter().map(Option::unwrap).collect()
    }

    #[test]
    fn values_are_those_of_a_loop() {
        assert_eq!(values("return torch::abs(t);"), [2.0, 0.5, 0.0, 3.0]);
        assert_eq!(values("return torch::clamp(t, -1, 1);"), [-1.0, -0.5, 0.0, 1.0]);
        assert_eq!(values("return torch::add(t, t, 2);"), [-6.0, -1.5, 0.0, 9.0]);
        assert_eq!(values("return torch::mul(torch::sub(t, 1), t);"), [6.0, 0.75, 0.0, 6.0]);
        assert_eq!(values("return torch::floor(torch::div(t, 2));"), [-1.0, -1.0, 0.0, 1.0]);
        assert_eq!(values("return torch::exp(t);")[3], libm::expf(3.0));
        let out = "torch::Tensor r = torch::neuron::get_dst_tensor(); torch::pow_out(r, t, 2); return r;";
        assert_eq!(values(out), [4.0, 0.25, 0.0, 9.0]);
    }

    #[test]
    fn every_element_is_paid_for() {
        let (.., work) = run("return torch::exp(t);", false);
        assert_eq!(work.iter().filter(|w| **w == Work::Function).count(), 4);
        assert_eq!(work.iter().filter(|w| matches!(w, Work::TensorMove { bytes: 16 })).count(), 3);
    }

    #[test]
    fn errors_of_a_run_are_reported() {
        let said = |body: &str, multicore| run(body, multicore).1.join("; ");
        assert!(said("return torch::bitwise_not(t);", false).contains("tensor of float"));
        let other = "torch::Tensor u = torch::zeros({2, 2}, torch::kFloat); return torch::add(t, u);";
        assert!(said(other, false).contains("there is no broadcasting"));
        let whole = "torch::Tensor u = torch::ones(t.sizes(), torch::kInt); return torch::sin(u);";
        assert!(said(whole, false).contains("use a tensor of float"));
        let empty = "torch::Tensor u = torch::empty(t.sizes(), torch::kFloat); return torch::exp(u);";
        assert!(said(empty, false).contains("element 0"));
        assert!(said("return torch::exp(t);", true).contains("works on one processor only"));
        let endless = "torch::Tensor u = torch::zeros(t.sizes(), torch::kFloat); while (true) { torch::exp_out(u, t); } return u;";
        assert!(!said(endless, false).is_empty());
    }
}
