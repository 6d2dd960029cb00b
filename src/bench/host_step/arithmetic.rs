//! Formulas in ordinary notation: numbers, names, `+ - * / **`, brackets and functions. Each language defines the meaning of
//! names: [`crate::evaluate::Formula`] has counts and rates, [`crate::Expression`] the inputs of a model.

use ns_base::{Refusal, refuse};

/// Deepest nesting of a formula; real formulas are far shallower.
const MOST_DEPTH: u32 = 64;

/// An operator between two terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Power,
}

/// Modules of Python before the name of a function.
const MODULES: [&str; 6] = ["torch", "np", "numpy", "nn", "functional", "F"];

/// Methods that move or cast every element, whatever their arguments.
const MOVES: [&str; 20] = [
    "permute",
    "transpose",
    "reshape",
    "view",
    "contiguous",
    "squeeze",
    "unsqueeze",
    "flatten",
    "expand",
    "repeat",
    "to",
    "type",
    "astype",
    "bfloat16",
    "clone",
    "detach",
    "cpu",
    "numpy",
    "copy",
    "t",
];
/// The function that stands for a move of every element.
const MOVE: &str = "float";

/// A formula over values of a language.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term<V> {
    Number(f64),
    Value(V),
    Negative(Box<Term<V>>),
    Of(Box<Term<V>>, Operator, Box<Term<V>>),
    /// A function by its index in the language's list.
    Call(usize, Vec<Term<V>>),
}

/// The names and functions of one language of formulas.
pub(crate) trait Language {
    /// The meaning of a name.
    type Value;
    /// The value of a name; `index` is the index in square brackets after it.
    fn value(&self, name: &str, index: Option<usize>) -> Option<Self::Value>;
    /// Functions: name, and how many arguments each takes.
    fn functions(&self) -> &[(&'static str, usize)];
    /// Whether a function (`x.argmax()`) or an index (`x[0]`) may follow a value.
    fn has_methods(&self) -> bool;
    /// The known names, for a message.
    fn known(&self) -> String;
}

/// Reads the terms of a text from a byte on: one, or several separated by commas, with or without brackets. An error says what
/// cannot be read, and where.
pub(crate) fn parse<L: Language>(text: &str, from: usize, language: &L) -> Result<Vec<Term<L::Value>>, Refusal> {
    let mut reader = Reader { text, at: from, depth: 0, language };
    let in_brackets = language.has_methods() && is_tuple(reader.rest());
    if in_brackets {
        reader.take('(');
    }
    let mut terms = vec![reader.sum()?];
    while language.has_methods() && reader.take(',') {
        // Python allows a comma after the last term.
        if matches!(reader.peek(), None | Some(')')) {
            break;
        }
        terms.push(reader.sum()?);
    }
    if in_brackets && !reader.take(')') {
        return Err(reader.wrong("a closing bracket is missing"));
    }
    match reader.peek() {
        None => Ok(terms),
        Some(c) => Err(reader.wrong(&format!("'{c}' is not expected here"))),
    }
}

/// Whether one pair of brackets encloses the whole text, with a comma that is not inside other brackets.
fn is_tuple(text: &str) -> bool {
    let text = text.trim();
    let (mut depth, mut has_comma) = (0u32, false);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && at + 1 < text.len() {
                    return false;
                }
            }
            ',' => has_comma |= depth == 1,
            _ if depth == 0 => return false,
            _ => {}
        }
    }
    has_comma
}

struct Reader<'a, L> {
    text: &'a str,
    at: usize,
    depth: u32,
    language: &'a L,
}

