//! Expressions of symbols, as sympy writes them: `Symbol('s77', positive=True, integer=True)`, `2*s0 + 1`,
//! `Add(Mul(Integer(2), Symbol('s0')), Integer(1))`, `((s0 + 1)//2)`, `Max(1, s0)`.

use ns_base::{Refusal, refuse};
use std::collections::BTreeMap;

/// Most levels of parentheses.
const MAX_DEPTH: usize = 100;

/// Reads and evaluates one expression.
pub struct Expression<'a> {
    rest: &'a str,
    depth: usize,
    values: &'a dyn Fn(&str) -> Option<i64>,
    /// Names of the symbols read so far.
    pub symbols: Vec<String>,
}

/// A fraction with a positive denominator.
type Fraction = (i128, i128);

impl<'a> Expression<'a> {
    /// The value of an expression; `values` gives the values of the symbols.
    ///
    /// # Errors
    /// When it is not a supported expression of integers, or a symbol has no value.
    pub fn evaluate(text: &'a str, values: &'a dyn Fn(&str) -> Option<i64>) -> Result<i64, Refusal> {
        let mut reader = Self { rest: text, depth: 0, values, symbols: Vec::new() };
        let value = reader.sum()?;
        reader.space();
        if !reader.rest.is_empty() {
            return Err(refuse!("`{}` is not understood in the size `{}`", start(reader.rest), start(text)));
        }
        whole(value)
            .and_then(|n| i64::try_from(n).ok())
            .ok_or_else(|| refuse!("the size `{}` is not whole", start(text)))
    }

    /// Names of the symbols in an expression, in order, each once.
    pub fn symbols_of(text: &'a str) -> Vec<String> {
        let mut reader = Self { rest: text, depth: 0, values: &|_| Some(1), symbols: Vec::new() };
        let _ = reader.sum();
        let mut seen = BTreeMap::new();
        reader.symbols.retain(|name| seen.insert(name.clone(), ()).is_none());
        reader.symbols
    }

