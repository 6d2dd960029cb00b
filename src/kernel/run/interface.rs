//! The interface of custom operators: tensors, accessors, TCM, processors.

use super::expressions::operation;
use super::machine::{Machine, Stop, stop};
use super::tensor::HbmTensor;
use super::work::{Meter, Work};
use crate::arithmetic;
use crate::parse::ast::BinaryOp;
use crate::problem::{Pos, Problem};
use crate::program::{Expr, FloatKind, Intrinsic, MathFunction};
use crate::types::Scalar;
use crate::value::Value;
use ns_base::convert::{u64_to_usize, usize_to_i64, usize_to_u32};

/// The most tensors that one processor may create.
const MAX_TENSORS: usize = 64;

impl<M: Meter> Machine<M> {
    /// A call of the interface.
    pub(super) fn interface(&mut self, pos: Pos, what: Intrinsic, arguments: &[Expr]) -> Result<Value, Stop> {
        // Most calls have at most four arguments; tensors have up to ten with their sizes.
        let mut values = [Value::Void; 12];
        for (slot, e) in values.iter_mut().zip(arguments) {
            *slot = self.eval(e)?;
        }
        let v = &values[..arguments.len().min(values.len())];
        match what {
            Intrinsic::Math(function, scalar) => {
                self.work(pos, if scalar == Scalar::F64 { Work::DoubleFunction } else { Work::Function });
                Ok(apply(function, v))
            }
            Intrinsic::Classify(kind, scalar) => {
                self.work(pos, operation(scalar));
                Ok(Value::bool(is_kind(kind, v[0])))
            }
            Intrinsic::Abs(scalar) => {
                self.work(pos, operation(scalar));
                match v[0] {
                    Value::F32(x) => Ok(Value::F32(x.abs())),
                    Value::F64(x) => Ok(Value::F64(x.abs())),
                    Value::Int(i) if i < 0 => arithmetic::negate(scalar, v[0]).map_err(|p| stop(pos, p)),
                    other => Ok(other),
                }
            }
            Intrinsic::Max(scalar) | Intrinsic::Min(scalar) => {
                self.work(pos, operation(scalar));
                // As `std::max` and `std::min` do: the first, unless the second is strictly greater or smaller.
                let (l, r) = if matches!(what, Intrinsic::Max(_)) { (v[0], v[1]) } else { (v[1], v[0]) };
                let less = arithmetic::binary(BinaryOp::Lt, scalar, l, r).map_err(|p| stop(pos, p))?;
                Ok(if less.is_true() { v[1] } else { v[0] })
            }
            Intrinsic::ReadStream => self.read_stream(pos, v[0].handle()),
            Intrinsic::WriteStream => self.write_stream(pos, v[0].handle(), v[1]).map(|()| Value::Void),
            Intrinsic::CpuId | Intrinsic::CpuCount => {
                self.work(pos, Work::Integer);
                let cores = self.options.active_cores();
                Ok(Value::Int(i64::from(if matches!(what, Intrinsic::CpuId) { self.core } else { cores })))
            }
            Intrinsic::Assert if !v[0].is_true() => Err(stop(pos, Problem::error("assertion", "the assertion fails"))),
            Intrinsic::Assert | Intrinsic::SetPolicy => self.set_policy(what, v),
            Intrinsic::Printf => {
                // Costly even when it is switched off (API reference); the text is discarded here.
                self.work(pos, Work::Call);
                Ok(Value::Int(0))
            }
            Intrinsic::TcmMalloc | Intrinsic::TcmFree => self.tcm_pool(pos, what, v[0]),
            Intrinsic::TensorToTcm(of) | Intrinsic::TcmToTensor(of) => {
                self.tcm_copy(pos, matches!(what, Intrinsic::TensorToTcm(_)), of, v).map(|()| Value::Void)
            }
            _ => self.tensor_call(pos, what, v),
        }
    }

