//! Result types of operations, inferred from their operands alone where XLA defines them so.
//!
//! The rules follow XLA's shape inference (<https://openxla.org/xla/operation_semantics>). A declared type is used only where an
//! operation states it itself: the new sizes of a reshape, the element type of a conversion or of a product.

mod control;
mod indexing;
mod layout;
mod windows;

use super::{ArrayType, ElementType, Op, Type};
use ns_base::{Refusal, refuse};
pub use windows::window_result;

/// Types of the parameters and the result of a called computation.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// Types of the parameters, by number.
    pub parameters: Vec<Type>,
    pub result: Type,
}

/// Everything that determines a result type.
#[derive(Clone, Copy, Debug)]
pub struct Inference<'a> {
    pub op: &'a Op,
    pub operands: &'a [&'a Type],
    /// The computations that it calls.
    pub called: &'a [&'a Signature],
    /// The result type that the file declares.
    pub declared: &'a Type,
}

impl<'a> Inference<'a> {
    /// The type of the result. Fails when operands do not fit the operation.
    pub fn result(&self) -> Result<Type, Refusal> {
        self.check_arity()?;
        match self.op {
            Op::Parameter(_)
            | Op::ElidedConstant
            | Op::Rng { .. }
            | Op::RngBitGenerator { .. }
            | Op::CustomCall(_)
            | Op::Collective(_)
            | Op::Opaque(_) => Ok(self.declared.clone()),
            Op::Constant(value) => Ok(Type::Array(value.ty.clone())),
            Op::Iota { dimension } => self.iota(*dimension),
            Op::Unary(f) => self.unary(*f),
            Op::Binary(f) => self.binary(*f),
            Op::Compare(_) => {
                let (a, _) = self.two_of_one_shape()?;
                Ok(Type::Array(ArrayType::new(ElementType::Pred, a.dims.clone())))
            }
            Op::Select => self.select(),
            Op::Clamp => self.clamp(),
            Op::Convert => Ok(Type::Array(ArrayType::new(self.declared_element()?, self.array(0)?.dims.clone()))),
            Op::ReducePrecision { .. } => Ok(self.operands[0].clone()),
            Op::Barrier => Ok(self.passed_on()),
            Op::BitcastConvert
            | Op::Broadcast { .. }
            | Op::Reshape
            | Op::Transpose { .. }
            | Op::Reverse { .. }
            | Op::Slice { .. }
            | Op::Pad { .. }
            | Op::Concatenate { .. } => layout::result(self),
            Op::DynamicSlice { .. } | Op::DynamicUpdateSlice | Op::Gather(_) | Op::Scatter(_) => indexing::result(self),
            Op::Dot(_)
            | Op::Convolution { .. }
            | Op::ReduceWindow { .. }
            | Op::SelectAndScatter { .. }
            | Op::Fft { .. } => windows::result(self),
            _ => control::result(self),
        }
    }

