//! Sizes as expressions of symbols, as model files spell them: sympy's `Symbol('s77', positive=True)`, `2*s0 + 1`,
//! `Add(Mul(Integer(2), Symbol('s0')), Integer(1))`, `((s0 + 1)//2)`; JAX's `2*batch + floordiv(seq, 3) - 1`; names in ONNX such as
//! `past_sequence_length + 1`.

use ns_base::{Refusal, refuse};

/// Most levels of parentheses, functions and signs.
const MAX_DEPTH: usize = 100;

/// Most bytes of a name that is read as an expression.
const LONGEST_NAME: usize = 1000;

/// A size: an expression of integers and symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SizeTerm<'a> {
    /// As written.
    pub text: &'a str,
    /// The expression from the inside out, without recursion however long it is.
    steps: Vec<Step<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step<'a> {
    Number(i64),
    Symbol(&'a str),
    /// Replaces the last values, of this number, by a function of them.
    Apply(Function, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Abs,
    Add,
    Ceil,
    CeilDiv,
    Divide,
    Floor,
    FloorDiv,
    Identity,
    Max,
    Min,
    Modulo,
    ModuloOfQuotient,
    Multiply,
    Negate,
    Power,
    Subtract,
}

/// Operators between two terms, with their precedence. Of two that begin alike, the longer stands first.
const OPERATORS: [(&str, u8, Function); 8] = [
    ("**", POWER, Function::Power),
    ("^", POWER, Function::Power),
    ("//", PRODUCT, Function::FloorDiv),
    ("*", PRODUCT, Function::Multiply),
    ("/", PRODUCT, Function::Divide),
    ("%", PRODUCT, Function::Modulo),
    ("+", SUM, Function::Add),
    ("-", SUM, Function::Subtract),
];
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const SIGN: u8 = 3;
const POWER: u8 = 4;

impl<'a> SizeTerm<'a> {
    /// Reads an expression. Fails when it is not a supported expression of integers.
    pub fn read(text: &'a str) -> Result<Self, Refusal> {
        let mut reader = Reader { rest: text, depth: 0, steps: Vec::new() };
        reader.terms(SUM)?;
        if !reader.rest.trim().is_empty() {
            return Err(refuse!("`{}` is not understood in the size `{}`", start(reader.rest), start(text)));
        }
        Ok(Self { text: text.trim(), steps: reader.steps })
    }

    /// The expression that the name of an open dimension is; `None` for a plain name.
    pub fn in_name(name: &'a str) -> Option<Self> {
        // Names may contain dashes: a dash is a minus sign only between blanks.
        let has_operator = name.contains(['+', '*']) || name.contains(" - ") || name.contains(" // ");
        if has_operator && name.len() <= LONGEST_NAME { Self::read(name).ok() } else { None }
    }

    pub fn symbol(name: &'a str) -> Self {
        Self { text: name, steps: vec![Step::Symbol(name)] }
    }

    /// Its symbols in the order in which they are written, each once.
    pub fn symbols(&self) -> Vec<&'a str> {
        let mut found = Vec::new();
        for step in &self.steps {
            if let Step::Symbol(name) = step
                && !found.contains(name)
            {
                found.push(name);
            }
        }
        found
    }

    /// The symbol that it is, if it is one alone.
    pub fn as_symbol(&self) -> Option<&'a str> {
        if let [Step::Symbol(name)] = self.steps[..] { Some(name) } else { None }
    }

    /// The number that it is, if it is one alone.
    pub fn number(&self) -> Option<i64> {
        if let [Step::Number(n)] = self.steps[..] { Some(n) } else { None }
    }

    /// Its value; `values` gives the values of the symbols. Fails when a symbol has no value, at a division by zero, and when the
    /// value is not an integer of 64 bits.
    pub fn value(&self, values: &dyn Fn(&str) -> Option<i64>) -> Result<i64, Refusal> {
        let mut stack: Vec<Fraction> = Vec::new();
        for step in &self.steps {
            let value = match *step {
                Step::Number(n) => (i128::from(n), 1),
                Step::Symbol(name) => {
                    (values(name).ok_or_else(|| refuse!("the size `{name}` is not known"))?.into(), 1)
                }
                Step::Apply(function, count) => function.of(&stack.split_off(stack.len().saturating_sub(count)))?,
            };
            stack.push(value);
        }
        let whole = if let [(n, 1)] = stack[..] { i64::try_from(n).ok() } else { None };
        whole.ok_or_else(|| refuse!("the size `{}` is not whole", start(self.text)))
    }
}

