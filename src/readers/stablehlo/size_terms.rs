//! Sizes as JAX writes them in the specification of a model with symbols: `2*batch + floordiv(seq, 3) - 1`.

use std::collections::BTreeMap;

/// Most levels of brackets and functions.
const MOST_NESTING: u32 = 32;

/// Most bytes of a size, which limit the depth of its tree.
const MOST_BYTES: usize = 1000;

/// A size: a polynomial of symbols, with functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SizeTerm<'a> {
    /// As written.
    pub text: &'a str,
    root: Node<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node<'a> {
    Number(i64),
    Symbol(&'a str),
    Add(Box<Node<'a>>, Box<Node<'a>>),
    Sub(Box<Node<'a>>, Box<Node<'a>>),
    Mul(Box<Node<'a>>, Box<Node<'a>>),
    Power(Box<Node<'a>>, u32),
    Function(Function, Box<Node<'a>>, Box<Node<'a>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    FloorDiv,
    Mod,
    Max,
    Min,
}

impl<'a> SizeTerm<'a> {
    /// Reads a size; `None` if it is written in another way.
    pub fn read(text: &'a str) -> Option<Self> {
        if text.len() > MOST_BYTES {
            return None;
        }
        let mut reader = Reader { rest: text };
        let root = reader.sum(MOST_NESTING)?;
        reader.rest.trim_start().is_empty().then(|| Self { text: text.trim(), root })
    }

    pub const fn symbol(name: &'a str) -> Self {
        Self { text: name, root: Node::Symbol(name) }
    }

    /// Its symbols, in the order in which they are written.
    pub fn symbols(&self) -> Vec<&'a str> {
        let mut found = Vec::new();
        self.root.symbols(&mut found);
        found
    }

    /// Whether it is a number.
    pub fn number(&self) -> Option<i64> {
        if let Node::Number(n) = self.root { Some(n) } else { None }
    }

    /// Its value; `None` if a symbol has no value, or at a division by zero or a number beyond 64 bits.
    pub fn value(&self, symbols: &BTreeMap<&str, i64>) -> Option<i64> {
        self.root.value(symbols)
    }
}

impl<'a> Node<'a> {
    fn symbols(&self, found: &mut Vec<&'a str>) {
        match self {
            Self::Number(_) => {}
            Self::Symbol(name) => {
                if !found.contains(name) {
                    found.push(name);
                }
            }
            Self::Power(of, _) => of.symbols(found),
            Self::Add(a, b) | Self::Sub(a, b) | Self::Mul(a, b) | Self::Function(_, a, b) => {
                a.symbols(found);
                b.symbols(found);
            }
        }
    }

    fn value(&self, symbols: &BTreeMap<&str, i64>) -> Option<i64> {
        let of = |node: &Self| node.value(symbols);
        match self {
            Self::Number(n) => Some(*n),
            Self::Symbol(name) => symbols.get(name).copied(),
            Self::Add(a, b) => of(a)?.checked_add(of(b)?),
            Self::Sub(a, b) => of(a)?.checked_sub(of(b)?),
            Self::Mul(a, b) => of(a)?.checked_mul(of(b)?),
            Self::Power(a, n) => of(a)?.checked_pow(*n),
            Self::Function(f, a, b) => f.of(of(a)?, of(b)?),
        }
    }
}

impl Function {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "floordiv" => Self::FloorDiv,
            "mod" => Self::Mod,
            "max" => Self::Max,
            "min" => Self::Min,
            _ => return None,
        })
    }

    /// Divisions round down, as in Python.
    fn of(self, a: i64, b: i64) -> Option<i64> {
        let remainder = || a.checked_rem(b).map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r });
        match self {
            Self::FloorDiv => a.checked_sub(remainder()?)?.checked_div(b),
            Self::Mod => remainder(),
            Self::Max => Some(a.max(b)),
            Self::Min => Some(a.min(b)),
        }
    }
}

/// Reads one size from its beginning on.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn take(&mut self, sign: char) -> bool {
        let after = self.rest.trim_start().strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn word(&mut self) -> &'a str {
        let text = self.rest.trim_start();
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        let (word, after) = text.split_at(end);
        self.rest = after;
        word
    }

    fn sum(&mut self, depth: u32) -> Option<Node<'a>> {
        let mut sum = if self.take('-') {
            Node::Sub(Box::new(Node::Number(0)), Box::new(self.product(depth)?))
        } else {
            self.product(depth)?
        };
        loop {
            if self.take('+') {
                sum = Node::Add(Box::new(sum), Box::new(self.product(depth)?));
            } else if self.take('-') {
                sum = Node::Sub(Box::new(sum), Box::new(self.product(depth)?));
            } else {
                return Some(sum);
            }
        }
    }

    fn product(&mut self, depth: u32) -> Option<Node<'a>> {
        let mut product = self.power(depth)?;
        while self.take('*') {
            product = Node::Mul(Box::new(product), Box::new(self.power(depth)?));
        }
        Some(product)
    }

    fn power(&mut self, depth: u32) -> Option<Node<'a>> {
        let base = self.atom(depth.checked_sub(1)?)?;
        if !self.take('^') {
            return Some(base);
        }
        Some(Node::Power(Box::new(base), self.word().parse().ok()?))
    }

    fn atom(&mut self, depth: u32) -> Option<Node<'a>> {
        if self.take('(') {
            let inner = self.sum(depth)?;
            return self.take(')').then_some(inner);
        }
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.parse().ok().map(Node::Number);
        }
        if word.is_empty() {
            return None;
        }
        if !self.take('(') {
            return Some(Node::Symbol(word));
        }
        let function = Function::named(word)?;
        let first = self.sum(depth)?;
        let second = if self.take(',') { self.sum(depth)? } else { return None };
        self.take(')').then(|| Node::Function(function, Box::new(first), Box::new(second)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_jax_prints_them() {
        let symbols = BTreeMap::from([("a", 7), ("b", 3)]);
        let value = |text: &str| SizeTerm::read(text).and_then(|term| term.value(&symbols));
        let cases = [
            ("12", 12),
            ("a", 7),
            ("2*a*b + a - 3", 46),
            ("floordiv(a, 2)", 3),
            ("mod(a, 3)", 1),
            ("b - a", -4),
            ("a^2*b - b", 144),
            ("floordiv(a + 1, b + 2)", 1),
            ("max(a, b + 1)", 7),
            ("- 2*b + a", 1),
            ("-1*b + min(a, 2*b)", 3),
            ("floordiv(b - a, 3)", -2),
            ("mod(b - a, 3)", 2),
            ("(a + 1)*(b - 1)", 16),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), Some(expected), "{text}");
        }
        assert_eq!(SizeTerm::read("2*a*b + a - 3").unwrap().symbols(), ["a", "b"]);
        let overflow = "a^99";
        for wrong in
            ["", "a b", "2*", "sqrt(a)", "max(a)", "c", "mod(a, 0)", overflow, &"(".repeat(9999), &"a+".repeat(99_999)]
        {
            assert_eq!(value(wrong), None, "{wrong:.20}");
        }
    }
}
