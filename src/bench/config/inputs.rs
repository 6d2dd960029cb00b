//! Shapes of the inputs of one call: `1x3x224x224`, a tuple `(6x128,6x128)` for a model with several inputs, or the tensors of a script:
//! `torch.rand(1, 3, 224, 224)`.

use std::fmt;
use std::str::FromStr;

use ns_base::{Refusal, refuse};
use serde::{Deserialize, Serialize};

/// Most dimensions of one input.
const MAX_RANK: usize = 8;

/// The inputs of one call, in order. NeuronPerf destructures a tuple into the arguments of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputTuple(pub Vec<Vec<u64>>);

impl fmt::Display for InputTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = |s: &Vec<u64>| s.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let shapes: Vec<String> = self.0.iter().map(shape).collect();
        match shapes.as_slice() {
            [one] => f.write_str(one),
            many => write!(f, "({})", many.join(",")),
        }
    }
}

impl FromStr for InputTuple {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let text = text.trim();
        let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text);
        let shapes: Option<Vec<Vec<u64>>> = entries_of(inner).map(shape_of).collect();
        shapes.map(Self).ok_or_else(|| refuse!("inputs: '{text}' is not a shape; write sizes with x between them, such as 1x3x224x224, a tuple as (1x128,1x128), and a list as [(6x128,6x128),(1x64,1x64)] or with ; between its entries; or tensors as torch.rand(1, 3, 224, 224)"))
    }
}

/// Functions of PyTorch and NumPy whose arguments are the sizes of a tensor; those of `randint`, `full` or `tensor` are also values.
const OF_SIZES: [&str; 5] = ["zeros", "ones", "empty", "rand", "randn"];

/// Sizes with x between them, or those of a tensor that Python makes: `torch.zeros([1, 128], dtype=torch.long)`.
fn shape_of(text: &str) -> Option<Vec<u64>> {
    let call = text.strip_suffix(')').and_then(|call| call.split_once('('));
    let sizes: Option<Vec<u64>> = match call {
        Some((function, arguments)) => {
            OF_SIZES.contains(&function.rsplit('.').next()?).then_some(())?;
            let sizes = arguments.split(',').filter(|argument| !argument.contains('='));
            sizes.map(|size| size_of(size.trim_matches(['[', ']', '(', ')', ' ']))).collect()
        }
        None => text.split('x').map(size_of).collect(),
    };
    sizes.filter(|s| s.len() <= MAX_RANK && !s.is_empty())
}

fn size_of(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|size| *size > 0)
}

/// Reads a list of inputs, entries separated by `;`, or in Python's brackets: `[(6x128,6x128),(1x64,1x64)]`. An error names the
/// entry that is not a shape.
pub fn parse_inputs(text: &str) -> Result<Vec<InputTuple>, Refusal> {
    let python = text.trim().strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    match python {
        Some(inner) => entries_of(inner).map(str::parse).collect(),
        None => text.split(';').map(str::parse).collect(),
    }
}

/// The parts of a text between commas that are not inside brackets; a comma after the last part is allowed, as in Python.
fn entries_of(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    let parts = text.trim().trim_end_matches(',').split(move |c| {
        depth += match c {
            '(' | '[' => 1,
            ')' | ']' => -1,
            _ => 0,
        };
        c == ',' && depth == 0
    });
    parts.map(str::trim)
}

impl InputTuple {
    /// Bytes of all inputs, at this many for an element.
    pub fn bytes(&self, of_element: u64) -> u64 {
        let elements = |shape: &Vec<u64>| shape.iter().fold(1u64, |n, d| n.saturating_mul(*d));
        self.0.iter().map(elements).fold(0u64, u64::saturating_add).saturating_mul(of_element)
    }

    /// The error if the inputs differ from those that a model takes; `None` if they do not.
    pub fn mismatch(&self, model: &str, batch_size: u32, expected: &[Vec<u64>]) -> Option<Refusal> {
        let takes = Self(expected.to_vec());
        (*self != takes).then(|| refuse!("inputs: {model} at batch size {batch_size} takes {takes}, got {}; give inputs of that shape, or leave inputs out", self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_tuples_and_lists() {
        let list = parse_inputs("1x3x224x224; (6x128, 6x128)").unwrap();
        assert_eq!(list[0].0, [[1, 3, 224, 224]]);
        assert_eq!(list[1].0, [[6, 128], [6, 128]]);
        assert_eq!((list[0].bytes(4), list[1].bytes(4)), (602_112, 6_144));
        assert_eq!(list.iter().map(|t| t.to_string()).collect::<Vec<_>>(), ["1x3x224x224", "(6x128,6x128)"]);
        let python = parse_inputs("[(6x128, 6x128), (1x64,1x64),]").unwrap();
        assert_eq!(python, parse_inputs("(6x128,6x128);(1x64,1x64)").unwrap());
        let tensors = "[torch.rand(1, 3, 224, 224), (torch.zeros([6, 128], dtype=torch.long), np.ones((6, 128)))]";
        assert_eq!(parse_inputs(tensors).unwrap(), parse_inputs("1x3x224x224;(6x128,6x128)").unwrap());
        assert_eq!(parse_inputs("[1x3,2x3]").unwrap(), parse_inputs("1x3;2x3").unwrap());
        for values in
            ["torch.randint(9, (1, 128))", "torch.full((2, 3), 7)", "torch.tensor([1, 2])", "torch.rand(2).half()"]
        {
            assert!(parse_inputs(values).is_err(), "{values}");
        }
        for bad in ["", "1x", "0x3", "a", "1x2;;3", "(1x2", "1x1x1x1x1x1x1x1x1", "[]", "[1x2", "[(1x2,3]"] {
            assert!(parse_inputs(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_the_model_takes_is_named() {
        let given: InputTuple = "1x3".parse().unwrap();
        assert_eq!(given.mismatch("nn", 1, &[vec![1, 3]]), None);
        let text = given.mismatch("nn", 6, &[vec![6, 4], vec![6]]).unwrap().to_string();
        assert!(text.starts_with("inputs: nn at batch size 6 takes (6x4,6), got 1x3;"), "{text}");
    }
}
