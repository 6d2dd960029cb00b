//! Random numbers and dropout: their work is known, but their values differ from call to call.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use super::shape::same;
use ns_base::refuse;
use ns_program::OperatorKind::{Creation, Elementwise};
use ns_program::{ArrayType, Binary, Built, Comparison, ElementType, InstructionId, Op};

/// Random numbers.
pub const OPS: &[Row] = &[
    (&["rand", "rand_like", "uniform"], Creation, |c| {
        let (low, high) = (c.float_or("from", 0.0), c.float_or("to", 1.0));
        one(of_result(c, "rng_uniform", [low, high])?)
    }),
    (&["randn", "randn_like"], Creation, |c| one(of_result(c, "rng_normal", [0.0, 1.0])?)),
    (&["randint", "randint_like"], Creation, |c| {
        let (low, high) = (c.float_or("low", 0.0), c.float_or("high", 1.0));
        one(of_result(c, "rng_uniform", [low, high])?)
    }),
    (&["normal", "normal_functional"], Creation, normal),
    (&["bernoulli"], Creation, bernoulli),
    (&["dropout", "native_dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout"], Elementwise, dropout),
];

/// Random numbers of a type, from a distribution with two settings.
fn random(c: &mut Call<'_, '_, '_>, distribution: &str, [first, second]: [f64; 2], ty: &ArrayType) -> Built {
    let (first, second) = (c.b().number(ty.element, first)?, c.b().number(ty.element, second)?);
    let op = Op::Rng { distribution: distribution.to_owned() };
    c.b().push_array(op, vec![first, second], ty.element, ty.dims.clone())
}

fn of_result(c: &mut Call<'_, '_, '_>, distribution: &str, settings: [f64; 2]) -> Built {
    let ty = c.result()?;
    random(c, distribution, settings, &ty)
}

/// Numbers around a mean; the mean and the standard deviation may be tensors.
fn normal(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let ty = c.result()?;
    let mut x = random(c, "rng_normal", [0.0, 1.0], &ty)?;
    for (name, with, default) in [("std", Binary::Mul, 1.0), ("mean", Binary::Add, 0.0)] {
        x = match c.tensor(name)? {
            Some(given) => c.b().binary(with, x, given)?,
            None => {
                let number = c.float_or(name, default);
                c.b().with_number(with, x, number)?
            }
        };
    }
    one(x)
}

/// A boolean for each element, true with a probability.
fn random_flags(c: &mut Call<'_, '_, '_>, dims: &[u64], probability: InstructionId) -> Built {
    let ty = ArrayType::new(c.b().element(probability), dims.to_vec());
    let x = random(c, "rng_uniform", [0.0, 1.0], &ty)?;
    c.b().compare(Comparison::Lt, x, probability)
}

fn bernoulli(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let (dims, element) = (c.b().dims(x), c.b().element(x));
    let probability = match (c.tensor("p")?, c.float("p")) {
        (Some(p), _) => p,
        (None, Some(p)) => c.b().number(ElementType::F32, p)?,
        (None, None) => x,
    };
    if !c.b().element(probability).is_float() {
        let found = c.b().type_of(probability);
        return Err(refuse!("a probability needs floating point numbers, not {found}"));
    }
    let flags = random_flags(c, &dims, probability)?;
    one(c.b().convert(flags, element)?)
}

/// Elements set to zero with a probability; the others are scaled up, so that the expected sum stays. The native operator also gives the mask.
fn dropout(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (p, is_native) = (c.float_or("p", 0.5), c.op == "native_dropout");
    // Outside training, or with a probability of 0, nothing changes.
    let is_plain = !c.flag_or("train", true) || p == 0.0;
    if is_plain && !is_native {
        return same(c);
    }
    // In training only two of them are known.
    let is_known = matches!(c.op, "dropout" | "native_dropout") && (0.0..1.0).contains(&p);
    if !is_plain && !is_known {
        return Ok(OpResult::Unknown);
    }
    let x = c.x(0)?;
    let (dims, element) = (c.b().dims(x), c.b().element(x));
    if is_plain {
        let kept = c.b().full(ElementType::Pred, &dims, 1.0)?;
        return Ok(OpResult::Many(vec![Some(x), Some(kept)]));
    }
    let kept = c.b().number(element, 1.0 - p)?;
    let flags = random_flags(c, &dims, kept)?;
    let larger = c.b().with_number(Binary::Mul, x, 1.0 / (1.0 - p))?;
    let none = c.b().number(element, 0.0)?;
    let value = c.b().select(flags, larger, none)?;
    if is_native { Ok(OpResult::Many(vec![Some(value), Some(flags)])) } else { one(value) }
}
