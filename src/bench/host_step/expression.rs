//! Work around a call as an expression over its data, like the functions of a NeuronPerf script: `x * 5`,
//! `(x - 0.5) * 2`, `x / 255, y / 255, z / 255`, `x.argmax()`, `lambda x: x[0]`.
//!
//! It is a cost in a simulated run and is really computed in a measured one. An operation is a pass over the data, as in numpy.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::arithmetic::{Language, Operator, Term, parse};
use ns_base::Order;
use ns_base::convert::{f64_to_f32, f64_to_usize, usize_to_f32};
use ns_base::{Refusal, refuse};
use ns_machine::cost::decisions;

/// Functions of expressions: name, and how many values each takes.
const FUNCTIONS: &[(&str, usize)] = &[
    ("abs", 1),
    ("sqrt", 1),
    ("exp", 1),
    ("log", 1),
    ("tanh", 1),
    ("softmax", 1),
    ("clip", 3),
    ("argmax", 1),
    ("max", 1),
    ("min", 1),
    ("sum", 1),
    ("mean", 1),
    ("half", 1),
    ("float", 1),
    ("topk", 2),
];

/// Names of the data when a lambda gives none.
const NAMES: [&str; 8] = ["x", "y", "z", "w", "x4", "x5", "x6", "x7"];

/// Longest text of an expression, bytes.
const MOST_BYTES: usize = 1_000;

/// Picoseconds for one element of a pass that reads, computes and writes: measured, as for [`crate::HostStep::Normalize`].
const PASS_PS: u64 = 300;
/// The same for a pass with an exponential, a logarithm or a power, as in [`crate::HostStep::Softmax`].
const FUNCTION_PS: u64 = 2_800;
/// The same for a search, as in [`crate::HostStep::Argmax`].
const SEARCH_PS: u64 = 1_100;

#[derive(Clone, Debug, Serialize)]
#[serde(into = "String")]
pub struct Expression {
    text: String,
    /// What it computes, once that is asked for.
    formulas: OnceLock<Formulas>,
}

/// What an expression computes.
#[derive(Clone, Debug, Default)]
struct Formulas {
    results: Vec<Term<usize>>,
    /// How many inputs it takes: the names of a lambda, or up to the last input that is named.
    takes: usize,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl<'de> Deserialize<'de> for Expression {
    /// A message between our programs holds the text of an expression that was read before: the page, which shows it, need not read it again.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let is_of_user = from.is_human_readable();
        let text = String::deserialize(from)?;
        if is_of_user { text.parse().map_err(Error::custom) } else { Ok(Self { text, formulas: OnceLock::new() }) }
    }
}

/// The names of a lambda, or the usual ones.
struct Inputs<'a> {
    names: Vec<&'a str>,
    is_lambda: bool,
}

impl Language for Inputs<'_> {
    type Value = usize;

    fn value(&self, name: &str, index: Option<usize>) -> Option<usize> {
        let at = self.names.iter().position(|known| *known == name)?;
        // The single argument of a lambda over a dataset is the tuple of a record.
        match index {
            Some(index) if self.is_lambda && self.names.len() == 1 => Some(index).filter(|i| *i < NAMES.len()),
            Some(0) | None => Some(at),
            Some(_) => None,
        }
    }

    fn functions(&self) -> &[(&'static str, usize)] {
        FUNCTIONS
    }

    fn has_methods(&self) -> bool {
        true
    }

    fn known(&self) -> String {
        let functions = FUNCTIONS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let names = if self.is_lambda { self.names.join(", ") } else { "x, y, z for the data".to_owned() };
        format!("{names}, numbers, or {functions}")
    }
}

/// The names between `lambda` and its colon, or those of a `def` with one `return`, and where the expression begins.
fn lambda(text: &str) -> Result<Option<(Vec<&str>, usize)>, Refusal> {
    if text.trim_start().starts_with("def ") {
        return function(text).map(Some);
    }
    let Some(rest) = text.trim_start().strip_prefix("lambda ") else { return Ok(None) };
    let begins = text.len() - rest.len();
    let wrong = |problem: &str| refuse!("'{text}': {problem} at character {}", begins + 1);
    let colon =
        rest.find(':').ok_or_else(|| wrong("a lambda has a colon after its names, such as lambda x: x / 255"))?;
    let names: Vec<&str> = rest[..colon].split(',').map(|n| n.trim().trim_start_matches('*')).collect();
    let is_name = |n: &&str| !n.is_empty() && n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if names.len() > NAMES.len() || !names.iter().all(is_name) {
        return Err(wrong("the names of a lambda are at most eight words separated by commas"));
    }
    Ok(Some((names, begins + colon + 1)))
}