/// Reads one expression from its beginning on.
struct Reader<'a> {
    rest: &'a str,
    depth: usize,
    steps: Vec<Step<'a>>,
}

impl<'a> Reader<'a> {
    /// A term and the operators behind it whose precedence is at least `least`.
    fn terms(&mut self, least: u8) -> Result<(), Refusal> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(refuse!("a size is an expression of too many levels"));
        }
        if self.takes("-") {
            self.terms(SIGN)?;
            self.steps.push(Step::Apply(Function::Negate, 1));
        } else {
            self.atom()?;
        }
        loop {
            self.rest = self.rest.trim_start();
            let next = OPERATORS.into_iter().find(|(sign, ..)| self.rest.starts_with(sign));
            let Some((sign, precedence, function)) = next.filter(|(_, precedence, _)| *precedence >= least) else {
                break;
            };
            self.takes(sign);
            // Powers group from the right.
            self.terms(if function == Function::Power { precedence } else { precedence + 1 })?;
            self.steps.push(Step::Apply(function, 2));
        }
        self.depth -= 1;
        Ok(())
    }

    fn atom(&mut self) -> Result<(), Refusal> {
        if self.takes("(") {
            self.terms(SUM)?;
            return if self.takes(")") { Ok(()) } else { Err(refuse!("a parenthesis of a size is not closed")) };
        }
        let before = self.rest;
        let word = self.word();
        if word.is_empty() {
            return Err(refuse!("`{}` is not understood in a size", start(before)));
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let number = word.parse().map_err(|_| refuse!("`{}` is not a number of a size", start(word)))?;
            self.steps.push(Step::Number(number));
        } else if !self.takes("(") {
            self.steps.push(Step::Symbol(word));
        } else if word == "Symbol" {
            self.quoted_symbol()?;
        } else {
            self.function(word)?;
        }
        Ok(())
    }

    /// `'s77', positive=True)`.
    fn quoted_symbol(&mut self) -> Result<(), Refusal> {
        self.rest = self.rest.trim_start();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let Some((name, after)) = quote.and_then(|q| self.rest[1..].split_once(q)) else {
            return Err(refuse!("a symbol's name is wanted at `{}`", start(self.rest)));
        };
        let end = after.find(')').ok_or_else(|| refuse!("a symbol is not closed"))?;
        self.rest = &after[end + 1..];
        self.steps.push(Step::Symbol(name));
        Ok(())
    }

    fn function(&mut self, name: &str) -> Result<(), Refusal> {
        let mut count = 0;
        while !self.takes(")") {
            if self.skips_keyword() {
                continue;
            }
            self.terms(SUM)?;
            count += 1;
            if !self.takes(",") && !self.rest.starts_with(')') {
                return Err(refuse!("`{}` is not understood in a size", start(self.rest)));
            }
        }
        let function = Function::named(name.rsplit('.').next().unwrap_or(name), count)
            .ok_or_else(|| refuse!("the function {} of {count} numbers is not known in a size", start(name)))?;
        self.steps.push(Step::Apply(function, count));
        Ok(())
    }

    /// Skips `integer=True,`.
    fn skips_keyword(&mut self) -> bool {
        let text = self.rest.trim_start();
        let letters = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let is_keyword = letters > 0 && text[letters..].starts_with('=');
        if is_keyword {
            self.rest = &text[text.find([',', ')']).unwrap_or(text.len())..];
            self.takes(",");
        }
        is_keyword
    }

    fn word(&mut self) -> &'a str {
        let text = self.rest.trim_start();
        let end = text.find(|c: char| !(c.is_alphanumeric() || "_.:".contains(c))).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.rest = rest;
        word
    }

    /// Whether `sign` follows; if so, it is consumed.
    fn takes(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }
}

