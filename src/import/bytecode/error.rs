//! Why MLIR bytecode is not read.

use thiserror::Error;

/// Why MLIR bytecode is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BytecodeError {
    /// A file without bytecode.
    #[error("it holds no MLIR bytecode")]
    Absent,
    /// Something else where bytecode should begin.
    #[error("it is not MLIR bytecode")]
    Magic,
    /// A version that is newer than those that are read.
    #[error("its bytecode is of version {found}; versions up to {newest} are read")]
    Version {
        /// Its version.
        found: u64,
        /// The newest that is read.
        newest: u64,
    },
    /// A dialect whose modules are not portable.
    #[error("it is MLIR bytecode of the dialect {0}, not a portable artifact of StableHLO")]
    Dialect(String),
    /// Something that no table here has.
    #[error("{0} is not known")]
    Unknown(Unknown),
    /// A missing section, named by its content.
    #[error("the bytecode has no {0}")]
    NoSection(&'static str),
    /// An unknown section, or a section that occurs twice.
    #[error("section {0} of the bytecode is not known or there twice")]
    Section(u8),
    /// A section that is longer than the rest of the file.
    #[error("section {0} of the bytecode runs past the end of the file")]
    SectionEnd(u8),
    /// Bytecode in a file of `jax.export` that is longer than the file.
    #[error("the bytecode inside ends at byte {end} and the file at byte {size}")]
    InsideEnd {
        /// Where the bytecode ends.
        end: usize,
        /// Where the file ends.
        size: usize,
    },
    /// A stretch of the file that ends inside a part of it.
    #[error("{0} runs past its end")]
    CutOff(&'static str),
    /// A number of something that is not there.
    #[error("{within} names {part} {found} and there are {known}")]
    Index {
        /// The stretch of the file that names it.
        within: &'static str,
        /// What it names.
        part: &'static str,
        /// Its number.
        found: u64,
        /// How many there are.
        known: usize,
    },
    /// More parts than there are bytes for.
    #[error("{within} says that {found} of these follow and ends before: {part}")]
    Count {
        /// The stretch of the file that says so.
        within: &'static str,
        /// What follows.
        part: &'static str,
        /// How many.
        found: u64,
    },
    /// A number that the table of its kind does not have.
    #[error("there is no {part} {number}")]
    Missing {
        /// The kind.
        part: &'static str,
        /// The number.
        number: usize,
    },
    /// A text of other bytes.
    #[error("a text is not UTF-8")]
    NotUtf8,
    /// Another number of attributes and types than the bytecode says.
    #[error("the bytecode lists {found} attributes and types and says that it has {wanted}")]
    Listed {
        /// How many it lists.
        found: usize,
        /// How many it says.
        wanted: usize,
    },
    /// Parts within their like, beyond a limit.
    #[error("{0} nest too deep")]
    TooDeep(&'static str),
    /// A module that repeats its parts beyond all bounds.
    #[error("the module is much longer as text than its bytecode can be")]
    LongModule,
    /// An attribute that repeats its parts beyond all bounds.
    #[error("an attribute is too long as text")]
    LongAttribute,
    /// A tuple that repeats its parts beyond all bounds.
    #[error("a tuple's type is too long")]
    LongTuple,
    /// Arguments of the file.
    #[error("the bytecode has arguments outside of functions")]
    Arguments,
    /// A value that no region has.
    #[error("a value outside of all regions")]
    OutsideValue,
    /// More values than a region says.
    #[error("a region has more values than it says")]
    RegionValues,
    /// A value that is read before it is defined.
    #[error("value {0} is not defined before it is read")]
    Undefined(usize),
    /// An operation that portable artifacts do not have.
    #[error("the operation {0} is not one of a portable artifact")]
    Operation(String),
    /// An operation that goes on in another block.
    #[error("the operation {0} jumps to other blocks")]
    Jumps(String),
    /// An operation with more regions than there are bytes.
    #[error("the operation {operation} has {regions} regions")]
    Regions {
        /// The operation.
        operation: String,
        /// Its regions.
        regions: usize,
    },
    /// A function without a name.
    #[error("a function has no name")]
    NoName,
    /// A function without operations.
    #[error("the function {0} has no body")]
    NoBody(String),
    /// A region of several blocks.
    #[error("a region has {0} blocks; those of StableHLO have one")]
    Blocks(u64),
    /// A block with more operations than there are bytes.
    #[error("a block says that it has {0} operations")]
    Block(usize),
    /// Attributes of an operation that are something else.
    #[error("the attributes of an operation are not a dictionary")]
    NoDictionary,
    /// An order of more uses than there are bytes.
    #[error("an order of {0} uses")]
    UseOrder(usize),
    /// A constant whose bytes are not those of its type.
    #[error("a constant of {ty} has {bytes} bytes")]
    Constant {
        /// Its type.
        ty: String,
        /// How many there are.
        bytes: usize,
    },
    /// A convolution that lacks a number or a list of its dimensions.
    #[error("a convolution has no {side}_{list}")]
    NoConvolution {
        /// The array.
        side: &'static str,
        /// The number or the list.
        list: &'static str,
    },
    /// A convolution whose dimensions are not those of its arrays.
    #[error("a convolution has dimension {0} twice or too few dimensions")]
    ConvolutionDimension(usize),
}

/// What to do with a module in bytecode that cannot be read.
const SAVE_AS_TEXT: &str = "save text with: open(\"model.mlir\", \"w\").write(jax.jit(f).lower(*args).as_text()), or turn \
     the file into text with: stablehlo-translate --deserialize FILE > model.mlir";

impl BytecodeError {
    /// What to do instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::Absent
            | Self::Magic
            | Self::Version { .. }
            | Self::Dialect(_)
            | Self::Unknown(_)
            | Self::NoSection(_) => SAVE_AS_TEXT,
            Self::InsideEnd { .. } => "it is cut off: copy the whole file",
            _ => "it is cut off or damaged: copy the whole file",
        }
    }
}

/// What no table of the reader has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unknown {
    /// A type that is neither VHLO's nor binary.
    #[error("a type of another dialect")]
    Type,
    /// A number of VHLO's types or attributes.
    #[error("{table} {code} of VHLO")]
    Code {
        /// The table: `type` or `attribute`.
        table: &'static str,
        /// The number.
        code: u64,
    },
    /// A number, a list or a constant of a type that has none.
    #[error("{part} {ty}")]
    Value {
        /// What it is, up to the type.
        part: &'static str,
        /// The type.
        ty: String,
    },
    /// An attribute of another kind.
    #[error("an attribute that is not a list of numbers")]
    NoNumbers,
}