/// A function of several statements as one of one line: what a name was given stands in parentheses where it is read. `None` where a statement
/// is of another kind.
fn inlined(text: &str) -> Option<String> {
    let (head, body) = text.trim().strip_prefix("def ")?.split_once("):")?;
    let without_note = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
    let mut given: Vec<(String, String)> = Vec::new();
    for statement in body.split(['\n', ';']).map(without_note).filter(|statement| !statement.is_empty()) {
        if let Some(result) = statement.strip_prefix("return ") {
            return (!given.is_empty()).then(|| format!("def {head}): return {}", with_values(result, &given)));
        }
        let (name, value) = statement.split_once('=')?;
        let is_operator = |c: char| matches!(c, '+' | '-' | '*' | '/');
        let (name, operator) =
            (name.trim_end_matches(is_operator).trim(), name.trim_start_matches(|c| !is_operator(c)));
        if name.is_empty() || !name.chars().all(is_of_word) || value.starts_with('=') {
            return None;
        }
        let value = format!("({})", with_values(value, &given));
        let before = with_values(name, &given);
        let value = if operator.is_empty() { value } else { format!("({before} {operator} {value})") };
        if value.len() > MOST_BYTES {
            return None;
        }
        given.retain(|(known, _)| known != name);
        given.push((name.to_owned(), value));
    }
    None
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A text with the values of names in their places, but not behind a point.
fn with_values(text: &str, given: &[(String, String)]) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let end = match is_of_word(first) {
            true => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        let value = given.iter().find(|(name, _)| name == word && !out.ends_with('.'));
        out.push_str(value.map_or(word, |(_, value)| value));
        rest = after;
    }
    out
}

/// As [`lambda`], of `def preprocess_fn(x, y): return x / 255, y / 255`.
fn function(text: &str) -> Result<(Vec<&str>, usize), Refusal> {
    let wrong = || {
        refuse!(
            "'{text}': only a function that gives values to names and returns can be read, such as def preprocess_fn(x): return x * 5 at character 1"
        )
    };
    let (head, _) = text.split_once("return ").ok_or_else(wrong)?;
    let arguments = head.trim().strip_suffix(':').map(str::trim).and_then(|head| head.strip_suffix(')'));
    let names = arguments.and_then(|head| head.split_once('(')).map(|(_, names)| names).ok_or_else(wrong)?;
    let names: Vec<&str> =
        names.split(',').map(|n| n.trim().trim_start_matches('*')).filter(|n| !n.is_empty()).collect();
    let is_name = |n: &&str| n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if names.is_empty() || names.len() > NAMES.len() || !names.iter().all(is_name) {
        return Err(wrong());
    }
    Ok((names, head.len() + "return ".len()))
}

impl FromStr for Expression {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        if text.len() > MOST_BYTES {
            let beginning: String = text.chars().take(40).collect();
            return Err(refuse!(
                "'{beginning}': an expression may have at most {MOST_BYTES} bytes at character {MOST_BYTES}"
            ));
        }
        let formulas = Formulas::of(text)?;
        Ok(Self { text: text.trim().to_owned(), formulas: OnceLock::from(formulas) })
    }
}