    fn sum(&mut self) -> Result<Fraction, Refusal> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(refuse!("a size is an expression of too many levels"));
        }
        let mut total = self.product()?;
        loop {
            self.space();
            let sign = if self.takes("+") {
                1
            } else if self.takes("-") {
                -1
            } else {
                break;
            };
            let next = self.product()?;
            total = plus(total, (next.0.checked_mul(sign).ok_or_else(beyond)?, next.1))?;
        }
        self.depth -= 1;
        Ok(total)
    }

    fn product(&mut self) -> Result<Fraction, Refusal> {
        let mut total = self.power()?;
        loop {
            self.space();
            if self.takes("//") {
                let by = self.power()?;
                total = (floor(over(total, by)?), 1);
            } else if self.takes("*") {
                total = times(total, self.power()?)?;
            } else if self.takes("/") {
                let by = self.power()?;
                total = over(total, by)?;
            } else if self.takes("%") {
                let by = self.power()?;
                total = modulo(total, by)?;
            } else {
                return Ok(total);
            }
        }
    }

    fn power(&mut self) -> Result<Fraction, Refusal> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(refuse!("a size is an expression of too many levels"));
        }
        let value = self.signed_power();
        self.depth -= 1;
        value
    }

    fn signed_power(&mut self) -> Result<Fraction, Refusal> {
        self.space();
        if self.takes("-") {
            let value = self.power()?;
            return Ok((value.0.checked_neg().ok_or_else(beyond)?, value.1));
        }
        let base = self.atom()?;
        self.space();
        if self.takes("**") || self.takes("^") {
            let exponent = self.power()?;
            return raised(base, exponent);
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<Fraction, Refusal> {
        self.space();
        if self.takes("(") {
            let value = self.sum()?;
            return self.closed(value);
        }
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            let value = i128::from(self.rest[..digits].parse::<i64>().map_err(|_| beyond())?);
            self.rest = &self.rest[digits..];
            return Ok((value, 1));
        }
        let letters = self.rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')).count();
        if letters == 0 {
            return Err(refuse!("`{}` is not understood in a size", start(self.rest)));
        }
        let name = &self.rest[..letters];
        self.rest = &self.rest[letters..];
        if self.takes("(") {
            return if name == "Symbol" { self.quoted_symbol() } else { self.function(name) };
        }
        self.symbol(name)
    }

    /// `'s77', positive=True)`.
    fn quoted_symbol(&mut self) -> Result<Fraction, Refusal> {
        self.space();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let Some((name, after)) = quote.and_then(|q| self.rest[1..].split_once(q)) else {
            return Err(refuse!("a symbol's name is wanted at `{}`", start(self.rest)));
        };
        let end = after.find(')').ok_or_else(|| refuse!("a symbol is not closed"))?;
        self.rest = &after[end + 1..];
        self.symbol(name)
    }

    fn symbol(&mut self, name: &str) -> Result<Fraction, Refusal> {
        self.symbols.push(name.to_owned());
        let value = (self.values)(name).ok_or_else(|| refuse!("the size `{name}` is not known"))?;
        Ok((i128::from(value), 1))
    }

    fn function(&mut self, name: &str) -> Result<Fraction, Refusal> {
        let mut arguments = Vec::new();
        loop {
            self.space();
            if self.takes(")") {
                break;
            }
            if self.skips_keyword() {
                continue;
            }
            arguments.push(self.sum()?);
            self.space();
            if !self.takes(",") && !self.rest.starts_with(')') {
                return Err(refuse!("`{}` is not understood in a size", start(self.rest)));
            }
        }
        call(name.rsplit('.').next().unwrap_or(name), &arguments)
    }

    /// Skips `integer=True,`.
    fn skips_keyword(&mut self) -> bool {
        let letters = self.rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let is_keyword = letters > 0 && self.rest[letters..].starts_with('=');
        if is_keyword {
            let end = self.rest.find([',', ')']).unwrap_or(self.rest.len());
            self.rest = &self.rest[end..];
            self.takes(",");
        }
        is_keyword
    }

    fn closed(&mut self, value: Fraction) -> Result<Fraction, Refusal> {
        self.space();
        if self.takes(")") { Ok(value) } else { Err(refuse!("a parenthesis of a size is not closed")) }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn takes(&mut self, what: &str) -> bool {
        // A `*` of `**` is not a product.
        if what == "*" && self.rest.starts_with("**") {
            return false;
        }
        match self.rest.strip_prefix(what) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }
}

/// Evaluates a function of sympy or of torch.
fn call(name: &str, a: &[Fraction]) -> Result<Fraction, Refusal> {
    let all = |start: Fraction, f: fn(Fraction, Fraction) -> Result<Fraction, Refusal>| {
        a.iter().try_fold(start, |total, &next| f(total, next))
    };
    match (name, a) {
        ("Integer" | "ToFloat" | "Float" | "Identity", [x]) => Ok(*x),
        ("Rational" | "IntTrueDiv" | "FloatTrueDiv" | "CleanDiv", [x, y]) => over(*x, *y),
        ("Add", _) => all((0, 1), plus),
        ("Mul", _) => all((1, 1), times),
        ("Pow" | "PowByNatural", [x, y]) => raised(*x, *y),
        ("FloorDiv", [x, y]) => Ok((floor(over(*x, *y)?), 1)),
        ("CeilDiv", [x, y]) => Ok((ceil(over(*x, *y)?), 1)),
        ("floor" | "FloorToInt" | "TruncToInt", [x]) => Ok((floor(*x), 1)),
        ("ceiling" | "CeilToInt", [x]) => Ok((ceil(*x), 1)),
        ("Mod" | "PythonMod", [x, y]) => modulo(*x, *y),
        ("ModularIndexing", [x, y, z]) => modulo((floor(over(*x, *y)?), 1), *z),
        ("Max", [first, rest @ ..]) => {
            rest.iter().try_fold(*first, |m, &x| Ok(if plus(x, (-m.0, m.1))?.0 > 0 { x } else { m }))
        }
        ("Min", [first, rest @ ..]) => {
            rest.iter().try_fold(*first, |m, &x| Ok(if plus(x, (-m.0, m.1))?.0 < 0 { x } else { m }))
        }
        ("Abs", [x]) => Ok((x.0.abs(), x.1)),
        _ => Err(refuse!("the function {} of {} numbers is not known in a size", start(name), a.len())),
    }
}

fn plus(a: Fraction, b: Fraction) -> Result<Fraction, Refusal> {
    let left = a.0.checked_mul(b.1).ok_or_else(beyond)?;
    let right = b.0.checked_mul(a.1).ok_or_else(beyond)?;
    reduced(left.checked_add(right).ok_or_else(beyond)?, a.1.checked_mul(b.1).ok_or_else(beyond)?)
}

fn times(a: Fraction, b: Fraction) -> Result<Fraction, Refusal> {
    reduced(a.0.checked_mul(b.0).ok_or_else(beyond)?, a.1.checked_mul(b.1).ok_or_else(beyond)?)
}

fn over(a: Fraction, b: Fraction) -> Result<Fraction, Refusal> {
    if b.0 == 0 {
        return Err(refuse!("a size is divided by 0"));
    }
    times(a, if b.0 < 0 { (-b.1, -b.0) } else { (b.1, b.0) })
}

fn modulo(a: Fraction, b: Fraction) -> Result<Fraction, Refusal> {
    let whole = (floor(over(a, b)?), 1);
    let part = times(whole, b)?;
    plus(a, (-part.0, part.1))
}

fn raised(base: Fraction, exponent: Fraction) -> Result<Fraction, Refusal> {
    let n = whole(exponent).ok_or_else(|| refuse!("a size has a root"))?;
    let size = u32::try_from(n.unsigned_abs()).map_err(|_| beyond())?;
    let up = (base.0.checked_pow(size).ok_or_else(beyond)?, base.1.checked_pow(size).ok_or_else(beyond)?);
    let up = reduced(up.0, up.1)?;
    if n >= 0 { Ok(up) } else { over((1, 1), up) }
}

/// The fraction in its lowest terms.
fn reduced(a: i128, b: i128) -> Result<Fraction, Refusal> {
    let (mut x, mut y) = (a.unsigned_abs(), b.unsigned_abs());
    while y != 0 {
        (x, y) = (y, x % y);
    }
    if a.unsigned_abs().max(b.unsigned_abs()) >> 120 != 0 {
        return Err(beyond());
    }
    let divisor = i128::try_from(x.max(1)).map_err(|_| beyond())?;
    Ok((a / divisor, b / divisor))
}

fn whole(a: Fraction) -> Option<i128> {
    (a.1 == 1).then_some(a.0)
}

fn floor(a: Fraction) -> i128 {
    a.0.div_euclid(a.1)
}

fn ceil(a: Fraction) -> i128 {
    -((-a.0).div_euclid(a.1))
}

/// The refusal of a number that 128 bits do not hold.
fn beyond() -> Refusal {
    refuse!("a size is beyond all bounds")
}

/// The first characters of a text, for messages.
fn start(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::Expression;
    use ns_base::Refusal;

    fn value(text: &str) -> Result<i64, Refusal> {
        let known = |name: &str| match name {
            "s0" => Some(7),
            "s77" => Some(3),
            _ => None,
        };
        Expression::evaluate(text, &known)
    }

    #[test]
    fn spellings_of_sizes_have_their_values() {
        let cases = [
            ("Symbol('s77', positive=True, integer=True)", 3),
            ("s0", 7),
            ("2*s0 + 1", 15),
            ("-2*s0 + 20", 6),
            ("((s0 + 1)//2)", 4),
            ("(-7)//2", -4),
            ("s0 % 4 + s77**2", 12),
            ("Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(-1))", 13),
            ("FloorDiv(s0, 2) * Max(1, s77, 2)", 9),
            ("torch.utils._sympy.functions.FloorDiv(Symbol('s0', integer=True), Integer(2))", 3),
            ("floor(s0/2) + ceiling(s0/2)", 7),
            ("Mul(Rational(1, 2), Add(s0, 1))", 4),
            ("Min(s0, 4) + Mod(s0, 4)", 7),
        ];
        for (text, want) in cases {
            assert_eq!(value(text), Ok(want), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_an_error() {
        for text in ["", "s0 +", "s9", "f(1)", "s0/2", "1/0", "9**99", "(((", "Symbol(", "Symbol('s0'", "é"] {
            assert!(value(text).is_err(), "{text}");
        }
        assert!(value(&"(".repeat(100_000)).is_err());
        assert!(value(&"-".repeat(1000)).is_err());
    }

    #[test]
    fn symbols_are_named_once() {
        assert_eq!(Expression::symbols_of("s1*Symbol('s0', integer=True) + s1"), ["s1", "s0"]);
    }
}