    fn tensor_call(&mut self, pos: Pos, what: Intrinsic, v: &[Value]) -> Result<Value, Stop> {
        match what {
            Intrinsic::Numel | Intrinsic::Dim => {
                self.work(pos, Work::Tcm);
                let t = &self.tensors[v[0].handle() as usize];
                Ok(Value::Int(if matches!(what, Intrinsic::Numel) {
                    t.elements().cast_signed()
                } else {
                    usize_to_i64(t.dims.len())
                }))
            }
            Intrinsic::Size | Intrinsic::AccessorSize => self.size(pos, v[0], v[1].int()),
            Intrinsic::SizesEqual => {
                self.work(pos, Work::Integer);
                let dims = |v: Value| &self.tensors[v.handle() as usize].dims;
                Ok(Value::bool(dims(v[0]) == dims(v[1])))
            }
            Intrinsic::DTypesEqual => {
                self.work(pos, Work::Integer);
                Ok(Value::bool(v[0] == v[1]))
            }
            Intrinsic::DTypeOf => Ok(Value::DType(self.tensors[v[0].handle() as usize].of)),
            Intrinsic::TcmAccessor => Ok(v[0]),
            Intrinsic::DstTensor => {
                self.dst_asked_for = true;
                self.work(pos, Work::Call);
                Ok(Value::Tensor(self.dst))
            }
            Intrinsic::Accessor { of, dims } => self.accessor(pos, v[0].handle(), of, dims),
            Intrinsic::OpenStream { of, writes } => self.open_stream(pos, v[0].handle(), of, writes),
            Intrinsic::CloseStream => {
                self.close_stream(pos, v[0].handle());
                Ok(Value::Int(0))
            }
            Intrinsic::Fill => {
                let tensor = v[0].handle();
                self.fill(pos, tensor, v[1])?;
                Ok(Value::Tensor(tensor))
            }
            Intrinsic::Elementwise { function, out } => self.elementwise(pos, function, out, v),
            Intrinsic::Eye => self.eye(pos, v),
            Intrinsic::NewLike { filled } => {
                let dims = self.tensors[v[0].handle() as usize].dims.clone();
                self.create(pos, &dims, v[1], filled.then(|| v[2]))
            }
            Intrinsic::New { dims: n, filled } => {
                let n = usize::from(n);
                let dims = v[..n].iter().map(|size| new_size(pos, size.int())).collect::<Result<Vec<_>, Stop>>()?;
                self.create(pos, &dims, v[n], filled.then(|| v[n + 1]))
            }
            _ => Ok(Value::Void),
        }
    }

    /// A size of a tensor or an accessor; a negative index counts from the end.
    fn size(&mut self, pos: Pos, of: Value, asked: i64) -> Result<Value, Stop> {
        // Sizes lie in local memory.
        self.work(pos, Work::Tcm);
        let all = &self.tensors[of.handle() as usize].dims;
        let indexed = if let Value::Accessor { level, .. } = of { usize::from(level) } else { 0 };
        let dims = all.get(indexed..).unwrap_or_default();
        let len = usize_to_i64(dims.len());
        let index = if asked < 0 { asked + len } else { asked };
        usize::try_from(index).ok().and_then(|i| dims.get(i)).map(|d| Value::Int(d.cast_signed())).ok_or_else(|| {
            let text = format!("the tensor's sizes is out of bounds: dimension {asked} of {len}");
            stop(pos, Problem::error("out_of_bounds", text))
        })
    }

    pub(super) fn create(&mut self, pos: Pos, dims: &[u64], dtype: Value, fill: Option<Value>) -> Result<Value, Stop> {
        let invalid = |text: &str| stop(pos, Problem::error("invalid", text));
        let Value::DType(of) = dtype else { return Err(invalid("the element type is not known; use torch::kFloat")) };
        if self.tensors.len() > MAX_TENSORS {
            return Err(invalid("more than 64 tensors are created; create them once, outside the loop"));
        }
        let Some(tensor) = HbmTensor::empty(dims, of) else {
            return Err(invalid("the tensor is larger than 256 MiB; use a smaller one"));
        };
        let number = usize_to_u32(self.tensors.len());
        self.tensors.push(tensor);
        self.work(pos, Work::Call);
        if let Some(value) = fill {
            self.fill(pos, number, value)?;
        }
        Ok(Value::Tensor(number))
    }

    fn fill(&mut self, pos: Pos, tensor: u32, value: Value) -> Result<(), Stop> {
        let mark = self.mark();
        self.turns(pos, self.tensors[tensor as usize].elements())?;
        let t = &mut self.tensors[tensor as usize];
        let value = arithmetic::convert(value, Scalar::F64, t.of).map_err(|p| stop(pos, p))?;
        for i in 0..t.writer.len() {
            t.write(i, value, mark);
        }
        let bytes = t.bytes.len() as u64;
        self.work(pos, Work::TensorMove { bytes });
        Ok(())
    }

