//! Arguments of nodes: a union, tagged by the name of its only field.

use std::borrow::{Borrow, Cow};
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::schema::{Graph, NamedTensor};

/// A string of the JSON, not copied unless it has escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text<'a>(pub Cow<'a, str>);

impl Text<'_> {
    pub fn get(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(v)))
            }
            fn visit_str<E>(self, v: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(v.to_owned())))
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

/// A literal number, or the name of a number that the graph computes.
#[derive(Clone, Debug, PartialEq)]
pub enum Symbolic<'a, T> {
    Known(T),
    /// The name of a computed number.
    Named(Text<'a>),
}

/// A nested graph, with its name.
#[derive(Debug, serde::Deserialize)]
pub struct Subgraph<'a> {
    #[serde(borrow)]
    pub graph: Graph<'a>,
}

/// An argument or a result of a node.
#[derive(Debug)]
pub enum Argument<'a> {
    /// A tensor by its name.
    Tensor(Text<'a>),
    /// Several tensors.
    Tensors(Vec<Text<'a>>),
    /// Several tensors, some of them absent.
    OptionalTensors(Vec<Option<Text<'a>>>),
    Int(i64),
    /// Several integers, each a literal or a name.
    Ints(Vec<Symbolic<'a, i64>>),
    /// A floating point number.
    Float(f64),
    /// Several floating point numbers.
    Floats(Vec<f64>),
    Bool(bool),
    /// A string, or the name of an operator.
    Text(Text<'a>),
    /// An integer, literal or named.
    SymInt(Symbolic<'a, i64>),
    /// A number, literal or named.
    SymFloat(Symbolic<'a, f64>),
    /// A boolean, literal or named.
    SymBool(Symbolic<'a, bool>),
    Graph(Box<Subgraph<'a>>),
    /// A complex number: no operator takes one here.
    Complex,
    /// Nothing.
    None,
    /// A value that does not change the result (a device, a memory format, an element type that the results have anyway), or an unknown
    /// value.
    Other,
}

/// A floating point number; infinities and NaN are strings in newer files.
struct Number(f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Either<'a> {
            Number(f64),
            #[serde(borrow)]
            Text(Text<'a>),
        }
        match Either::deserialize(deserializer)? {
            Either::Number(n) => Ok(Self(n)),
            Either::Text(t) => match t.get().to_ascii_lowercase().as_str() {
                "infinity" | "inf" => Ok(Self(f64::INFINITY)),
                "-infinity" | "-inf" => Ok(Self(f64::NEG_INFINITY)),
                "nan" => Ok(Self(f64::NAN)),
                other => Err(serde::de::Error::custom(format!("{other} is not a number"))),
            },
        }
    }
}

/// The fields that a literal or named number may have.
#[derive(serde::Deserialize)]
struct Either<'a> {
    #[serde(borrow, default)]
    as_name: Option<Text<'a>>,
    #[serde(default)]
    as_int: Option<i64>,
    #[serde(default)]
    as_float: Option<Number>,
    #[serde(default)]
    as_bool: Option<bool>,
}

impl<'a> Either<'a> {
    fn of<T, E: serde::de::Error>(self, known: Option<T>) -> Result<Symbolic<'a, T>, E> {
        match (self.as_name, known) {
            (Some(name), _) => Ok(Symbolic::Named(name)),
            (None, Some(known)) => Ok(Symbolic::Known(known)),
            (None, None) => Err(E::custom("a number or a name is wanted")),
        }
    }
}

/// A tensor, or none.
#[derive(serde::Deserialize)]
struct MaybeTensor<'a> {
    #[serde(borrow, default)]
    as_tensor: Option<NamedTensor<'a>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Argument<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Argument<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an argument: a map of one field as_tensor, as_int ..")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Argument<'de>, A::Error> {
                let mut found = Argument::None;
                while let Some(tag) = map.next_key::<Text<'de>>()? {
                    found = tagged(tag.get(), &mut map)?;
                }
                Ok(found)
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// The argument after a tag.
fn tagged<'de, A: MapAccess<'de>>(tag: &str, map: &mut A) -> Result<Argument<'de>, A::Error> {
    let names = |tensors: Vec<NamedTensor<'de>>| tensors.into_iter().map(|t| t.name).collect();
    Ok(match tag {
        "as_tensor" => Argument::Tensor(map.next_value::<NamedTensor<'de>>()?.name),
        // The signature names tensors without a tag.
        "name" => Argument::Tensor(map.next_value()?),
        "as_tensors" => Argument::Tensors(names(map.next_value()?)),
        "as_optional_tensors" => {
            let all: Vec<MaybeTensor<'de>> = map.next_value()?;
            Argument::OptionalTensors(all.into_iter().map(|t| t.as_tensor.map(|t| t.name)).collect())
        }
        "as_int" => Argument::Int(map.next_value()?),
        "as_ints" => {
            let all: Vec<i64> = map.next_value()?;
            Argument::Ints(all.into_iter().map(Symbolic::Known).collect())
        }
        "as_float" => Argument::Float(map.next_value::<Number>()?.0),
        "as_floats" => {
            let all: Vec<Number> = map.next_value()?;
            Argument::Floats(all.into_iter().map(|n| n.0).collect())
        }
        "as_bool" => Argument::Bool(map.next_value()?),
        "as_string" | "as_operator" => Argument::Text(map.next_value()?),
        "as_sym_int" => {
            let either: Either<'de> = map.next_value()?;
            let known = either.as_int;
            Argument::SymInt(either.of(known)?)
        }
        "as_sym_ints" => {
            let all: Vec<Either<'de>> = map.next_value()?;
            let each = |either: Either<'de>| {
                let known = either.as_int;
                either.of(known)
            };
            Argument::Ints(all.into_iter().map(each).collect::<Result<_, A::Error>>()?)
        }
        "as_sym_float" => {
            let mut either: Either<'de> = map.next_value()?;
            let known = either.as_float.take().map(|n| n.0);
            Argument::SymFloat(either.of(known)?)
        }
        "as_sym_bool" => {
            let either: Either<'de> = map.next_value()?;
            let known = either.as_bool;
            Argument::SymBool(either.of(known)?)
        }
        "as_graph" => Argument::Graph(map.next_value()?),
        "as_complex" => {
            map.next_value::<IgnoredAny>()?;
            Argument::Complex
        }
        "as_none" => {
            map.next_value::<IgnoredAny>()?;
            Argument::None
        }
        _ => {
            map.next_value::<IgnoredAny>()?;
            Argument::Other
        }
    })
}
