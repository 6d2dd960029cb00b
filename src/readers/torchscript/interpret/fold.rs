//! Functions of numbers, strings and lists, with which a program computes from its sizes.

use super::super::value::Value;
use ns_base::convert::i64_to_f64;

/// Most items of a list that is created.
const MAX_ITEMS: usize = 1 << 16;

/// The value of a function; `None` if the function or its operands are unknown.
pub fn fold(name: &str, values: &[Value]) -> Option<Value> {
    match values {
        [x] => of_one(name, x),
        [x, low] if name == "clamp" => of_bounds(x, low, &Value::None),
        [x, low, high] if name == "clamp" => of_bounds(x, low, high),
        [a, b] => of_two(name, a, b),
        // `add(a, b, alpha)`: sums of one number times another.
        [a, b, factor] if matches!(name, "add" | "sub" | "rsub") => {
            let scaled = of_two("mul", b, factor)?;
            of_two(name, a, &scaled)
        }
        _ => None,
    }
}

fn of_one(name: &str, x: &Value) -> Option<Value> {
    match (name, x) {
        ("neg", Value::Int(n)) => n.checked_neg().map(Value::Int),
        ("neg", Value::Float(n)) => Some(Value::Float(-n)),
        ("abs", Value::Int(n)) => n.checked_abs().map(Value::Int),
        ("abs", Value::Float(n)) => Some(Value::Float(libm::fabs(*n))),
        ("floor", Value::Float(n)) => Some(Value::Float(libm::floor(*n))),
        ("ceil", Value::Float(n)) => Some(Value::Float(libm::ceil(*n))),
        ("round", Value::Float(n)) => Some(Value::Float(libm::rint(*n))),
        ("trunc", Value::Float(n)) => Some(Value::Float(libm::trunc(*n))),
        ("floor" | "ceil" | "round" | "trunc", Value::Int(n)) => Some(Value::Int(*n)),
        ("sqrt", n) => Some(Value::Float(libm::sqrt(n.number()?))),
        ("log", n) => Some(Value::Float(libm::log(n.number()?))),
        ("exp", n) => Some(Value::Float(libm::exp(n.number()?))),
        ("reciprocal", n) => Some(Value::Float(1.0 / n.number()?)),
        ("detach" | "clone" | "to" | "contiguous" | "alias" | "item" | "lift_fresh", n) => {
            n.number()?;
            Some(n.clone())
        }
        ("__not__" | "logical_not", n) => Some(Value::Bool(n.number()? == 0.0)),
        _ => None,
    }
}

/// `clamp(x, low, high)`, either of which may be `None`.
fn of_bounds(x: &Value, low: &Value, high: &Value) -> Option<Value> {
    let bounded = |x: Value, by: &Value, name: &str| match by {
        Value::None => Some(x),
        by => of_two(name, &x, by),
    };
    bounded(bounded(x.clone(), low, "max")?, high, "min")
}

fn of_two(name: &str, a: &Value, b: &Value) -> Option<Value> {
    match (name, a, b) {
        ("to", n, _) => {
            n.number()?;
            Some(n.clone())
        }
        ("eq" | "ne", Value::Text(a), Value::Text(b)) => Some(Value::Bool((a == b) == (name == "eq"))),
        ("eq" | "ne", Value::List(_) | Value::Tuple(_), Value::List(_) | Value::Tuple(_)) => {
            let (a, b) = (a.items()?, b.items()?);
            let each = a.iter().zip(&b).map(|(a, b)| Some(a.number()? == b.number()?));
            let is_same = a.len() == b.len() && each.collect::<Option<Vec<bool>>>()?.into_iter().all(|same| same);
            Some(Value::Bool(is_same == (name == "eq")))
        }
        ("add", Value::List(_), Value::List(_)) => {
            let all = [a.items()?, b.items()?].concat();
            (all.len() <= MAX_ITEMS).then(|| Value::list(all))
        }
        ("mul", Value::List(_), Value::Int(n)) => {
            let items = a.items()?;
            let times = usize::try_from(*n).unwrap_or(0);
            let is_bounded = items.len().saturating_mul(times) <= MAX_ITEMS;
            is_bounded.then(|| Value::list((0..times).flat_map(|_| items.iter().cloned()).collect()))
        }
        (_, Value::Float(_), _) | (_, _, Value::Float(_)) => of_floats(name, a.number()?, b.number()?),
        _ => of_ints(name, a.int()?, b.int()?),
    }
}

