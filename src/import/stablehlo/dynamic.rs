//! Modules with open sizes (`tensor<?x32xf32>`), as JAX exports them with shape polymorphism.
//!
//! The sizes of main's arguments are filled in first. Shape computations then fold to constants as they are read, functions are converted
//! for each call with its sizes, and every operation that takes sizes as operands becomes the operation with fixed sizes.

use std::collections::BTreeMap;

use super::syntax::{Module, Operation};
use crate::import::attribute::AttributeError;
use crate::import::program::{
    ArrayType, Binary, Comparison, ComputationBuilder, ElementType, InstructionId, Numbers, Op, Type, Value,
};
use crate::import::{ImportOptions, OpenDimension};

/// Most numbers that are folded: shapes are short.
const MOST_FOLDED: usize = 64;

/// Sizes of main's open dimensions.
pub(super) struct OpenSizes {
    /// Names and sizes, in order of first appearance.
    pub dimensions: Vec<OpenDimension>,
    /// Name of each open dimension of each argument: argument, dimension, index in `dimensions`.
    pub places: Vec<(usize, usize, usize)>,
}

impl OpenSizes {
    /// For the function with this number. A size that was not requested is 1.
    pub fn of(module: &Module<'_>, main: usize, options: &ImportOptions) -> Self {
        let names = &module.dimension_names;
        let (mut dimensions, mut places): (Vec<OpenDimension>, _) = (Vec::new(), Vec::new());
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for (i, argument) in module.functions[main].body.arguments.iter().enumerate() {
            for &d in &argument.ty.open {
                let name = match (name_of(module, main, argument.name, d), &names[..], d) {
                    (Some(name), ..) => name.to_owned(),
                    (None, [name], _) => (*name).to_owned(),
                    (None, [], 0) => "batch".to_owned(),
                    (None, [], d) => format!("dim{d}"),
                    _ => format!("arg{i}.dim{d}"),
                };
                let which = *known.entry(name.clone()).or_insert_with(|| {
                    let asked = options.dims.get(&name).copied();
                    let used = asked.unwrap_or(1);
                    dimensions.push(OpenDimension { name, min: None, max: None, used, is_chosen: asked.is_some() });
                    dimensions.len() - 1
                });
                places.push((i, d, which));
            }
        }
        Self { dimensions, places }
    }

    /// The type of an argument with its sizes filled in.
    pub fn filled(&self, argument: usize, ty: &Type) -> Type {
        let mut ty = ty.clone();
        if let Type::Array(array) = &mut ty {
            for (_, d, which) in self.places.iter().filter(|(i, _, _)| *i == argument) {
                if let Some(size) = array.dims.get_mut(*d) {
                    *size = self.dimensions[*which].used;
                }
            }
        }
        ty
    }
}

/// The name of an open size of main: the name of the argument that main passes it on as, or of the size that it is compared with.
fn name_of<'a>(module: &Module<'a>, main: usize, argument: &str, dimension: usize) -> Option<&'a str> {
    let body = &module.functions[main].body.body;
    let is_of = |o: &&Operation<'_>| {
        let said = o.attribute("dim").or_else(|| o.attribute("dimension"));
        let at = said.and_then(|text| text.split(':').next()?.trim().parse::<usize>().ok());
        o.name == "stablehlo.get_dimension_size"
            && at == Some(dimension)
            && o.operands.first().is_some_and(|u| u.name == argument)
    };
    let (size, _) = *body.iter().find(is_of)?.results.first()?;
    let passed_on = |size: &str| {
        let calls = body.iter().filter(|o| o.name == "func.call");
        let place = calls.filter_map(|o| o.operands.iter().position(|u| u.name == size)).next()?;
        module.dimension_names.get(place).copied()
    };
    let is_test = |o: &&Operation<'_>| o.name == "stablehlo.compare" && o.words.contains(&"EQ");
    let mut twins = body.iter().filter(is_test).filter_map(|o| match &o.operands[..] {
        [a, b] if a.name == size => Some(b.name),
        [a, b] if b.name == size => Some(a.name),
        _ => None,
    });
    passed_on(size).or_else(|| passed_on(twins.next()?))
}

/// An argument of a call: its type, and its numbers if they are known.
pub(super) type Given = (Type, Option<Value>);

/// What a call gives for an argument.
pub(super) fn given(builder: &ComputationBuilder, operand: InstructionId) -> Given {
    let value = match &builder.instructions()[operand].op {
        Op::Constant(value) if known(builder, operand).is_some_and(|numbers| numbers.len() <= 8) => {
            Some((**value).clone())
        }
        _ => None,
    };
    (builder.ty(operand).clone(), value)
}

/// The integers that an instruction gives, if they are known.
fn known(builder: &ComputationBuilder, id: InstructionId) -> Option<&[i64]> {
    match &builder.instructions().get(id)?.op {
        Op::Constant(value) => match &value.numbers {
            Numbers::Whole(numbers) => Some(numbers),
            _ => None,
        },
        _ => None,
    }
}

/// Integers of a constant or of one repeated number.
fn known_all(builder: &ComputationBuilder, id: InstructionId) -> Option<Vec<i64>> {
    let instruction = builder.instructions().get(id)?;
    match &instruction.op {
        Op::Broadcast { .. } => {
            let &[one] = known(builder, *instruction.operands.first()?)? else { return None };
            let n = usize::try_from(instruction.ty.array()?.elements()?).ok().filter(|&n| n <= MOST_FOLDED)?;
            Some(vec![one; n])
        }
        _ => known(builder, id).map(<[i64]>::to_vec),
    }
}

/// An operation, its operands, and its result's type if that does not follow from them.
pub(super) type FixedOp = (Op, Vec<InstructionId>, Option<Type>);