impl<L: Language> Reader<'_, L> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        let skipped = rest.len() - rest.trim_start().len();
        self.at += skipped;
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn wrong(&self, problem: &str) -> Refusal {
        let at = self.text.get(..self.at).map_or(0, |t| t.chars().count()) + 1;
        refuse!("'{}': {problem} at character {at}", self.text)
    }

    fn deeper(&mut self) -> Result<(), Refusal> {
        self.depth += 1;
        if self.depth > MOST_DEPTH { Err(self.wrong("the formula is nested too deeply")) } else { Ok(()) }
    }

    fn sum(&mut self) -> Result<Term<L::Value>, Refusal> {
        self.deeper()?;
        let mut term = self.product()?;
        while let Some(operator) = self.peek().and_then(|c| match c {
            '+' => Some(Operator::Plus),
            '-' => Some(Operator::Minus),
            _ => None,
        }) {
            self.at += 1;
            term = Term::Of(Box::new(term), operator, Box::new(self.product()?));
        }
        self.depth -= 1;
        Ok(term)
    }

    fn product(&mut self) -> Result<Term<L::Value>, Refusal> {
        let mut term = self.factor()?;
        while let Some(operator) = self.peek().and_then(|c| match c {
            '*' => Some(Operator::Times),
            '/' => Some(Operator::Over),
            _ => None,
        }) {
            self.at += 1;
            term = Term::Of(Box::new(term), operator, Box::new(self.factor()?));
        }
        Ok(term)
    }

    /// A power binds closer than the sign before it, and its exponent may have a sign: `-x ** -2`.
    fn factor(&mut self) -> Result<Term<L::Value>, Refusal> {
        if self.take('-') {
            self.deeper()?;
            let inner = self.factor()?;
            self.depth -= 1;
            return Ok(Term::Negative(Box::new(inner)));
        }
        let mut base = self.atom()?;
        while self.language.has_methods() && self.take('.') {
            base = self.method(base)?;
        }
        if self.peek().is_some() && self.rest().starts_with("**") {
            self.at += 2;
            self.deeper()?;
            base = Term::Of(Box::new(base), Operator::Power, Box::new(self.factor()?));
            self.depth -= 1;
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<Term<L::Value>, Refusal> {
        match self.peek() {
            Some('(') => self.bracket(),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.named(),
            Some(c) => Err(self.wrong(&format!("'{c}' is not known"))),
            None => Err(self.wrong("something is missing")),
        }
    }

    fn number(&mut self) -> Result<Term<L::Value>, Refusal> {
        let mut text = self.word(|c| c.is_ascii_digit() || c == '.');
        let mut exponent = self.rest().chars();
        if exponent.next().is_some_and(|c| matches!(c, 'e' | 'E'))
            && exponent.next().is_some_and(|c| c.is_ascii_digit() || matches!(c, '+' | '-'))
        {
            text.push_str(self.rest().get(..2).unwrap_or_default());
            self.at += 2;
            text.push_str(&self.word(|c| c.is_ascii_digit()));
        }
        text.parse().map(Term::Number).map_err(|_| self.wrong(&format!("'{text}' is not a number")))
    }

    fn named(&mut self) -> Result<Term<L::Value>, Refusal> {
        let mut name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        // `torch.softmax(x)` is `softmax(x)`.
        while self.language.has_methods() && MODULES.contains(&name.as_str()) && self.take('.') {
            name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        }
        if let Some((function, arguments)) = self.function(&name) {
            if self.peek() != Some('(') {
                return Err(self.wrong("a bracket is missing"));
            }
            let given = self.arguments()?;
            return self.call(&name, function, arguments, given);
        }
        if let Some(sliced) = self.slice(&name)? {
            return Ok(sliced);
        }
        let index = if self.language.has_methods() && self.take('[') { Some(self.index()?) } else { None };
        let value = self.language.value(&name, index);
        let known = self.language.known();
        value.map(Term::Value).ok_or_else(|| self.wrong(&format!("'{name}' is not known; use {known}")))
    }

    fn method(&mut self, of: Term<L::Value>) -> Result<Term<L::Value>, Refusal> {
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        if let Some((moves, _)) = self.function(MOVE).filter(|_| MOVES.contains(&name.as_str())) {
            self.skip('(', ')')?;
            return Ok(Term::Call(moves, vec![of]));
        }
        let Some((function, arguments)) = self.function(&name) else {
            return Err(
                self.wrong(&format!("'.{name}()' is not known; the functions are {}", self.names_of_functions()))
            );
        };
        let mut given = vec![of];
        given.extend(self.arguments()?);
        self.call(&name, function, arguments, given)
    }

    /// `x[:, 0]`: a part of the data, which is a pass over it; `None` if the brackets hold one index, or there are none.
    fn slice(&mut self, name: &str) -> Result<Option<Term<L::Value>>, Refusal> {
        let inside = self.rest().trim_start().strip_prefix('[').and_then(|rest| rest.split(']').next());
        let is_slice = self.language.has_methods() && inside.is_some_and(|inside| inside.contains([':', ',']));
        let value = self.language.value(name, None);
        let (Some((moves, _)), Some(value), true) = (self.function(MOVE), value, is_slice) else { return Ok(None) };
        self.skip('[', ']')?;
        Ok(Some(Term::Call(moves, vec![Term::Value(value)])))
    }

    /// Passes over brackets and what they hold.
    fn skip(&mut self, open: char, close: char) -> Result<(), Refusal> {
        if !self.take(open) {
            return Err(self.wrong("a bracket is missing"));
        }
        let mut depth = 1_u32;
        while let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            depth = if c == open { depth + 1 } else { depth - u32::from(c == close) };
            if depth == 0 {
                return Ok(());
            }
        }
        Err(self.wrong("a closing bracket is missing"))
    }

    fn call(
        &self,
        name: &str,
        function: usize,
        wanted: usize,
        mut given: Vec<Term<L::Value>>,
    ) -> Result<Term<L::Value>, Refusal> {
        // `softmax(x, -1)`: the dimension does not change the work.
        let is_number = |term: &Term<L::Value>| match term {
            Term::Negative(inner) => matches!(**inner, Term::Number(_)),
            term => matches!(term, Term::Number(_)),
        };
        if self.language.has_methods() && wanted == 1 && given.len() == 2 && given.last().is_some_and(is_number) {
            given.pop();
        }
        if given.len() == wanted {
            return Ok(Term::Call(function, given));
        }
        Err(self.wrong(&format!("{name} takes {wanted} values, but {} are given", given.len())))
    }

    fn function(&self, name: &str) -> Option<(usize, usize)> {
        let found = self.language.functions().iter().enumerate().find(|(_, (f, _))| f.eq_ignore_ascii_case(name));
        found.map(|(at, (_, arguments))| (at, *arguments))
    }

    fn names_of_functions(&self) -> String {
        self.language.functions().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// `(a, b)`, perhaps empty.
    fn arguments(&mut self) -> Result<Vec<Term<L::Value>>, Refusal> {
        if !self.take('(') {
            return Err(self.wrong("a bracket is missing"));
        }
        let mut given = Vec::new();
        if self.take(')') {
            return Ok(given);
        }
        loop {
            if !self.skip_dimension()? {
                given.push(self.sum()?);
            }
            if self.take(')') {
                return Ok(given);
            }
            if !self.take(',') {
                return Err(self.wrong("a closing bracket is missing"));
            }
        }
    }

    /// Skips `dim=1`: the data of one sample has one dimension here.
    fn skip_dimension(&mut self) -> Result<bool, Refusal> {
        self.peek();
        let named =
            ["dim", "axis"].iter().find_map(|name| self.rest().strip_prefix(name)?.trim_start().strip_prefix('='));
        let Some(rest) = named.filter(|_| self.language.has_methods()) else { return Ok(false) };
        self.at = self.text.len() - rest.len();
        self.take('-');
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.number()?;
            return Ok(true);
        }
        Err(self.wrong("a dimension must be a whole number"))
    }

    fn index(&mut self) -> Result<usize, Refusal> {
        self.peek();
        let digits = self.word(|c| c.is_ascii_digit());
        let index = digits.parse().map_err(|_| self.wrong("an index must be a whole number from 0"))?;
        if self.take(']') { Ok(index) } else { Err(self.wrong("a closing ']' is missing")) }
    }

    fn bracket(&mut self) -> Result<Term<L::Value>, Refusal> {
        self.take('(');
        let inner = self.sum()?;
        if self.take(')') { Ok(inner) } else { Err(self.wrong("a closing bracket is missing")) }
    }

    fn word(&mut self, belongs: fn(char) -> bool) -> String {
        let word: String = self.rest().chars().take_while(|c| belongs(*c)).collect();
        self.at += word.len();
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Letters;

    impl Language for Letters {
        type Value = char;
        fn value(&self, name: &str, index: Option<usize>) -> Option<char> {
            name.chars().next().filter(|_| name.len() == 1 && index.is_none_or(|i| i == 0))
        }
        fn functions(&self) -> &[(&'static str, usize)] {
            &[("sqrt", 1), ("clip", 3)]
        }
        fn has_methods(&self) -> bool {
            true
        }
        fn known(&self) -> String {
            "one letter".to_owned()
        }
    }

    /// The terms with brackets around everything.
    fn with_brackets(text: &str) -> String {
        fn one(term: &Term<char>) -> String {
            match term {
                Term::Number(n) => n.to_string(),
                Term::Value(c) => c.to_string(),
                Term::Negative(t) => format!("-{}", one(t)),
                Term::Of(a, o, b) => format!("({} {o:?} {})", one(a), one(b)),
                Term::Call(f, list) => format!("f{f}[{}]", list.iter().map(one).collect::<Vec<_>>().join(" ")),
            }
        }
        match parse(text, 0, &Letters) {
            Ok(terms) => terms.iter().map(one).collect::<Vec<_>>().join(", "),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn terms_bind_as_in_python() {
        assert_eq!(with_brackets("a + b*c - 1e-3"), "((a Plus (b Times c)) Minus 0.001)");
        assert_eq!(with_brackets("-x**2 / 4"), "(-(x Power 2) Over 4)");
        assert_eq!(with_brackets("x ** -2 ** 3"), "(x Power -(2 Power 3))");
        assert_eq!(with_brackets("(x - 0.5) * 2"), "((x Minus 0.5) Times 2)");
        assert_eq!(with_brackets("x[0].clip(0, 1).sqrt()"), "f0[f1[x 0 1]]");
        assert_eq!(with_brackets("x / 255, y / 255,"), "(x Over 255), (y Over 255)");
        assert_eq!(with_brackets("(x / 255, (y))"), "(x Over 255), y");
        assert_eq!(with_brackets("(x) + (y)"), "(x Plus y)");
    }

    #[test]
    fn mistakes_have_their_place() {
        assert_eq!(with_brackets("x /"), "'x /': something is missing at character 4");
        assert_eq!(with_brackets("x + yy"), "'x + yy': 'yy' is not known; use one letter at character 7");
        assert!(
            with_brackets("x.resize(3)")
                .contains("'.resize()' is not known; the functions are sqrt, clip at character 9")
        );
        assert!(with_brackets("clip(x)").contains("clip takes 3 values, but 1 are given"));
        assert!(
            with_brackets("x[1]").contains("'x' is not known")
                && with_brackets("x[a]").contains("an index must be a whole number")
        );
        assert!(
            with_brackets("(x, y").contains("a closing bracket is missing")
                && with_brackets("x,, y").contains("',' is not known")
        );
        assert!(
            with_brackets(&"(".repeat(10_000)).contains("too deeply")
                && with_brackets(&"-".repeat(10_000)).contains("too deep")
        );
        assert!(with_brackets(&"x**".repeat(10_000)).contains("too deep"));
    }
}