/// A fraction with a positive denominator.
type Fraction = (i128, i128);

impl Function {
    /// A function of sympy, of torch or of JAX with this number of arguments.
    fn named(name: &str, count: usize) -> Option<Self> {
        Some(match (name, count) {
            ("Integer" | "ToFloat" | "Float" | "Identity", 1) => Self::Identity,
            ("Rational" | "IntTrueDiv" | "FloatTrueDiv" | "CleanDiv", 2) => Self::Divide,
            ("Add", _) => Self::Add,
            ("Mul", _) => Self::Multiply,
            ("Pow" | "PowByNatural", 2) => Self::Power,
            ("FloorDiv" | "floordiv", 2) => Self::FloorDiv,
            ("CeilDiv", 2) => Self::CeilDiv,
            ("floor" | "FloorToInt" | "TruncToInt", 1) => Self::Floor,
            ("ceiling" | "CeilToInt", 1) => Self::Ceil,
            ("Mod" | "PythonMod" | "mod", 2) => Self::Modulo,
            ("ModularIndexing", 3) => Self::ModuloOfQuotient,
            ("Max" | "max", 1..) => Self::Max,
            ("Min" | "min", 1..) => Self::Min,
            ("Abs", 1) => Self::Abs,
            _ => return None,
        })
    }

    fn of(self, values: &[Fraction]) -> Result<Fraction, Refusal> {
        let all = |start: Fraction, f: fn(Fraction, Fraction) -> Result<Fraction, Refusal>| {
            values.iter().try_fold(start, |total, &next| f(total, next))
        };
        let first = values.first().copied().unwrap_or((0, 1));
        let second = values.get(1).copied().unwrap_or((0, 1));
        Ok(match self {
            Self::Identity => first,
            Self::Abs => (first.0.abs(), first.1),
            Self::Negate => minus(first),
            Self::Add => all((0, 1), plus)?,
            Self::Subtract => plus(first, minus(second))?,
            Self::Multiply => all((1, 1), times)?,
            Self::Divide => over(first, second)?,
            Self::Floor => floor(first),
            Self::Ceil => minus(floor(minus(first))),
            Self::FloorDiv => floor(over(first, second)?),
            Self::CeilDiv => minus(floor(minus(over(first, second)?))),
            Self::Modulo => modulo(first, second)?,
            Self::ModuloOfQuotient => modulo(floor(over(first, second)?), values.get(2).copied().unwrap_or((0, 1)))?,
            Self::Power => raised(first, second)?,
            Self::Max => all(first, |m, x| Ok(if plus(x, minus(m))?.0 > 0 { x } else { m }))?,
            Self::Min => all(first, |m, x| Ok(if plus(x, minus(m))?.0 < 0 { x } else { m }))?,
        })
    }
}

fn plus(a: Fraction, b: Fraction) -> Result<Fraction, Refusal> {
    let left = a.0.checked_mul(b.1).ok_or_else(beyond)?;
    let right = b.0.checked_mul(a.1).ok_or_else(beyond)?;
    reduced(left.checked_add(right).ok_or_else(beyond)?, a.1.checked_mul(b.1).ok_or_else(beyond)?)
}