fn of_ints(name: &str, a: i64, b: i64) -> Option<Value> {
    let value = match name {
        "add" | "__add__" => a.checked_add(b)?,
        "sub" => a.checked_sub(b)?,
        "rsub" => b.checked_sub(a)?,
        "mul" => a.checked_mul(b)?,
        "floordiv" | "floor_divide" => floor_quotient(a, b)?,
        "remainder" | "fmod" => a.checked_sub(floor_quotient(a, b)?.checked_mul(b)?)?,
        "pow" if b >= 0 => a.checked_pow(u32::try_from(b).ok()?)?,
        "max" | "maximum" | "clamp_min" => a.max(b),
        "min" | "minimum" | "clamp_max" => a.min(b),
        "__and__" => a & b,
        "__or__" => a | b,
        _ => return of_floats(name, i64_to_f64(a), i64_to_f64(b)),
    };
    Some(Value::Int(value))
}

fn floor_quotient(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

fn of_floats(name: &str, a: f64, b: f64) -> Option<Value> {
    let is = |holds: bool| Some(Value::Bool(holds));
    let value = match name {
        "eq" => return is(a == b),
        "ne" => return is(a != b),
        "lt" => return is(a < b),
        "le" => return is(a <= b),
        "gt" => return is(a > b),
        "ge" => return is(a >= b),
        "add" => a + b,
        "sub" => a - b,
        "rsub" => b - a,
        "mul" => a * b,
        "div" | "true_divide" => a / b,
        "floordiv" | "floor_divide" => libm::floor(a / b),
        "remainder" => a - libm::floor(a / b) * b,
        "pow" => libm::pow(a, b),
        "max" | "maximum" | "clamp_min" => a.max(b),
        "min" | "minimum" | "clamp_max" => a.min(b),
        _ => return None,
    };
    Some(Value::Float(value))
}

#[cfg(test)]
mod tests {
    use super::super::super::value::Value;
    use super::fold;

    fn int(name: &str, a: i64, b: i64) -> Option<i64> {
        match fold(name, &[Value::Int(a), Value::Int(b)]) {
            Some(Value::Int(n)) => Some(n),
            _ => None,
        }
    }

    #[test]
    fn whole_numbers_as_python_has_them() {
        assert_eq!(int("floordiv", -7, 2), Some(-4));
        assert_eq!(int("remainder", -7, 2), Some(1));
        assert_eq!(int("rsub", 3, 10), Some(7));
        assert_eq!(int("mul", i64::MAX, 2), None);
        assert_eq!(int("floordiv", 1, 0), None);
        assert!(matches!(fold("div", &[Value::Int(1), Value::Int(2)]), Some(Value::Float(n)) if n == 0.5));
    }

    #[test]
    fn numbers_stay_within_bounds() {
        let clamped = |x: Value, low: Value, high: Value| fold("clamp", &[x, low, high]).and_then(|v| v.number());
        assert_eq!(clamped(Value::Int(-3), Value::Int(0), Value::None), Some(0.0));
        assert_eq!(clamped(Value::Float(9.5), Value::None, Value::Int(4)), Some(4.0));
        assert_eq!(clamped(Value::Int(2), Value::Int(0), Value::Int(4)), Some(2.0));
        assert_eq!(fold("clamp", &[Value::Int(-3), Value::Int(0)]).and_then(|v| v.int()), Some(0));
        assert_eq!(int("clamp_max", 7, 5), Some(5));
    }

    #[test]
    fn lists_grow_within_bounds() {
        let list = |n: usize| Value::list(vec![Value::Int(1); n]);
        assert_eq!(fold("add", &[list(2), list(3)]).and_then(|v| v.items()).map(|i| i.len()), Some(5));
        assert!(fold("mul", &[list(3), Value::Int(i64::MAX)]).is_none());
        assert!(matches!(fold("eq", &[list(2), list(2)]), Some(Value::Bool(true))));
    }
}
