//! Instructions of HLO as they are written, in text or in a protocol buffer, before they get a meaning.

use ns_program::{ArrayType, DotDims, Numbers, Place, Type, Value, WindowDim};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Inline(Value),
    /// Only its type.
    Elided(ArrayType),
    Tuple(Vec<Literal>),
}

impl Literal {
    /// A literal of one array.
    pub fn new(ty: ArrayType, numbers: Numbers) -> Self {
        Self::Inline(Value { ty, numbers })
    }
}

/// Dimensions of a gather or a scatter, with both names for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct IndexDims {
    /// `offset_dims`, `update_window_dims`.
    pub window: Vec<i64>,
    /// `collapsed_slice_dims`, `inserted_window_dims`.
    pub dropped: Vec<i64>,
    /// `start_index_map`, `scatter_dims_to_operand_dims`.
    pub map: Vec<i64>,
    /// `index_vector_dim`.
    pub vector: i64,
    /// `operand_batching_dims`, `input_batching_dims`.
    pub batch: Vec<i64>,
    /// `start_indices_batching_dims`, `scatter_indices_batching_dims`.
    pub indices_batch: Vec<i64>,
}

/// Dimensions of a convolution: batch, feature and spatial dimensions of the input and the result; input features, output features and
/// spatial dimensions of the kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ConvDims {
    pub input: (i64, i64, Vec<i64>),
    pub kernel: (i64, i64, Vec<i64>),
    pub output: (i64, i64, Vec<i64>),
}

/// Settings of an instruction; settings that its opcode does not have are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Settings {
    pub parameter: Option<i64>,
    pub tuple_index: i64,
    pub dimensions: Vec<i64>,
    pub literal: Option<Literal>,
    pub window: Vec<WindowDim>,
    pub convolution: ConvDims,
    pub feature_groups: Option<i64>,
    pub batch_groups: Option<i64>,
    pub starts: Vec<i64>,
    pub limits: Vec<i64>,
    pub strides: Vec<i64>,
    /// Sizes of a dynamic slice or of a gather's slices.
    pub sizes: Vec<i64>,
    /// Low, high and interior padding of each dimension.
    pub padding: Vec<[i64; 3]>,
    pub epsilon: f32,
    pub feature_index: i64,
    pub target: String,
    pub config: String,
    pub dot: Option<DotDims>,
    pub index_dims: IndexDims,
    pub direction: String,
    /// Whether a comparison uses the total order of floating point numbers.
    pub is_total_order: bool,
    pub is_stable: bool,
    /// Exponent and mantissa bits.
    pub precision: (i64, i64),
    pub fft_kind: String,
    pub fft_length: Vec<i64>,
    pub distribution: String,
    pub algorithm: String,
    pub k: i64,
    pub is_smallest: bool,
}

/// An instruction as written.
#[derive(Clone, Debug)]
pub(super) struct RawInstruction {
    pub name: String,
    pub opcode: String,
    pub ty: Type,
    /// Whether its layout is row-major (or not given).
    pub is_row_major: bool,
    /// Positions in the computation, all before its own position.
    pub operands: Vec<u32>,
    /// Computations by position in the module.
    pub called: Vec<usize>,
    pub settings: Settings,
    /// `op_type` and `op_name` of its metadata.
    pub op_type: String,
    pub op_name: String,
    /// Its place in the file.
    pub place: Place,
}

/// A computation as written.
#[derive(Clone, Debug)]
pub(super) struct RawComputation {
    pub name: String,
    pub instructions: Vec<RawInstruction>,
    pub root: usize,
}

/// A module as written.
#[derive(Clone, Debug)]
pub(super) struct RawModule {
    pub name: String,
    pub computations: Vec<RawComputation>,
    pub entry: usize,
    /// Whether a backend has scheduled it.
    pub is_scheduled: bool,
}