/// Numerators have at most 120 bits, so this never overflows.
const fn minus(a: Fraction) -> Fraction {
    (-a.0, a.1)
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

/// Divisions round down, as in Python.
fn modulo(a: Fraction, b: Fraction) -> Result<Fraction, Refusal> {
    plus(a, minus(times(floor(over(a, b)?), b)?))
}

fn raised(base: Fraction, (exponent, of): Fraction) -> Result<Fraction, Refusal> {
    if of != 1 {
        return Err(refuse!("a size has a root"));
    }
    let size = u32::try_from(exponent.unsigned_abs()).map_err(|_| beyond())?;
    let up = (base.0.checked_pow(size).ok_or_else(beyond)?, base.1.checked_pow(size).ok_or_else(beyond)?);
    let up = reduced(up.0, up.1)?;
    if exponent >= 0 { Ok(up) } else { over((1, 1), up) }
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

const fn floor(a: Fraction) -> Fraction {
    (a.0.div_euclid(a.1), 1)
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
    use super::*;

    fn value(text: &str) -> Result<i64, Refusal> {
        let known = |name: &str| [("s0", 7), ("s77", 3)].into_iter().find(|(n, _)| *n == name).map(|(_, value)| value);
        SizeTerm::read(text)?.value(&known)
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
            ("-s77**2", -9),
            ("2**-1*s0*2", 7),
            ("2**s77**2", 512),
            ("20 - s0 - s77", 10),
            ("Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(-1))", 13),
            ("FloorDiv(s0, 2) * Max(1, s77, 2)", 9),
            ("torch.utils._sympy.functions.FloorDiv(Symbol('s0', integer=True), Integer(2))", 3),
            ("floor(s0/2) + ceiling(s0/2)", 7),
            ("Mul(Rational(1, 2), Add(s0, 1))", 4),
            ("Min(s0, 4) + Mod(s0, 4)", 7),
            ("2*(s0 - 1) // s77", 4),
            ("floor(s0/2 - 1/2) + 1", 4),
            // JAX.
            ("2*s0*s77 + s0 - 3", 46),
            ("floordiv(s0, 2)", 3),
            ("s0^2*s77 - s77", 144),
            ("floordiv(s0 + 1, s77 + 2)", 1),
            ("- 2*s77 + s0", 1),
            ("-1*s77 + min(s0, 2*s77)", 3),
            ("floordiv(s77 - s0, 3)", -2),
            ("mod(s77 - s0, 3)", 2),
            ("max(s0, s77 + 1)", 7),
            ("(s0 + 1)*(s77 - 1)", 16),
        ];
        for (text, want) in cases {
            assert_eq!(value(text), Ok(want), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_an_error() {
        for text in [
            "",
            "s0 +",
            "s9",
            "f(1)",
            "s0/2",
            "1/0",
            "9**99",
            "(((",
            "Symbol(",
            "Symbol('s0'",
            "é",
            "s0 s77",
            "1.5",
            "max()",
            "mod(s0, 0)",
            "s0^99",
        ] {
            assert!(value(text).is_err(), "{text}");
        }
        assert!(value(&"(".repeat(100_000)).is_err());
        assert!(value(&"-".repeat(1000)).is_err());
        assert_eq!(value(&format!("{}1", "s77+".repeat(100_000))), Ok(300_001));
    }

    #[test]
    fn symbols_are_named_once() {
        assert_eq!(SizeTerm::read("s1*Symbol('s0', integer=True) + s1").unwrap().symbols(), ["s1", "s0"]);
        assert_eq!(SizeTerm::read(" 12 ").unwrap().number(), Some(12));
        assert_eq!(SizeTerm::read("2*a").unwrap().number(), None);
        let symbol = |text| SizeTerm::read(text).unwrap().as_symbol();
        assert_eq!(symbol("Symbol('s0', positive=True)"), Some("s0"));
        assert_eq!((symbol(" s1 "), symbol("s1 + 0")), (Some("s1"), None));
    }

    #[test]
    fn a_name_is_an_expression_if_it_has_an_operator() {
        let names = |name| SizeTerm::in_name(name).map(|term| term.symbols());
        assert_eq!(names("past + seq.len"), Some(vec!["past", "seq.len"]));
        assert_eq!(names("2*(past - 1) // seq"), Some(vec!["past", "seq"]));
        for plain in ["batch", "batch-size", "a + ", &"(".repeat(900), &"a+".repeat(900)] {
            assert_eq!(names(plain), None, "{plain:.20}");
        }
    }
}
