//! The attributes of an operation as text. VHLO stores dimension numbers one by one, StableHLO together.

use super::attributes::Attribute;
use super::cursor::Cursor;
use super::file::File;
use super::numbers::{list, quoted};
use crate::ImportError;
use ns_base::refuse;

/// Attributes of an operation by name.
pub(super) type Named<'a> = Vec<(&'a str, usize)>;

/// An attribute of StableHLO that combines several of VHLO: its name, and theirs.
struct Joined {
    operation: &'static str,
    name: &'static str,
    of: &'static [&'static str],
}

const JOINED: [Joined; 4] = [
    Joined {
        operation: "dot_general",
        name: "dot_dimension_numbers",
        of: &[
            "lhs_batching_dimensions",
            "rhs_batching_dimensions",
            "lhs_contracting_dimensions",
            "rhs_contracting_dimensions",
        ],
    },
    Joined { operation: "gather", name: "dimension_numbers", of: GATHER },
    Joined { operation: "dynamic_gather", name: "dimension_numbers", of: GATHER },
    Joined {
        operation: "scatter",
        name: "scatter_dimension_numbers",
        of: &[
            "update_window_dims",
            "inserted_window_dims",
            "input_batching_dims",
            "scatter_indices_batching_dims",
            "scatter_dims_to_operand_dims",
            "index_vector_dim",
        ],
    },
];

const GATHER: &[&str] = &[
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
    "index_vector_dim",
];

impl<'a> File<'a> {
    /// ` <{a = 1 : i64}>`, or nothing when an operation has no attributes.
    pub fn dictionary(&self, place: &Cursor<'a>, operation: &str, named: &Named<'a>) -> Result<String, ImportError> {
        let joined = JOINED.iter().find(|j| j.operation == operation);
        let is_convolution = matches!(operation, "convolution" | "dynamic_conv");
        let mut parts = Vec::new();
        for &(name, value) in named {
            let is_dimension = name.ends_with("_dimension") || name.ends_with("_spatial_dimensions");
            if is_convolution && is_dimension || joined.is_some_and(|j| j.of.contains(&name)) {
                continue;
            }
            let text = match (name, self.attribute(place, value)?) {
                (_, Attribute::Other) => continue,
                ("callee" | "decomposition", Attribute::Text(symbol)) => format!("@{}", plain(symbol)),
                ("value", Attribute::Tensor(ty, raw)) => super::numbers::dense(&ty, raw)
                    .ok_or_else(|| place.error(refuse!("a constant of {ty} has {} bytes", raw.len())))?,
                _ => self.attribute_text(place, value)?,
            };
            let name = if name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')) {
                name.to_owned()
            } else {
                quoted(name)
            };
            parts.push(format!("{name} = {text}"));
        }
        if let Some(joined) = joined {
            parts.push(format!("{} = #stablehlo.dims<{}>", joined.name, self.joined(place, joined, named)?));
        }
        if is_convolution {
            parts.push(format!("dimension_numbers = #stablehlo.conv<{}>", self.convolution_dims(place, named)?));
        }
        Ok(if parts.is_empty() { String::new() } else { format!(" <{{{}}}>", parts.join(", ")) })
    }

    fn joined(&self, place: &Cursor<'a>, joined: &Joined, named: &Named<'a>) -> Result<String, ImportError> {
        let mut parts = Vec::new();
        for of in joined.of {
            let Some(&(name, value)) = named.iter().find(|(name, _)| name == of) else { continue };
            let numbers = self.attribute_numbers(place, value)?;
            parts.push(match (name, &numbers[..]) {
                ("index_vector_dim", [one]) => format!("{name} = {one}"),
                _ => format!("{name} = [{}]", list(&numbers).trim_start_matches("array<i64: ").trim_end_matches('>')),
            });
        }
        Ok(parts.join(", "))
    }

    /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    fn convolution_dims(&self, place: &Cursor<'a>, named: &Named<'a>) -> Result<String, ImportError> {
        let side = |prefix: &'static str, first: Labelled, second: Labelled| -> Result<String, ImportError> {
            let numbers = |end: &'static str| -> Result<Vec<usize>, ImportError> {
                let wanted = |name: &str| name.strip_prefix(prefix).and_then(|n| n.strip_prefix('_')) == Some(end);
                let found = named.iter().find(|(name, _)| wanted(name));
                let missing = || place.error(refuse!("a convolution has no {prefix}_{end}"));
                let numbers = self.attribute_numbers(place, found.ok_or_else(missing)?.1)?;
                Ok(numbers.iter().map(|&n| usize::try_from(n).unwrap_or(usize::MAX)).collect())
            };
            let spatial = numbers("spatial_dimensions")?;
            let mut labels = vec![String::new(); spatial.len() + 2];
            let mut set = |at: usize, label: String| -> Result<(), ImportError> {
                let slot = labels.get_mut(at).filter(|slot| slot.is_empty());
                let wrong = || place.error(refuse!("a convolution has dimension {at} twice or too few dimensions"));
                *slot.ok_or_else(wrong)? = label;
                Ok(())
            };
            for (end, label) in [first, second] {
                set(numbers(end)?.first().copied().unwrap_or(usize::MAX), label.to_owned())?;
            }
            for (k, at) in spatial.into_iter().enumerate() {
                set(at, k.to_string())?;
            }
            Ok(format!("[{}]", labels.join(", ")))
        };
        let batch = ("batch_dimension", "b");
        let feature = ("feature_dimension", "f");
        let input = side("input", batch, feature)?;
        let kernel = side("kernel", ("input_feature_dimension", "i"), ("output_feature_dimension", "o"))?;
        let output = side("output", batch, feature)?;
        Ok(format!("{input}x{kernel}->{output}"))
    }
}

/// The name of a number among a convolution's dimensions, and the letter for it.
type Labelled = (&'static str, &'static str);

/// The name of a function, limited to characters that a name in the text may have.
pub(super) fn plain(symbol: &str) -> String {
    symbol.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$') { c } else { '_' }).collect()
}
