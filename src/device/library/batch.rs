//! Which dimension of a model file is its batch.

use serde::{Deserialize, Serialize};

use ns_program::{ImportedModel, Inspection, rebatch};

/// How a model file takes samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BatchRule {
    /// Any number: the size of an open dimension.
    Open {
        /// The dimension, by the name the file gives it.
        dimension: String,
        /// Its default size, from the export.
        exported: u64,
    },
    /// Any number, although the file has one: its graph treats samples one by one, so it says what another batch size is.
    Derived {
        /// The batch size of the file.
        exported: u64,
    },
    /// Only one number: the first size of the first input.
    Fixed { size: u64 },
}

impl BatchRule {
    /// The rule of a file: its batch is the leading open dimension of an input; a dimension named as a batch comes before
    /// others. A dimension whose size the user set is no longer open. A batch without an open dimension is derived if the graph
    /// at another batch size can be made.
    pub fn of(imported: &ImportedModel) -> Self {
        match Self::of_file(&imported.inspection) {
            // A size that the user set stays.
            Self::Fixed { size } if imported.inspection.inputs.iter().all(|input| !input.open.contains_key(&0)) => {
                let is_derived = rebatch(&imported.program, size, size.saturating_add(1)).is_ok();
                if is_derived { Self::Derived { exported: size } } else { Self::Fixed { size } }
            }
            rule => rule,
        }
    }

    fn of_file(inspection: &Inspection) -> Self {
        let first_of = |input: &ns_program::TensorInfo| {
            let name = input.open.get(&0)?;
            inspection.open_dimensions.iter().find(|d| d.name == *name && !d.is_chosen)
        };
        let open: Vec<_> = inspection.inputs.iter().filter_map(first_of).collect();
        let named = open.iter().find(|d| d.name.to_ascii_lowercase().contains("batch"));
        if let Some(d) = named.or(open.first()) {
            return Self::Open { dimension: d.name.clone(), exported: d.used };
        }
        let size = inspection.inputs.iter().find_map(|input| input.shape.first()).copied();
        Self::Fixed { size: size.unwrap_or(1).max(1) }
    }

    /// Samples of a call when no batch size is given.
    pub const fn own(&self) -> u64 {
        match self {
            Self::Open { exported, .. } | Self::Derived { exported } => *exported,
            Self::Fixed { size } => *size,
        }
    }
}

/// How to export a file of this format with an open batch dimension.
pub(super) fn how_to_open(format: &str) -> &'static str {
    match format {
        "pt2" => {
            "export it again with an open dimension: torch.export.export(model, inputs, dynamic_shapes={\"x\": {0: torch.export.Dim(\"batch\")}})"
        }
        "onnx" => {
            "export it again with an open dimension: torch.onnx.export(..., dynamic_axes={\"x\": {0: \"batch\"}}), or dynamic_shapes with dynamo=True"
        }
        _ => {
            "lower it again at this batch size, because XLA programs have fixed sizes; or bring a .pt2 or .onnx with an open dimension"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_program::{OpenDimension, TensorInfo};

    fn input(shape: &[u64], open: &[(usize, &str)]) -> TensorInfo {
        let open = open.iter().map(|(at, name)| (*at, (*name).to_owned())).collect();
        TensorInfo { name: "x".to_owned(), dtype: "f32".to_owned(), shape: shape.to_vec(), open }
    }

    fn dimension(name: &str, used: u64) -> OpenDimension {
        OpenDimension { name: name.to_owned(), used, ..OpenDimension::default() }
    }

    #[test]
    fn the_first_open_dimension_is_the_batch() {
        let inputs = vec![input(&[3, 4], &[(1, "seq")]), input(&[2, 4], &[(0, "n")]), input(&[5], &[(0, "my_batch")])];
        let open_dimensions = vec![dimension("seq", 4), dimension("n", 2), dimension("my_batch", 5)];
        let mut found = Inspection { inputs, open_dimensions, ..Inspection::default() };
        assert_eq!(BatchRule::of_file(&found), BatchRule::Open { dimension: "my_batch".to_owned(), exported: 5 });
        found.inputs.pop();
        assert_eq!(BatchRule::of_file(&found), BatchRule::Open { dimension: "n".to_owned(), exported: 2 });
        found.open_dimensions[1].is_chosen = true;
        assert_eq!(BatchRule::of_file(&found), BatchRule::Fixed { size: 3 });
        found.inputs.clear();
        assert_eq!(BatchRule::of_file(&found).own(), 1);
    }
}
