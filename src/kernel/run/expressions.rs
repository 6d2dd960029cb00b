//! Expressions, and the places that they read and change.

use super::machine::{Machine, Stop, stop};
use super::work::{Meter, Work};
use crate::arithmetic;
use crate::parse::ast::BinaryOp;
use crate::problem::{Pos, Problem};
use crate::program::{Expr, ExprKind, Place};
use crate::types::{Scalar, Type};
use crate::value::{Pointer, Value};
use ns_base::convert::{self, i64_to_u64};

/// An evaluated place: the address is computed only once, also for `x += y`.
#[derive(Clone, Copy)]
enum Address {
    Slot(usize),
    Memory(Pointer, Scalar),
    Element { tensor: u32, index: usize },
}

/// An integer or a float operation.
pub(super) const fn operation(scalar: Scalar) -> Work {
    match scalar {
        Scalar::F32 => Work::Float,
        Scalar::F64 => Work::Double,
        _ => Work::Integer,
    }
}

impl<M: Meter> Machine<M> {
    pub(super) fn eval(&mut self, e: &Expr) -> Result<Value, Stop> {
        // The two most common kinds need no nesting level of their own.
        match &e.kind {
            ExprKind::Const(value) => return Ok(*value),
            ExprKind::Load(Place::Local(slot, name)) => return self.local(e.pos, *slot, name),
            _ => {}
        }
        self.deeper(e.pos)?;
        let value = self.eval_inner(e)?;
        self.depth -= 1;
        Ok(value)
    }

    fn local(&self, pos: Pos, slot: usize, name: &str) -> Result<Value, Stop> {
        match self.slots[self.base + slot] {
            Value::Uninit => Err(stop(pos, Problem::uninitialised(&format!("'{name}'")))),
            value => Ok(value),
        }
    }

    fn eval_inner(&mut self, e: &Expr) -> Result<Value, Stop> {
        let pos = e.pos;
        match &e.kind {
            ExprKind::Const(value) => Ok(*value),
            ExprKind::Load(place) => {
                let address = self.address(pos, place)?;
                self.load(pos, address)
            }
            ExprKind::Store { place, of, op, value } => self.store_expression(pos, place, *of, *op, value),
            ExprKind::Step { place, of, change, after } => self.step_expression(pos, place, *of, *change, *after),
            ExprKind::Binary(op, scalar, l, r) => {
                let (l, r) = (self.eval(l)?, self.eval(r)?);
                self.binary(pos, *op, *scalar, l, r)
            }
            ExprKind::Logic { and, l, r } => {
                let first = self.eval(l)?.is_true();
                self.work(pos, Work::Integer);
                if first != *and {
                    self.work(pos, Work::Jump);
                    return Ok(Value::bool(first));
                }
                Ok(Value::bool(self.eval(r)?.is_true()))
            }
            ExprKind::Neg(scalar, inner) => {
                let value = self.eval(inner)?;
                self.work(pos, operation(*scalar));
                arithmetic::negate(*scalar, value).map_err(|p| stop(pos, p))
            }
            ExprKind::Not(inner) => {
                let value = self.eval(inner)?;
                self.work(pos, Work::Integer);
                Ok(Value::bool(!value.is_true()))
            }
            ExprKind::BitNot(scalar, inner) => {
                let value = self.eval(inner)?;
                self.work(pos, Work::Integer);
                Ok(Value::Int(arithmetic::wrap(!value.int(), *scalar)))
            }
            ExprKind::Select(condition, yes, no) => {
                let chosen = self.eval(condition)?.is_true();
                self.work(pos, Work::Integer);
                if chosen {
                    return self.eval(yes);
                }
                self.work(pos, Work::Jump);
                self.eval(no)
            }
            ExprKind::Comma(first, second) => {
                self.eval(first)?;
                self.eval(second)
            }
            ExprKind::Convert { from, to, value } => {
                let value = self.eval(value)?;
                if from.is_float() || to.is_float() {
                    let double = *from == Scalar::F64 || *to == Scalar::F64;
                    self.work(pos, if double { Work::Double } else { Work::Float });
                }
                arithmetic::convert(value, *from, *to).map_err(|p| stop(pos, p))
            }
            _ => self.eval_pointers_and_calls(e),
        }
    }