    /// Standard and streaming accessors are for one processor.
    pub(super) fn single_core_only(&self, pos: Pos, what: &'static str) -> Result<(), Stop> {
        if !self.options.multicore {
            return Ok(());
        }
        let text = format!(
            "{what} works on one processor only: in multicore mode its results are undefined; copy blocks with tcm_accessor()"
        );
        Err(stop(pos, Problem::error("single_core_only", text)))
    }

    /// Checks that an accessor's element type is the tensor's.
    pub(super) fn element_type(&self, pos: Pos, tensor: u32, of: Scalar, what: &str) -> Result<(), Stop> {
        let found = self.tensors[tensor as usize].of;
        if found == of {
            return Ok(());
        }
        let (of, found) = (of.name(), found.name());
        let text = format!("{what} is opened for {of} on a tensor of {found}; write <{found}>");
        Err(stop(pos, Problem::error("invalid", text)))
    }

    fn accessor(&mut self, pos: Pos, tensor: u32, of: Scalar, dims: u8) -> Result<Value, Stop> {
        self.single_core_only(pos, "accessor()")?;
        self.element_type(pos, tensor, of, "accessor()")?;
        let found = self.tensors[tensor as usize].dims.len();
        if found != usize::from(dims) {
            let of = of.name();
            let text = format!(
                "accessor<{of}, {dims}>() is called on a tensor of {found} dimension(s); write accessor<{of}, {found}>()"
            );
            return Err(stop(pos, Problem::error("invalid", text)));
        }
        Ok(Value::Accessor { tensor, level: 0, offset: 0 })
    }

    fn tcm_pool(&mut self, pos: Pos, what: Intrinsic, value: Value) -> Result<Value, Stop> {
        self.work(pos, Work::Call);
        if matches!(what, Intrinsic::TcmFree) {
            self.memory.free(value.pointer()).map_err(|p| stop(pos, p))?;
            return Ok(Value::Void);
        }
        let bytes = value.int().cast_unsigned();
        match self.memory.malloc(bytes, pos) {
            Ok(pointer) => Ok(Value::Pointer(pointer)),
            Err(free) => {
                self.note(pos, Problem::tcm_exhausted(bytes, free, self.options.tcm_pool_bytes));
                Ok(Value::NULL)
            }
        }
    }

    /// `tensor_to_tcm` and `tcm_to_tensor`: accessor, pointer, first element, number of elements. A copy beyond the tensor
    /// is a problem; the part inside is copied, as the hardware would.
    fn tcm_copy(&mut self, pos: Pos, to_tcm: bool, of: Scalar, v: &[Value]) -> Result<(), Stop> {
        let (tensor, p) = (v[0].handle(), v[1].pointer());
        let (first, count) = (v[2].int().cast_unsigned(), v[3].int().cast_unsigned());
        let name = if to_tcm { "tensor_to_tcm()" } else { "tcm_to_tensor()" };
        self.element_type(pos, tensor, of, name)?;
        let elements = self.tensors[tensor as usize].elements();
        let bytes = count.checked_mul(of.bytes());
        let (Some(end), Some(bytes)) = (first.checked_add(count), bytes) else {
            return Err(stop(pos, beyond(first, count, elements)));
        };
        self.work(pos, Work::Dma { bytes });
        if end > elements {
            self.note(pos, beyond(first, count, elements));
        }
        let inside = u64_to_usize(end.min(elements).saturating_sub(first));
        let first = u64_to_usize(first);
        if to_tcm {
            self.copy_in(pos, tensor, p, (first, inside), bytes)
        } else {
            self.copy_out(pos, tensor, p, (first, inside), (bytes, end))
        }
    }

    fn copy_in(
        &mut self,
        pos: Pos,
        tensor: u32,
        p: crate::value::Pointer,
        (first, inside): (usize, usize),
        bytes: u64,
    ) -> Result<(), Stop> {
        let (to, written) = self.memory.slice_mut(p, bytes).map_err(|problem| stop(pos, problem))?;
        // Memory beyond the tensor belongs to other data: it counts as written, so that one mistake is reported only
        // once.
        written.fill(true);
        let t = &self.tensors[tensor as usize];
        let size = u64_to_usize(t.of.bytes());
        let from = t.bytes.get(first * size..(first + inside) * size).unwrap_or(&[]);
        to[..from.len()].copy_from_slice(from);
        for (i, w) in t.writer.iter().skip(first).take(inside).enumerate() {
            if *w == 0 {
                written[i * size..(i + 1) * size].fill(false);
            }
        }
        Ok(())
    }