/// The operation with fixed sizes for an operation that takes sizes as operands, with its remaining operands.
///
/// `None` for any other operation; an error if sizes depend on data.
pub(super) fn with_fixed_sizes(
    operation: &Operation<'_>,
    builder: &ComputationBuilder,
    operands: &[InstructionId],
    declared: &Type,
) -> Result<Option<FixedOp>, AttributeError> {
    let numbers = |i: usize| -> Result<Vec<i64>, AttributeError> {
        let found = operands.get(i).and_then(|&o| known_all(builder, o));
        found.ok_or(AttributeError::ShapeOfData(i))
    };
    let sizes = |i: usize| numbers(i).and_then(|n| super::attributes::sizes(&n));
    let element = declared.array().map_or(ElementType::F32, |a| a.element);
    let array = |dims: Vec<u64>| Some(Type::Array(ArrayType::new(element, dims)));
    let first = operands.first().map(|&o| vec![o]).unwrap_or_default();
    let name = operation.name.split_once('.').map_or("", |(_, name)| name);
    Ok(Some(match name {
        "dynamic_broadcast_in_dim" => {
            let short = operation.attribute("dims").is_some();
            let dimensions = operation.naturals(if short { "dims" } else { "broadcast_dimensions" })?;
            (Op::Broadcast { dimensions }, first, array(sizes(1)?))
        }
        "dynamic_reshape" => (Op::Reshape, first, array(sizes(1)?)),
        "dynamic_iota" => {
            let short = operation.attribute("dim").is_some();
            let dimension = operation.number(if short { "dim" } else { "iota_dimension" })?;
            (Op::Iota { dimension }, Vec::new(), array(sizes(0)?))
        }
        "dynamic_pad" => {
            let interior = super::attributes::sizes(&numbers(4)?)?;
            (
                Op::Pad { low: numbers(2)?, high: numbers(3)?, interior },
                operands.get(..2).unwrap_or_default().to_vec(),
                None,
            )
        }
        "real_dynamic_slice" => {
            let (starts, limits, strides) = (sizes(1)?, sizes(2)?, sizes(3)?);
            (Op::Slice { starts, limits, strides }, first, None)
        }
        "dynamic_gather" => {
            let dims = super::attributes::gather_dims(operation, sizes(2)?)?;
            (Op::Gather(dims), operands.get(..2).unwrap_or_default().to_vec(), None)
        }
        _ => return Ok(None),
    }))
}

/// Whether an operation takes its sizes as operands.
#[cfg(test)]
pub(super) fn is_known(operation: &Operation<'_>) -> bool {
    let builder = ComputationBuilder::default();
    !matches!(with_fixed_sizes(operation, &builder, &[], &Type::Token), Ok(None))
}

/// The constant that an operation on known integers gives.
pub(super) fn folded(op: &Op, builder: &ComputationBuilder, operands: &[InstructionId], ty: &Type) -> Option<Value> {
    let array = ty.array().filter(|a| a.element.is_integer() || a.element == ElementType::Pred)?;
    let wanted = usize::try_from(array.elements()?).ok().filter(|&n| n <= MOST_FOLDED)?;
    let all = |i: usize| operands.get(i).and_then(|&o| known_all(builder, o));
    let pairs = |f: &dyn Fn(i64, i64) -> Option<i64>| -> Option<Vec<i64>> {
        all(0)?.into_iter().zip(all(1)?).map(|(a, b)| f(a, b)).collect()
    };
    let numbers = match op {
        Op::GetDimensionSize { dimension } => {
            let from = builder.ty(*operands.first()?).array()?;
            vec![i64::try_from(*from.dims.get(*dimension as usize)?).ok()?]
        }
        Op::Convert | Op::Reshape => all(0)?,
        Op::Broadcast { .. } => match all(0)?[..] {
            [one] => vec![one; wanted],
            _ => all(0)?,
        },
        Op::Concatenate { .. } => {
            let parts: Option<Vec<Vec<i64>>> = (0..operands.len()).map(all).collect();
            parts?.concat()
        }
        Op::Slice { starts, limits, strides } if strides.len() == 1 => {
            let from = all(0)?;
            let (start, limit) = (usize::try_from(starts[0]).ok()?, usize::try_from(limits[0]).ok()?);
            from.get(start..limit)?.iter().step_by(usize::try_from(strides[0]).ok()?.max(1)).copied().collect()
        }
        Op::Binary(f) => pairs(&|a, b| binary(*f, a, b))?,
        Op::Compare(comparison) => pairs(&|a, b| Some(i64::from(compare(*comparison, a, b))))?,
        Op::Select => {
            let chosen = all(0)?.into_iter().zip(all(1)?.into_iter().zip(all(2)?));
            chosen.map(|(c, (a, b))| if c != 0 { a } else { b }).collect()
        }
        _ => return None,
    };
    (numbers.len() == wanted).then(|| Value { ty: array.clone(), numbers: Numbers::Whole(numbers) })
}

fn binary(f: Binary, a: i64, b: i64) -> Option<i64> {
    match f {
        Binary::Add => a.checked_add(b),
        Binary::Sub => a.checked_sub(b),
        Binary::Mul => a.checked_mul(b),
        Binary::Div => a.checked_div(b),
        Binary::Rem => a.checked_rem(b),
        Binary::Max => Some(a.max(b)),
        Binary::Min => Some(a.min(b)),
        Binary::And => Some(a & b),
        Binary::Or => Some(a | b),
        _ => None,
    }
}

const fn compare(comparison: Comparison, a: i64, b: i64) -> bool {
    match comparison {
        Comparison::Eq => a == b,
        Comparison::Ne => a != b,
        Comparison::Ge => a >= b,
        Comparison::Gt => a > b,
        Comparison::Le => a <= b,
        Comparison::Lt => a < b,
    }
}