    fn array(&self, operand: usize) -> Result<&'a ArrayType, Refusal> {
        self.operands[operand]
            .array()
            .ok_or_else(|| refuse!("operand {operand} is {}, not an array", self.operands[operand]))
    }

    fn declared_element(&self) -> Result<ElementType, Refusal> {
        self.declared.array().map(|a| a.element).ok_or_else(|| refuse!("its result is declared as {}", self.declared))
    }

    /// The declared element type if both are floating point (XLA allows results of another precision), else `computed`.
    fn element_or_declared(&self, computed: ElementType) -> ElementType {
        match self.declared.array().map(|a| a.element) {
            Some(declared)
                if declared.is_float() == computed.is_float() && declared.is_complex() == computed.is_complex() =>
            {
                if computed.is_float() {
                    declared
                } else {
                    computed
                }
            }
            _ => computed,
        }
    }

    fn two_of_one_shape(&self) -> Result<(&'a ArrayType, &'a ArrayType), Refusal> {
        let (a, b) = (self.array(0)?, self.array(1)?);
        if a.dims != b.dims || a.element != b.element && !(a.element.is_float() && b.element.is_float()) {
            return Err(refuse!("its operands are {a} and {b} and must be of one type"));
        }
        Ok((a, b))
    }

    fn iota(&self, dimension: u32) -> Result<Type, Refusal> {
        match self.declared {
            Type::Array(array) if (dimension as usize) < array.dims.len() => Ok(self.declared.clone()),
            other => Err(refuse!("it counts along dimension {dimension} of {other}")),
        }
    }

    fn unary(&self, f: super::Unary) -> Result<Type, Refusal> {
        use super::Unary as U;
        let a = self.array(0)?;
        let part = |e| match e {
            ElementType::C128 => ElementType::F64,
            ElementType::C64 => ElementType::F32,
            other => other,
        };
        let element = match f {
            U::IsFinite | U::IsInf | U::IsNan => ElementType::Pred,
            U::Real | U::Imag | U::Abs => part(a.element),
            _ => self.element_or_declared(a.element),
        };
        Ok(Type::Array(ArrayType::new(element, a.dims.clone())))
    }

    fn binary(&self, f: super::Binary) -> Result<Type, Refusal> {
        let (a, _) = self.two_of_one_shape()?;
        let element = match (f, a.element) {
            (super::Binary::Complex, ElementType::F32) => ElementType::C64,
            (super::Binary::Complex, ElementType::F64) => ElementType::C128,
            (super::Binary::Complex, other) => return Err(refuse!("complex numbers are not made of {other}")),
            (_, element) => self.element_or_declared(element),
        };
        Ok(Type::Array(ArrayType::new(element, a.dims.clone())))
    }

    fn select(&self) -> Result<Type, Refusal> {
        let condition = self.array(0)?;
        if self.operands[1] != self.operands[2] {
            let (one, other) = (self.operands[1], self.operands[2]);
            return Err(refuse!("it selects between {one} and {other}"));
        }
        let value = self.array(1)?;
        if condition.element != ElementType::Pred || !(condition.dims.is_empty() || condition.dims == value.dims) {
            return Err(refuse!("its condition is {condition} and its values are {value}"));
        }
        Ok(self.operands[1].clone())
    }

    fn clamp(&self) -> Result<Type, Refusal> {
        let value = self.array(1)?;
        for bound in [self.array(0)?, self.array(2)?] {
            if bound.element != value.element || !(bound.dims.is_empty() || bound.dims == value.dims) {
                return Err(refuse!("its bound is {bound} and its value is {value}"));
            }
        }
        Ok(self.operands[1].clone())
    }

    fn passed_on(&self) -> Type {
        match (self.declared, self.operands) {
            (Type::Token, _) => Type::Token,
            (_, [one]) => (*one).clone(),
            (_, many) => Type::Tuple(many.iter().map(|t| (*t).clone()).collect()),
        }
    }

    /// Smallest and largest number of operands.
    fn check_arity(&self) -> Result<(), Refusal> {
        let many = usize::MAX;
        let (least, most) = match self.op {
            Op::Parameter(_) | Op::Constant(_) | Op::ElidedConstant | Op::Iota { .. } => (0, 0),
            Op::Unary(_)
            | Op::Convert
            | Op::BitcastConvert
            | Op::ReducePrecision { .. }
            | Op::Broadcast { .. }
            | Op::Reshape
            | Op::Transpose { .. }
            | Op::Reverse { .. }
            | Op::Slice { .. }
            | Op::TopK { .. }
            | Op::GetTupleElement(_)
            | Op::While
            | Op::Fft { .. }
            | Op::RngBitGenerator { .. }
            | Op::GetDimensionSize { .. } => (1, 1),
            Op::Binary(_) | Op::Compare(_) | Op::Pad { .. } | Op::Gather(_) | Op::Dot(_) | Op::Convolution { .. } => {
                (2, 2)
            }
            Op::Rng { .. } => (2, 2),
            Op::Select | Op::Clamp | Op::SelectAndScatter { .. } | Op::BatchNormTraining { .. } => (3, 3),
            Op::BatchNormInference { .. } | Op::BatchNormGrad { .. } => (5, 5),
            Op::Concatenate { .. } | Op::Sort { .. } | Op::DynamicSlice { .. } | Op::Map => (1, many),
            Op::DynamicUpdateSlice | Op::Reduce { .. } | Op::ReduceWindow { .. } | Op::Conditional => (2, many),
            Op::Scatter(_) => (3, many),
            Op::Tuple | Op::Call | Op::CustomCall(_) | Op::Collective(_) | Op::Barrier | Op::Opaque(_) => (0, many),
        };
        let n = self.operands.len();
        if n < least || n > most {
            let more = if least == most { "" } else { "at least " };
            return Err(refuse!("it has {n} operands and takes {more}{least}"));
        }
        Ok(())
    }
}

/// Checks that every number is a dimension of `rank` and occurs once.
fn check_dimensions(dimensions: &[u32], rank: usize, list: &'static str) -> Result<(), Refusal> {
    let mut seen = vec![false; rank];
    for &d in dimensions {
        match seen.get_mut(d as usize) {
            None => return Err(refuse!("{list} names dimension {d} of {rank}")),
            Some(true) => return Err(refuse!("{list} names dimension {d} twice")),
            Some(slot) => *slot = true,
        }
    }
    Ok(())
}