impl Formulas {
    fn of(text: &str) -> Result<Self, Refusal> {
        let in_line = inlined(text);
        let read = in_line.as_deref().unwrap_or(text);
        let (inputs, from) = match lambda(read)? {
            Some((names, from)) => (Inputs { names, is_lambda: true }, from),
            None => (Inputs { names: NAMES.to_vec(), is_lambda: false }, 0),
        };
        let results = parse(read, from, &inputs)?;
        let named = results.iter().map(named_by).max().unwrap_or(0);
        // `lambda x: x[1]` takes apart the tuple of a record.
        let takes = if inputs.is_lambda { named.max(inputs.names.len()) } else { named };
        Ok(Self { results, takes })
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Expression> for String {
    fn from(expression: Expression) -> Self {
        expression.text
    }
}

/// Intermediate data: one number, or many.
#[derive(Clone, Debug, PartialEq)]
enum Data {
    One(f32),
    Many(Vec<f32>),
}

impl Expression {
    fn formulas(&self) -> &Formulas {
        self.formulas.get_or_init(|| Formulas::of(&self.text).unwrap_or_default())
    }

    /// How many inputs it takes, counted from the first: 2 when `y` is the last, or when a lambda has two names.
    pub fn inputs(&self) -> usize {
        self.formulas().takes
    }

    /// The usual names of so many inputs.
    pub fn names(inputs: usize) -> Vec<&'static str> {
        NAMES.into_iter().take(inputs).collect()
    }

    /// Picoseconds for data with this many elements, shared evenly among the results.
    pub fn ps(&self, elements: u64) -> u64 {
        let results = &self.formulas().results;
        let each = elements / results.len().max(1) as u64;
        let costs = results.iter().map(|t| cost(t).0.saturating_mul(each));
        costs.fold(0, u64::saturating_add)
    }

    /// Computes it over the data of each input; a result of one number is a list of one. When lists have different lengths,
    /// the longer ones are cut.
    pub fn compute(&self, data: &[&[f32]]) -> Vec<Vec<f32>> {
        let value = |term| match compute(term, data) {
            Data::One(x) => vec![x],
            Data::Many(list) => list,
        };
        self.formulas().results.iter().map(value).collect()
    }
}

/// How many inputs a term names, counted from the first.
fn named_by(term: &Term<usize>) -> usize {
    match term {
        Term::Number(_) => 0,
        Term::Value(at) => at + 1,
        Term::Negative(inner) => named_by(inner),
        Term::Of(a, _, b) => named_by(a).max(named_by(b)),
        Term::Call(_, list) => list.iter().map(named_by).max().unwrap_or(0),
    }
}

/// Picoseconds per element, and whether the result is one number: operations after a reduction cost nothing.
fn cost(term: &Term<usize>) -> (u64, bool) {
    let pass = |is_one: bool, ps: u64| if is_one { 0 } else { ps };
    match term {
        Term::Number(_) => (0, true),
        Term::Value(_) => (0, false),
        Term::Negative(inner) => {
            let (ps, is_one) = cost(inner);
            (ps + pass(is_one, PASS_PS), is_one)
        }
        Term::Of(a, operator, b) => {
            let ((a, a_is_one), (b, b_is_one)) = (cost(a), cost(b));
            let is_one = a_is_one && b_is_one;
            let each = if *operator == Operator::Power { FUNCTION_PS } else { PASS_PS };
            (a + b + pass(is_one, each), is_one)
        }
        Term::Call(function, list) => {
            let costs: Vec<(u64, bool)> = list.iter().map(cost).collect();
            let (before, is_one) = (costs.iter().map(|c| c.0).sum::<u64>(), costs.iter().all(|c| c.1));
            let (ps, reduces) = match name_of(*function) {
                "exp" | "log" | "tanh" | "softmax" => (FUNCTION_PS, false),
                "argmax" => (SEARCH_PS, true),
                "topk" => (decisions::TOPK_PS, true),
                "max" | "min" | "sum" | "mean" => (PASS_PS, true),
                _ => (PASS_PS, false),
            };
            (before + pass(is_one, ps), is_one || reduces)
        }
    }
}

fn name_of(function: usize) -> &'static str {
    FUNCTIONS.get(function).map_or("", |(name, _)| name)
}

fn compute(term: &Term<usize>, data: &[&[f32]]) -> Data {
    match term {
        Term::Number(n) => Data::One(f64_to_f32(*n)),
        Term::Value(at) => Data::Many(data.get(*at).copied().unwrap_or(&[]).to_vec()),
        Term::Negative(inner) => each(compute(inner, data), |x| -x),
        Term::Of(a, operator, b) => {
            let of = |a: f32, b: f32| match operator {
                Operator::Plus => a + b,
                Operator::Minus => a - b,
                Operator::Times => a * b,
                Operator::Over => a / b,
                Operator::Power => libm::powf(a, b),
            };
            match (compute(a, data), compute(b, data)) {
                (Data::One(a), Data::One(b)) => Data::One(of(a, b)),
                (Data::Many(a), Data::One(b)) => Data::Many(a.into_iter().map(|a| of(a, b)).collect()),
                (Data::One(a), Data::Many(b)) => Data::Many(b.into_iter().map(|b| of(a, b)).collect()),
                (Data::Many(a), Data::Many(b)) => Data::Many(a.into_iter().zip(b).map(|(a, b)| of(a, b)).collect()),
            }
        }
        Term::Call(function, list) => call(name_of(*function), list.iter().map(|t| compute(t, data)).collect()),
    }
}

