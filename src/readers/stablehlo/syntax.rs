//! MLIR: operations, their operands, attributes, regions and types. The readers of text and of bytecode make it.

use std::fmt;

use ns_program::{ArrayType, Type};

/// The name of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name<'a> {
    /// As written: `%arg0`.
    Text(&'a str),
    /// The number of a value that has no name.
    Number(u32),
}

impl Name<'_> {
    /// The name without its sign.
    pub fn bare(self) -> String {
        match self {
            Self::Text(text) => text.trim_start_matches('%').to_owned(),
            Self::Number(n) => n.to_string(),
        }
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(n) => write!(f, "%{n}"),
        }
    }
}

/// A value that is read: `%3` or `%3#1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use<'a> {
    pub name: Name<'a>,
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

#[derive(Clone, Debug)]
pub(crate) struct MlirArgument<'a> {
    pub name: Name<'a>,
    pub ty: OpenType,
    /// The name of the number that JAX passes in it: of a size, or of the platform.
    pub constant: Option<&'a str>,
    pub location: Location<'a>,
}

impl<'a> MlirArgument<'a> {
    /// An argument whose attribute `jax.global_constant` has this name, which only says something about a single number.
    pub fn new(name: Name<'a>, ty: OpenType, constant: Option<&'a str>, location: Location<'a>) -> Self {
        let is_number = ty.ty.array().is_some_and(|a| a.element.is_integer() && a.dims.is_empty());
        Self { name, ty, constant: constant.filter(|_| is_number), location }
    }
}

/// A region of one block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region<'a> {
    pub arguments: Vec<MlirArgument<'a>>,
    pub body: Vec<Operation<'a>>,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Attribute<'a> {
    /// A whole number; 1 and 0 for true and false.
    Whole(i64),
    Real(f32),
    /// A word of an enumeration, or `unit`.
    Word(&'a str),
    /// A string, without quotation marks.
    Text(&'a str),
    /// The name of a function.
    Symbol(&'a str),
    List(Vec<Attribute<'a>>),
    Dictionary(Vec<(&'a str, Attribute<'a>)>),
    /// An array, with its type if it has one of fixed sizes.
    Array(Elements<'a>, Option<ArrayType>),
    /// Anything else, as written.
    Other(&'a str),
}

/// The elements of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Elements<'a> {
    /// Between the brackets of `dense<..>`.
    Text(&'a str),
    /// As bytecode holds them.
    Bytes(&'a [u8]),
    /// Left out.
    Elided,
}

#[derive(Clone, Debug)]
pub(crate) struct Operation<'a> {
    /// `stablehlo.add`, `func.call`.
    pub name: String,
    /// Names of its results and how many values each stands for.
    pub results: Vec<(Name<'a>, u32)>,
    pub operands: Vec<Use<'a>>,
    /// Attributes by name.
    pub attributes: Vec<(&'a str, Attribute<'a>)>,
    /// Words, strings and symbols between the operands of a short form, as written: `LT`, `dense<0>`, `@relu`.
    pub words: Vec<&'a str>,
    pub regions: Vec<Region<'a>>,
    pub types: Vec<OpenType>,
    /// The location's name, or the number of its alias.
    pub location: Location<'a>,
    pub at: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Location<'a> {
    #[default]
    None,
    /// A name written inline.
    Name(&'a str),
    /// `#loc4`.
    Alias(&'a str),
}

impl<'a> Operation<'a> {
    pub fn attribute(&self, name: &str) -> Option<&Attribute<'a>> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// An attribute that is a text or a name.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.attribute(name).and_then(Attribute::text)
    }

    /// The function that a short form names.
    pub fn symbol(&self) -> Option<&'a str> {
        self.words.iter().find_map(|word| word.strip_prefix('@'))
    }
}

impl<'a> Attribute<'a> {
    /// A text or a name, also as the only one of a list.
    pub fn text(&self) -> Option<&'a str> {
        match self {
            Self::Text(text) | Self::Symbol(text) | Self::Word(text) | Self::Other(text) => Some(text),
            Self::List(list) => list.first()?.text(),
            _ => None,
        }
    }

    /// A value of a dictionary.
    pub fn value(&self, name: &str) -> Option<&Self> {
        let Self::Dictionary(pairs) = self else { return None };
        pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Function<'a> {
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

    /// Notes the name of an open dimension.
    pub fn name_dimension(&mut self, name: Option<&'a str>) {
        self.dimension_names.extend(name.filter(|name| !self.dimension_names.contains(name)));
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Module<'a> {
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
    /// Whether it says for how many devices it is, as JAX does.
    pub has_partitions: bool,
}
