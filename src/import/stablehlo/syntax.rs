//! MLIR as written: operations, their operands, attributes, regions and types.

use crate::program::Type;

/// A value that is read: `%3` or `%3#1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Use<'a> {
    pub name: &'a str,
    pub index: u32,
    /// Its place in the text.
    pub at: usize,
}

/// A type; open sizes are `None`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenType {
    /// The type with 1 for every open size.
    pub ty: Type,
    /// Which dimensions are open.
    pub open: Vec<usize>,
}

/// A block argument.
#[derive(Clone, Debug)]
pub(super) struct Argument<'a> {
    pub name: &'a str,
    pub ty: OpenType,
    /// The name of the number that JAX passes in it: of a size, or of the platform.
    pub constant: Option<&'a str>,
    pub location: Location<'a>,
}

/// A region of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct Region<'a> {
    pub arguments: Vec<Argument<'a>>,
    pub body: Vec<Operation<'a>>,
}

/// An operation.
#[derive(Clone, Debug)]
pub(super) struct Operation<'a> {
    /// `stablehlo.add`, `func.call`.
    pub name: String,
    /// Names of its results and how many values each stands for.
    pub results: Vec<(&'a str, u32)>,
    pub operands: Vec<Use<'a>>,
    /// Attributes by name, as written.
    pub attributes: Vec<(&'a str, &'a str)>,
    /// Words, strings and symbols between the operands, as written: `LT`, `dense<0>`, `@relu`.
    pub words: Vec<&'a str>,
    pub regions: Vec<Region<'a>>,
    pub types: Vec<OpenType>,
    /// The location's name, or the number of its alias.
    pub location: Location<'a>,
    pub at: usize,
}

/// A location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Location<'a> {
    #[default]
    None,
    /// A name written inline.
    Name(&'a str),
    /// `#loc4`.
    Alias(&'a str),
}

impl<'a> Operation<'a> {
    /// An attribute as written.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }
}

/// A function.
#[derive(Clone, Debug)]
pub(super) struct Function<'a> {
    pub name: &'a str,
    pub body: Region<'a>,
    pub at: usize,
}

impl<'a> Module<'a> {
    /// The function that a caller calls: `main`, or the first.
    pub fn main(&self) -> Option<&Function<'a>> {
        self.functions.iter().find(|f| f.name == "main").or(self.functions.first())
    }

    /// The name of a location.
    pub fn label(&self, location: Location<'a>) -> &'a str {
        match location {
            Location::None => "",
            Location::Name(name) => name,
            Location::Alias(alias) => self.locations.get(alias).copied().unwrap_or(""),
        }
    }
}

/// A module.
#[derive(Clone, Debug, Default)]
pub(super) struct Module<'a> {
    pub name: &'a str,
    pub functions: Vec<Function<'a>>,
    /// Names of location aliases.
    pub locations: ns_base::FxHashMap<&'a str, &'a str>,
    /// Whether locations have torch_xla's form, which MLIR cannot read.
    pub has_pretty_locations: bool,
    /// Names of open dimensions, as JAX gives them to the arguments of inner functions.
    pub dimension_names: Vec<&'a str>,
    /// Whether any size is open, or JAX passes numbers that are known when the module is read.
    pub is_open: bool,
    /// Meshes of devices that the module names (`sdy.mesh`).
    pub meshes: u64,
    /// Attributes of the module as written.
    pub attributes: &'a str,
}