fn each(data: Data, of: impl Fn(f32) -> f32) -> Data {
    match data {
        Data::One(x) => Data::One(of(x)),
        Data::Many(list) => Data::Many(list.into_iter().map(of).collect()),
    }
}

/// A function of its values; the bounds of `clip` are numbers, or the first elements if they are lists.
fn call(name: &str, values: Vec<Data>) -> Data {
    let first = |data: &Data| match data {
        Data::One(x) => *x,
        Data::Many(list) => list.first().copied().unwrap_or(0.0),
    };
    let second = values.get(1).map(first);
    let bounds = values.get(1).zip(values.get(2)).map(|(low, high)| (first(low), first(high)));
    let Some(data) = values.into_iter().next() else { return Data::One(0.0) };
    let list = match &data {
        Data::One(x) => std::slice::from_ref(x),
        Data::Many(list) => list.as_slice(),
    };
    let largest = || list.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    match (name, bounds) {
        ("abs", _) => each(data, f32::abs),
        ("sqrt", _) => each(data, libm::sqrtf),
        ("exp", _) => each(data, libm::expf),
        ("log", _) => each(data, libm::logf),
        ("tanh", _) => each(data, libm::tanhf),
        ("clip", Some((low, high))) => each(data, |x| x.max(low).min(high)),
        ("max", _) => Data::One(largest()),
        ("min", _) => Data::One(list.iter().copied().fold(f32::INFINITY, f32::min)),
        ("sum", _) => Data::One(list.iter().sum()),
        ("mean", _) => Data::One(list.iter().sum::<f32>() / usize_to_f32(list.len().max(1))),
        ("argmax", _) => {
            let best =
                list.iter().enumerate().fold((0, f32::NEG_INFINITY), |b, (i, x)| if *x > b.1 { (i, *x) } else { b });
            Data::One(usize_to_f32(best.0))
        }
        ("half", _) => each(data, |x| half::f16::from_f32(x).to_f32()),
        ("topk", _) => {
            let mut sorted = list.to_vec();
            sorted.order_by(|a, b| b.total_cmp(a));
            sorted.truncate(f64_to_usize(f64::from(second.unwrap_or(0.0))));
            Data::Many(sorted)
        }
        ("softmax", _) => {
            let top = largest();
            let powers: Vec<f32> = list.iter().map(|x| libm::expf(x - top)).collect();
            let sum: f32 = powers.iter().sum();
            Data::Many(powers.into_iter().map(|p| p / sum).collect())
        }
        _ => data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn computed(text: &str, data: &[&[f32]]) -> Vec<Vec<f32>> {
        text.parse::<Expression>().unwrap_or_else(|e| panic!("{e}")).compute(data)
    }

    #[test]
    fn moves_and_parts_are_passes() {
        for text in [
            "x[:, 0]",
            "x.permute(0, 3, 1, 2)",
            "x.to(torch.bfloat16)",
            "x.reshape(x.shape[0], -1)",
            "lambda t: t[..., :3]",
        ] {
            assert_eq!(text.parse::<Expression>().unwrap_or_else(|e| panic!("{e}")).ps(10), 10 * PASS_PS, "{text}");
        }
        assert_eq!(
            "F.softmax(x, -1)".parse::<Expression>().unwrap().ps(10),
            "softmax(x)".parse::<Expression>().unwrap().ps(10)
        );
        for wrong in ["x[:, 0", "x.permute", "x.permute(0", "q[:, 0]", "clip(x, 1)", "x.fold(1)"] {
            assert!(wrong.parse::<Expression>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_functions_of_the_guide_compute() {
        let x: &[f32] = &[0.0, 51.0, 255.0];
        assert_eq!(computed("x * 5", &[x]), [[0.0, 255.0, 1275.0]]);
        assert_eq!(computed("(x - 0.5) * 2", &[&[0.5, 1.0]]), [[0.0, 1.0]]);
        assert_eq!(computed("x / 255, y / 51", &[x, x]), [[0.0, 0.2, 1.0], [0.0, 1.0, 5.0]]);
        assert_eq!(computed("x.argmax()", &[x]), [[2.0]]);
        assert_eq!(computed("lambda x: x[0]", &[x, &[7.0]]), [x]);
        assert_eq!(computed("lambda x: x[1]", &[x, &[7.0]]), [[7.0]]);
        assert_eq!(computed("lambda image, label: image / 255", &[x, &[1.0]]), [[0.0, 0.2, 1.0]]);
        assert_eq!(computed("def preprocess_fn(image, label): return image / 255", &[x, &[1.0]]), [[0.0, 0.2, 1.0]]);
        assert_eq!(computed("def f(x):\n    return x * 5", &[x]), [[0.0, 255.0, 1275.0]]);
        let steps = "def f(x):\n    y = x / 255  # to one\n    y -= 0.2\n    z = y.max(); return y * 5, z";
        assert_eq!(computed(steps, &[x]), [vec![-1.0, 0.0, 4.0], vec![0.8]]);
        let plain = "def f(x): return (x / 255 - 0.2) * 5, (x / 255 - 0.2).max()".parse::<Expression>().unwrap();
        assert_eq!(steps.parse::<Expression>().unwrap().ps(10), plain.ps(10));
        assert_eq!(computed("torch.softmax(x, dim=1).topk(2)", &[&[1.0, 1.0, 1.0, 1.0]]), [[0.25, 0.25]]);
        assert_eq!(computed("x.half().argmax(dim=-1)", &[x]), [[2.0]]);
        assert_eq!(computed("clip(x, 1, 60) - x.mean()", &[x]), [[-101.0, -51.0, -42.0]]);
        assert_eq!(computed("softmax(x).sum() + max(x) ** 2 + -min(y)", &[&[1.0, 1.0], &[3.0]]), [[-1.0]]);
    }

    #[test]
    fn cost_is_passes_over_the_data() {
        let ps = |text: &str| text.parse::<Expression>().unwrap().ps(1_000);
        assert_eq!((ps("x"), ps("x / 255"), ps("(x - 0.5) * 2")), (0, 300_000, 600_000));
        assert_eq!((ps("x / 255, y / 255"), ps("x.argmax() * 2 + 1")), (300_000, 1_100_000));
        assert_eq!((ps("exp(x)"), ps("x ** 2"), ps("3 * 4")), (2_800_000, 2_800_000, 0));
        assert_eq!("exp(x)".parse::<Expression>().unwrap().ps(u64::MAX), u64::MAX);
        let takes = |text: &str| text.parse::<Expression>().unwrap().inputs();
        assert_eq!(
            (takes("x + z"), takes("lambda a, b: a"), takes("lambda x: x[1]"), takes("def f(a, b, c): return a")),
            (3, 2, 2, 3)
        );
    }

    #[test]
    fn mistakes_say_where_and_texts_come_back() {
        let said = |text: &str| text.parse::<Expression>().unwrap_err().to_string();
        assert_eq!(said("x/"), "'x/': something is missing at character 3");
        assert!(said("q / 2").contains("'q' is not known; use x, y, z for the data, numbers, or abs, sqrt"));
        assert!(said("lambda a: x").contains("'x' is not known; use a, numbers"));
        assert!(said("def f(x): x * 5").contains("only a function that gives values to names and returns can be read"));
        assert!(said("lambda x").contains("has a colon") && said("lambda 1+: 2").contains("names of a lambda"));
        assert!(said("x[1]").contains("'x' is not known") && said(&"x+".repeat(600)).contains("at most 1000 bytes"));
        let expression: Expression = " lambda x: x[0] / 255 ".parse().unwrap();
        let json = serde_json::to_string(&expression).unwrap();
        assert_eq!(json, "\"lambda x: x[0] / 255\"");
        assert_eq!(serde_json::from_str::<Expression>(&json).unwrap(), expression);
        assert!(serde_json::from_str::<Expression>("\"x +\"").is_err());
        // A message holds the text alone.
        let sent = postcard::to_allocvec(&expression).unwrap();
        let read: Expression = postcard::from_bytes(&sent).unwrap();
        assert_eq!((&read, read.inputs(), read.compute(&[&[255.0, 510.0]])), (&expression, 1, vec![vec![1.0, 2.0]]));
    }
}