    fn eval_pointers_and_calls(&mut self, e: &Expr) -> Result<Value, Stop> {
        let pos = e.pos;
        match &e.kind {
            ExprKind::Offset { pointer, index, stride } => {
                let p = self.eval(pointer)?.pointer();
                let index = self.eval(index)?.int();
                // Scaling and adding.
                self.work(pos, Work::Integer);
                self.work(pos, Work::Integer);
                let offset = index.checked_mul(*stride).and_then(|by| p.offset.checked_add(by));
                match offset {
                    Some(offset) => Ok(Value::Pointer(Pointer { offset, ..p })),
                    None => {
                        let text = format!("the address is out of bounds: index {index}");
                        Err(stop(pos, Problem::error("out_of_bounds", text)))
                    }
                }
            }
            ExprKind::Distance { l, r, stride } => {
                let (l, r) = (self.eval(l)?.pointer(), self.eval(r)?.pointer());
                self.work(pos, Work::Integer);
                self.same_block(pos, l, r)?;
                Ok(Value::Int((l.offset - r.offset) / stride))
            }
            ExprKind::ComparePointers(op, l, r) => {
                let (l, r) = (self.eval(l)?.pointer(), self.eval(r)?.pointer());
                self.work(pos, Work::Integer);
                if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
                    let equal = l.block == r.block && (l.block == 0 || l.offset == r.offset);
                    return Ok(Value::bool(equal == (*op == BinaryOp::Eq)));
                }
                self.same_block(pos, l, r)?;
                arithmetic::binary(*op, Scalar::I64, Value::Int(l.offset), Value::Int(r.offset))
                    .map_err(|p| stop(pos, p))
            }
            ExprKind::Index(accessor, index) => {
                let (tensor, level, offset) = self.indexed(pos, accessor, index)?;
                Ok(Value::Accessor { tensor, level, offset })
            }
            ExprKind::Call(index, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for a in arguments {
                    values.push(self.eval(a)?);
                }
                self.work(pos, Work::Call);
                self.call(*index, values, pos)
            }
            ExprKind::Intrinsic(what, arguments) => self.interface(pos, *what, arguments),
            _ => Ok(Value::Void),
        }
    }

    fn same_block(&self, pos: Pos, l: Pointer, r: Pointer) -> Result<(), Stop> {
        if l.block == r.block {
            return Ok(());
        }
        let text = "pointers into two different buffers are compared; compare pointers into one buffer";
        Err(stop(pos, Problem::error("invalid", text)))
    }

    /// An operator on two numbers, with its cost.
    pub(super) fn binary(&mut self, pos: Pos, op: BinaryOp, scalar: Scalar, l: Value, r: Value) -> Result<Value, Stop> {
        let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem);
        self.work(pos, if divides && scalar != Scalar::F64 { Work::Divide } else { operation(scalar) });
        if divides && scalar.is_float() && !r.is_true() {
            let text =
                "a float is divided by zero here, which gives infinity or NaN; test the divisor if that is not meant";
            self.note(pos, Problem::warning("float_divide_by_zero", text));
        }
        arithmetic::binary(op, scalar, l, r).map_err(|p| stop(pos, p))
    }

    /// The tensor, the dimension reached and the element after one more index.
    fn indexed(&mut self, pos: Pos, accessor: &Expr, index: &Expr) -> Result<(u32, u8, i64), Stop> {
        let Value::Accessor { tensor, level, offset } = self.eval(accessor)? else {
            return Err(stop(pos, Problem::null_pointer()));
        };
        let index = self.eval(index)?.int();
        self.work(pos, Work::Integer);
        self.work(pos, Work::Integer);
        let t = &self.tensors[tensor as usize];
        let size = t.dims.get(usize::from(level)).copied().unwrap_or(0);
        if index < 0 || index.cast_unsigned() >= size {
            let text = format!("the accessor is out of bounds: index {index} in dimension {level}, which has {size}");
            return Err(stop(pos, Problem::error("out_of_bounds", text)));
        }
        Ok((tensor, level + 1, offset + index * t.stride(usize::from(level))))
    }

    fn address(&mut self, pos: Pos, place: &Place) -> Result<Address, Stop> {
        match place {
            Place::Local(slot, _) => Ok(Address::Slot(self.base + slot)),
            Place::Memory(pointer, of) => Ok(Address::Memory(self.eval(pointer)?.pointer(), *of)),
            Place::Element(accessor, index) => {
                let (tensor, _, offset) = self.indexed(pos, accessor, index)?;
                Ok(Address::Element { tensor, index: convert::u64_to_usize(i64_to_u64(offset)) })
            }
        }
    }

    fn load(&mut self, pos: Pos, address: Address) -> Result<Value, Stop> {
        let uninitialised = |what: &str| stop(pos, Problem::uninitialised(what));
        match address {
            Address::Slot(slot) => match self.slots[slot] {
                Value::Uninit => Err(uninitialised("the variable")),
                value => Ok(value),
            },
            Address::Memory(p, of) => {
                self.memory_work(pos, p, of);
                self.memory.load(p, of).map_err(|problem| stop(pos, problem))
            }
            Address::Element { tensor, index } => {
                let bytes = self.tensors[tensor as usize].of.bytes();
                self.work(pos, Work::HbmAccess { bytes });
                let t = &self.tensors[tensor as usize];
                if t.writer[index] == 0 {
                    return Err(uninitialised(&format!("element {index} of the tensor")));
                }
                Ok(t.read(index))
            }
        }
    }

    fn store(&mut self, pos: Pos, address: Address, value: Value) -> Result<(), Stop> {
        match address {
            Address::Slot(slot) => self.slots[slot] = value,
            Address::Memory(p, of) => {
                self.memory_work(pos, p, of);
                self.memory.store(p, of, value).map_err(|problem| stop(pos, problem))?;
            }
            Address::Element { tensor, index } => {
                let bytes = self.tensors[tensor as usize].of.bytes();
                self.work(pos, Work::HbmAccess { bytes });
                let mark = self.mark();
                self.tensors[tensor as usize].write(index, value, mark);
            }
        }
        Ok(())
    }

    fn memory_work(&mut self, pos: Pos, p: Pointer, of: Scalar) {
        let access = Work::HbmAccess { bytes: of.bytes() };
        let work = if self.memory.is_slow(p) { access } else { Work::Tcm };
        self.work(pos, work);
    }

    fn store_expression(
        &mut self,
        pos: Pos,
        place: &Place,
        of: Type,
        op: Option<(BinaryOp, Scalar)>,
        value: &Expr,
    ) -> Result<Value, Stop> {
        let Some((op, meet)) = op else {
            let value = self.eval(value)?;
            let address = self.address(pos, place)?;
            self.store(pos, address, value)?;
            return Ok(value);
        };
        let right = self.eval(value)?;
        let address = self.address(pos, place)?;
        let old = self.load(pos, address)?;
        let scalar = of.scalar().unwrap_or(meet);
        let fail = |p| stop(pos, p);
        let old = arithmetic::convert(old, scalar, meet).map_err(fail)?;
        let result = self.binary(pos, op, meet, old, right)?;
        let result = arithmetic::convert(result, meet, scalar).map_err(fail)?;
        self.store(pos, address, result)?;
        Ok(result)
    }

    fn step_expression(&mut self, pos: Pos, place: &Place, of: Type, change: i64, after: bool) -> Result<Value, Stop> {
        let address = self.address(pos, place)?;
        let old = self.load(pos, address)?;
        let new = match (old, of.scalar()) {
            (Value::Pointer(p), _) => {
                self.work(pos, Work::Integer);
                Value::Pointer(Pointer { offset: p.offset.wrapping_add(change), ..p })
            }
            (_, Some(scalar)) => {
                let meet = scalar.promoted();
                let one = arithmetic::convert(Value::Int(change), Scalar::I64, meet).map_err(|p| stop(pos, p))?;
                let old = arithmetic::convert(old, scalar, meet).map_err(|p| stop(pos, p))?;
                let new = self.binary(pos, BinaryOp::Add, meet, old, one)?;
                arithmetic::convert(new, meet, scalar).map_err(|p| stop(pos, p))?
            }
            (other, None) => other,
        };
        self.store(pos, address, new)?;
        Ok(if after { old } else { new })
    }
}
