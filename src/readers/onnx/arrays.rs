//! Arrays of the file in the program: constants when they are small, parameters when they are weights or large.

use super::importer::Importer;
use super::messages::{Tensor, TensorData};
use super::tensors::AGAIN;
use ns_base::{Refusal, refuse};
use ns_program::{InstructionId, ProgramParameter, Role, Value, WeightData};

/// Most elements of an integer array that becomes a constant of the program; larger ones become a parameter, as weights do.
pub(super) const MOST_CONSTANT: u64 = 4096;

/// Most numbers of a constant node that becomes a constant of the program.
const MOST_SETTINGS: usize = 16;

impl Importer<'_> {
    /// A constant or a parameter that holds an array of the file.
    pub fn weight(&mut self, name: &str, tensor: &Tensor, path: &str) -> Result<InstructionId, Refusal> {
        let count = tensor.ty.elements().unwrap_or(u64::MAX);
        let is_trained = self.weights.is_trained(name, tensor);
        if let TensorData::Inline(value) = &tensor.data
            && (count <= 1 || count <= MOST_CONSTANT && !is_trained)
        {
            if is_trained {
                self.elements.0 += count;
            } else {
                self.elements.1 += count;
            }
            self.builder.set_origin("Constant", path);
            return self.builder.constant(Value::clone(value)).map_err(|e| refuse!(instead = AGAIN, "{e}"));
        }
        let role = if is_trained { Role::Weight } else { Role::Buffer };
        let total = if is_trained { &mut self.elements.0 } else { &mut self.elements.1 };
        *total = total.saturating_add(if self.weights.is_counted_elsewhere(name) { 0 } else { count });
        let data = match &tensor.data {
            TensorData::Absent => WeightData::Absent,
            TensorData::Beside(data) => WeightData::Beside(data.clone()),
            TensorData::InFile { offset, len } => {
                WeightData::InFile { offset: *offset, len: *len, strides: Vec::new() }
            }
            TensorData::Inline(value) => WeightData::Inline(Box::new(Value::clone(value))),
        };
        let parameter = ProgramParameter { name: name.to_owned(), role, ty: tensor.ty.clone(), data };
        self.builder.set_origin("Parameter", path);
        self.builder.parameter(parameter).map_err(|e| refuse!(instead = AGAIN, "{e}"))
    }

    /// A constant or a parameter for a node that holds numbers: small arrays are settings of other operators, not weights.
    pub fn node_constant(&mut self, name: &str, tensor: &Tensor, path: &str) -> Result<InstructionId, Refusal> {
        match &tensor.data {
            TensorData::Inline(value)
                if value.numbers.len() <= MOST_SETTINGS || !self.weights.is_weight_of_node(name) =>
            {
                self.elements.1 += value.numbers.len() as u64;
                self.builder.constant(Value::clone(value)).map_err(|e| refuse!(instead = AGAIN, "{e}"))
            }
            _ => self.weight(name, tensor, path),
        }
    }
}
