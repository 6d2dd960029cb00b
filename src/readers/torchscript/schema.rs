//! Names and defaults of the arguments of aten operators, which TorchScript passes by position.

use super::value::Kind;

/// One overload on each line, as PyTorch's `native_functions.yaml` has it: `T` tensor, `i` integer, `n` number, `f` float, `b`
/// boolean, `s` string, `t` element type or layout, `D` device; `[]` a list, `?` optional, after `*` by name only.
const TABLE: &str = include_str!("schemas.txt");

/// An argument of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its type in the notation of the table.
    kind: &'static str,
    pub name: &'static str,
    pub default: Option<&'static str>,
    /// Whether it can only be passed by name.
    pub is_named: bool,
}

/// One overload of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Its name: `dim`; empty when the operator has only one.
    pub overload: &'static str,
    pub parameters: Vec<Parameter>,
}

/// All overloads of an operator.
pub fn schemas(op: &str) -> Vec<Schema> {
    let of_line = |line: &'static str| {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (plain, overload) = name.split_once('.').unwrap_or((name, ""));
        (plain == op).then(|| Schema { overload, parameters: parameters(rest) })
    };
    TABLE.lines().filter_map(of_line).collect()
}

fn parameters(text: &'static str) -> Vec<Parameter> {
    let mut found = Vec::new();
    let mut is_named = false;
    for part in text.split(", ") {
        if part == "*" {
            is_named = true;
            continue;
        }
        let Some((kind, rest)) = part.split_once(' ') else { continue };
        let (name, default) = rest.split_once('=').map_or((rest, None), |(name, default)| (name, Some(default)));
        found.push(Parameter { kind, name, default, is_named });
    }
    found
}

/// The overload that fits the arguments; an overload whose tensor parameters get actual tensors is preferred.
pub fn choose<'s>(all: &'s [Schema], places: &[Kind], named: &[(&str, Kind)]) -> Option<&'s Schema> {
    let strictly = |schema: &&Schema| schema.fits(places, named, true);
    let loosely = |schema: &&Schema| schema.fits(places, named, false);
    all.iter().find(strictly).or_else(|| all.iter().find(loosely))
}

impl Schema {
    fn fits(&self, places: &[Kind], named: &[(&str, Kind)], is_strict: bool) -> bool {
        let positional = self.parameters.iter().filter(|p| !p.is_named);
        if places.len() > positional.clone().count() {
            return false;
        }
        let given = positional.zip(places).all(|(p, &kind)| p.accepts(kind, is_strict));
        let by_name = named.iter().all(|(name, kind)| {
            self.parameters.iter().any(|p| p.name == *name && (p.is_named || !is_strict || p.accepts(*kind, is_strict)))
        });
        let is_complete =
            self.parameters.iter().enumerate().all(|(at, p)| {
                at < places.len() || p.default.is_some() || named.iter().any(|(name, _)| *name == p.name)
            });
        given && by_name && is_complete
    }
}

impl Parameter {
    /// Whether it is a list of numbers or tensors.
    pub fn is_list(&self) -> bool {
        self.kind.contains("[]") && !self.kind.ends_with("]?")
    }

    /// Whether a value of a kind may be passed. A number that came from a tensor counts as a tensor, unless `is_strict`.
    fn accepts(&self, kind: Kind, is_strict: bool) -> bool {
        let (plain, may_be_absent) = match self.kind {
            "T?[]" => ("T?[]", false),
            kind => kind.strip_suffix('?').map_or((kind, false), |plain| (plain, true)),
        };
        if kind == Kind::None {
            return may_be_absent;
        }
        match plain {
            "T" => kind == Kind::Tensor || (!is_strict && matches!(kind, Kind::Int | Kind::Float | Kind::Bool)),
            "i" | "t" => kind == Kind::Int,
            "n" => matches!(kind, Kind::Int | Kind::Float | Kind::Bool),
            "f" => matches!(kind, Kind::Int | Kind::Float),
            "b" => kind == Kind::Bool,
            "s" => kind == Kind::Text,
            "D" => kind == Kind::Device,
            "i[]" => matches!(kind, Kind::Ints | Kind::Int | Kind::Empty),
            "f[]" => matches!(kind, Kind::Ints | Kind::Floats | Kind::Empty),
            "T[]" => matches!(kind, Kind::Tensors | Kind::Empty),
            "T?[]" => matches!(kind, Kind::Tensors | Kind::MaybeTensors | Kind::Empty),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TABLE, choose, schemas};
    use crate::torchscript::value::Kind;

    #[test]
    fn every_line_of_the_table_is_a_schema_in_known_words() {
        for line in TABLE.lines() {
            let op = line.split([' ', '.']).next().unwrap();
            for schema in schemas(op) {
                assert!(!schema.parameters.is_empty(), "{line}");
                for p in &schema.parameters {
                    let plain = p.kind.trim_end_matches('?').trim_end_matches("[]").trim_end_matches('?');
                    assert!("TinfbstD".contains(plain) && plain.len() == 1, "{line}: {p:?}");
                }
            }
        }
    }

    #[test]
    fn overloads_are_chosen_by_what_is_given() {
        let chosen =
            |op: &str, places: &[Kind], named: &[(&str, Kind)]| choose(&schemas(op), places, named).map(|s| s.overload);
        assert_eq!(chosen("max", &[Kind::Tensor], &[]), Some(""));
        assert_eq!(chosen("max", &[Kind::Tensor, Kind::Tensor], &[]), Some("other"));
        assert_eq!(chosen("max", &[Kind::Tensor, Kind::Int, Kind::Bool], &[]), Some("dim"));
        assert_eq!(chosen("to", &[Kind::Tensor, Kind::Int], &[]), Some("dtype"));
        assert_eq!(chosen("to", &[Kind::Tensor, Kind::Device, Kind::Int], &[]), Some("device"));
        assert_eq!(chosen("gt", &[Kind::Tensor, Kind::Int], &[]), Some(""));
        assert_eq!(chosen("div", &[Kind::Tensor, Kind::Int], &[("rounding_mode", Kind::Text)]), Some("Tensor_mode"));
        assert_eq!(chosen("split", &[Kind::Tensor, Kind::Ints], &[]), Some("sizes"));
        assert_eq!(chosen("linear", &[Kind::Tensor], &[]), None);
        assert_eq!(chosen("index", &[Kind::Tensor, Kind::MaybeTensors], &[]), Some(""));
    }
}