    fn copy_out(
        &mut self,
        pos: Pos,
        tensor: u32,
        p: crate::value::Pointer,
        (first, inside): (usize, usize),
        (bytes, end): (u64, u64),
    ) -> Result<(), Stop> {
        let mark = self.mark();
        let (from, written) = self.memory.slice(p, bytes).map_err(|problem| stop(pos, problem))?;
        let t = &mut self.tensors[tensor as usize];
        let size = u64_to_usize(t.of.bytes());
        if let Some(missing) = written.iter().position(|w| !w) {
            let what = format!("element {} of the buffer that is copied to the tensor", missing / size);
            return Err(stop(pos, Problem::uninitialised(&what)));
        }
        if let Some(to) = t.bytes.get_mut(first * size..(first + inside) * size) {
            to.copy_from_slice(&from[..inside * size]);
        }
        let mut race = None;
        for (i, w) in t.writer.iter_mut().enumerate().skip(first).take(inside) {
            if tensor == self.dst && *w != 0 && *w != mark && race.is_none() {
                race = Some((u32::from(*w - 1), i as u64));
            }
            *w = mark;
        }
        if tensor == self.dst {
            let first = first as u64;
            match &mut self.written.span {
                Some((low, high)) => {
                    *low = (*low).min(first);
                    *high = (*high).max(end);
                }
                none => {
                    *none = Some((first, end));
                    self.written.pos = pos;
                }
            }
        }
        if let Some((other, element)) = race {
            let text = format!(
                "processors {other} and {} both write element {element} of the result: a race; give each processor elements of its own",
                self.core
            );
            self.note(pos, Problem::error("race", text));
        }
        Ok(())
    }

    fn set_policy(&mut self, what: Intrinsic, v: &[Value]) -> Result<Value, Stop> {
        if matches!(what, Intrinsic::SetPolicy) {
            self.policies.push((v[0].handle(), v[1].int()));
        }
        Ok(Value::Void)
    }

    /// The coherence policy of a tensor: 0 refuses, other values allow.
    pub(super) fn tensor_policy(&self, tensor: u32) -> i64 {
        self.policies.iter().rev().find(|(t, _)| *t == tensor).map_or(0, |(_, policy)| *policy)
    }
}

fn beyond(first: u64, count: u64, elements: u64) -> Problem {
    let end = u128::from(first) + u128::from(count);
    let last = end.saturating_sub(1);
    let text = format!("the copy is out of bounds: elements {first} to {last} of a tensor of {elements}");
    Problem::error("out_of_bounds", text)
}

pub(super) fn apply(function: MathFunction, v: &[Value]) -> Value {
    match (function, v) {
        (MathFunction::One(f, _), [Value::F32(x), ..]) => Value::F32(f(*x)),
        (MathFunction::One(_, f), [Value::F64(x), ..]) => Value::F64(f(*x)),
        (MathFunction::Two(f, _), [Value::F32(x), Value::F32(y), ..]) => Value::F32(f(*x, *y)),
        (MathFunction::Two(_, f), [Value::F64(x), Value::F64(y), ..]) => Value::F64(f(*x, *y)),
        (MathFunction::Three(f, _), [Value::F32(x), Value::F32(y), Value::F32(z), ..]) => Value::F32(f(*x, *y, *z)),
        (MathFunction::Three(_, f), [Value::F64(x), Value::F64(y), Value::F64(z), ..]) => Value::F64(f(*x, *y, *z)),
        _ => Value::Void,
    }
}

/// Whether a number is a float of this kind.
fn is_kind(kind: FloatKind, value: Value) -> bool {
    let x = match value {
        Value::F32(x) => f64::from(x),
        Value::F64(x) => x,
        _ => 0.0,
    };
    match kind {
        FloatKind::NotANumber => x.is_nan(),
        FloatKind::Infinite => x.is_infinite(),
        FloatKind::Finite => x.is_finite(),
        FloatKind::Negative => x.is_sign_negative(),
    }
}

/// A size of a tensor that a kernel makes.
pub(super) fn new_size(pos: Pos, size: i64) -> Result<u64, Stop> {
    u64::try_from(size).map_err(|_| {
        stop(pos, Problem::error("out_of_bounds", format!("a tensor's sizes is out of bounds: a size of {size}")))
    })
}
