//! What a model file holds, in the words of its format.

use std::collections::BTreeMap;

use ns_base::units::format_count;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

/// Whether a file can become a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All of it is supported.
    #[default]
    Import,
    /// Something is missing; the notes say what.
    Partial,
}

/// An input, an output or a weight.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct TensorInfo {
    /// Its name in the file.
    pub name: String,
    /// Its element type, as [`crate::ElementType::name`] gives it: `f32`.
    pub dtype: String,
    /// Its sizes; an open dimension has its name at the same position in `open`.
    pub shape: Vec<u64>,
    /// Names of open dimensions by position.
    #[serde(default)]
    pub open: BTreeMap<usize, String>,
}

impl Serialize for TensorInfo {
    /// Written field by field; JSON leaves `open` out where no dimension is open. Messages between programs have every field.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_left_out = self.open.is_empty() && serializer.is_human_readable();
        let mut fields = serializer.serialize_struct("TensorInfo", if is_left_out { 3 } else { 4 })?;
        fields.serialize_field("name", &self.name)?;
        fields.serialize_field("dtype", &self.dtype)?;
        fields.serialize_field("shape", &self.shape)?;
        if !is_left_out {
            fields.serialize_field("open", &self.open)?;
        }
        fields.end()
    }
}

/// A dimension whose size the file leaves open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenDimension {
    /// Its name: `batch`, `s77`.
    pub name: String,
    /// The smallest size that the file allows.
    pub min: Option<u64>,
    /// The largest size that the file allows.
    pub max: Option<u64>,
    /// The size that is used: the requested size, or the size of the export.
    pub used: u64,
    /// Whether the user requested that size.
    pub is_chosen: bool,
}

/// An operator without a known meaning or without a counterpart on a NeuronCore.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsupportedOp {
    /// Its name in the format.
    pub op: String,
    /// How often it occurs.
    pub count: u64,
    /// The first node that has it; empty where the file does not name it.
    pub first: String,
    /// Why this use of a known operator is not read: `argument 1 is a complex number`; empty for an operator that is not known at all.
    pub why: String,
}

impl UnsupportedOp {
    /// What is wrong with it, as a sentence.
    pub fn sentence(&self) -> String {
        match self.why.as_str() {
            "" => format!("{} has no known meaning.", self.op),
            why => format!("{} is not read here: {why}.", self.op),
        }
    }
}

/// How often something occurs and where first: `3 times, first at foo_1`, `once, at foo_1`, or without a place if `first` is empty.
pub fn occurrence(count: u64, first: &str) -> String {
    // MLIR numbers the values that have no name.
    let is_number = first.bytes().all(|b| b.is_ascii_digit());
    let first = if is_number && !first.is_empty() { format!("%{first}") } else { first.to_owned() };
    match (count, first.as_str()) {
        (1, "") => "once".to_owned(),
        (1, place) => format!("once, at {place}"),
        (_, "") => format!("{} times", format_count(count)),
        (_, place) => format!("{} times, first at {place}", format_count(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::occurrence;

    #[test]
    fn an_occurrence_has_a_place_or_none() {
        let said = [(1, "foo_1"), (1, ""), (3, "foo_1"), (1_200, ""), (2, "0")].map(|(n, at)| occurrence(n, at));
        assert_eq!(said, ["once, at foo_1", "once", "3 times, first at foo_1", "1,200 times", "2 times, first at %0"]);
    }
}

/// What a model file holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// `pt2`, `torchscript`, `onnx`, `hlo`, `hlo-text`, `mlir`.
    pub format: String,
    /// The program that wrote it, if the file says so: `torch 2.9.1+cu128`.
    pub producer: String,
    /// Whether all of it becomes a model.
    pub verdict: Verdict,
    /// Inputs that a caller passes; weights are not among them if the file tells them apart.
    pub inputs: Vec<TensorInfo>,
    /// Results.
    pub outputs: Vec<TensorInfo>,
    /// Elements of all parameters (weights that are trained), each counted once.
    pub parameters: u64,
    /// Elements of all buffers and constants.
    pub buffers: u64,
    /// Operations of products (matrix products, convolutions, attention, recurrent cells), two for each multiply-add.
    pub flops: u64,
    /// How often each operator occurs, by its name in the format; for HLO, only operators that the result depends on.
    pub ops: BTreeMap<String, u64>,
    /// Module paths in order of first appearance: `NN[model]/Linear[layer1]`.
    pub modules: Vec<String>,
    /// Dimensions whose sizes are open.
    pub open_dimensions: Vec<OpenDimension>,
    /// Operators without a known meaning.
    pub unsupported: Vec<UnsupportedOp>,
    /// Notes for the user: what is missing, what was assumed.
    pub notes: Vec<String>,
}
