//! Types of values: element types by torch's numbers, sizes with symbols.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::schema::{ExportedProgram, Graph, SymInt, TensorMeta};
use crate::size_term::SizeTerm;
use ns_base::{Order, Refusal, refuse};
use ns_program::{ArrayType, ElementType, ImportError, ImportOptions, OpenDimension, Place};

/// The element type with torch's number (`torch/csrc/utils/generated_serialization_types.h`).
pub const fn element_of(dtype: i64) -> Option<ElementType> {
    Some(match dtype {
        1 => ElementType::U8,
        2 => ElementType::S8,
        3 => ElementType::S16,
        4 => ElementType::S32,
        5 => ElementType::S64,
        6 => ElementType::F16,
        7 => ElementType::F32,
        8 => ElementType::F64,
        10 => ElementType::C64,
        11 => ElementType::C128,
        12 => ElementType::Pred,
        13 => ElementType::Bf16,
        28 => ElementType::U16,
        29 => ElementType::F8E4M3Fn,
        30 => ElementType::F8E5M2,
        31 => ElementType::F8E4M3Fnuz,
        32 => ElementType::F8E5M2Fnuz,
        _ => return None,
    })
}

/// The description of a type, as a file has it.
pub fn described(ty: &ArrayType) -> TensorMeta<'static> {
    let size = |&n: &u64| SymInt { as_int: i64::try_from(n).ok(), as_expr: None };
    let dtype = (0..64).find(|&n| element_of(n) == Some(ty.element)).unwrap_or(0);
    TensorMeta { dtype, sizes: ty.dims.iter().map(size).collect(), strides: Vec::new(), storage_offset: None }
}

/// Symbols of a graph, with their chosen values.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    values: FxHashMap<String, i64>,
    /// Cache of evaluated expressions.
    known: RefCell<FxHashMap<String, i64>>,
    /// Dimensions that the file leaves open.
    pub open: Vec<OpenDimension>,
}

impl Symbols {
    /// The symbols of a program with the values from `options`, or else the values from the export. Fails when a size depends on
    /// data, or when the options name a dimension that the file does not have or a size that it does not allow.
    pub fn of(program: &ExportedProgram<'_>, options: &ImportOptions) -> Result<Self, ImportError> {
        let graph = &program.graph_module.graph;
        let mut found: Vec<(String, Option<i64>)> = Vec::new();
        let mut at: FxHashMap<String, usize> = FxHashMap::default();
        let mut note = |size: &SymInt<'_>| {
            let Some(expression) = &size.as_expr else { return };
            let text = expression.expr_str.get();
            // One that is not understood is an error where its value is needed.
            let Ok(term) = SizeTerm::read(text) else { return };
            let hint = expression.hint.as_ref().and_then(|h| h.as_int).filter(|_| term.as_symbol().is_some());
            for name in term.symbols() {
                match at.get(name) {
                    Some(&at) => found[at].1 = found[at].1.or(hint),
                    None => {
                        at.insert(name.to_owned(), found.len());
                        found.push((name.to_owned(), hint));
                    }
                }
            }
        };
        for meta in in_order(graph) {
            meta.sizes.iter().for_each(&mut note);
        }
        graph.sym_int_values.values().for_each(&mut note);
        if let Some((name, _)) = found.iter().find(|(name, _)| depends_on_data(name)) {
            return Err(data_dependent(graph, name));
        }
        found.order_by_key(|(name, _)| symbol_number(name));
        let mut symbols = Self::default();
        let chosen = chosen_sizes(graph, &found, options)?;
        for (name, hint) in &found {
            let range = program.range_constraints.get(name.as_str());
            let min = range.and_then(|r| r.min_val.as_i64());
            let max = range.and_then(|r| r.max_val.as_i64()).filter(|&m| m < i64::MAX / 2);
            let asked = chosen.get(name).copied();
            if let Some(size) = asked
                && (min.is_some_and(|m| size < m) || max.is_some_and(|m| size > m))
            {
                let (least, most) = (min.unwrap_or(1), max.map_or_else(|| "any".to_owned(), |most| most.to_string()));
                return Err(refuse!(
                    instead = "ask for a size in its range",
                    "{size} is not a size of dimension {name}, which is {least} to {most}"
                )
                .into());
            }
            let used = asked.or(*hint).unwrap_or_else(|| min.unwrap_or(1).max(1));
            symbols.values.insert(name.clone(), used);
            symbols.open.push(OpenDimension {
                name: name.clone(),
                min: min.and_then(|m| u64::try_from(m).ok()),
                max: max.and_then(|m| u64::try_from(m).ok()),
                used: u64::try_from(used).unwrap_or(0),
                is_chosen: asked.is_some(),
            });
        }
        Ok(symbols)
    }

    /// The value of a size. Fails when it is an expression without a value.
    pub fn number(&self, size: &SymInt<'_>) -> Result<i64, Refusal> {
        if let Some(n) = size.as_int {
            return Ok(n);
        }
        let Some(expression) = &size.as_expr else {
            return Err(refuse!("a size is neither a number nor an expression"));
        };
        let text = expression.expr_str.get();
        if let Some(&n) = self.known.borrow().get(text) {
            return Ok(n);
        }
        let value = |name: &str| self.values.get(name).copied();
        let n = SizeTerm::read(text)?.value(&value)?;
        self.known.borrow_mut().insert(text.to_owned(), n);
        Ok(n)
    }

    /// The type of a tensor. Fails when its element type is not known or a size is not valid.
    pub fn array(&self, meta: &TensorMeta<'_>) -> Result<ArrayType, Refusal> {
        let element = element_of(meta.dtype).ok_or_else(|| refuse!("its element type {} is not known", meta.dtype))?;
        let mut dims = Vec::with_capacity(meta.sizes.len());
        for size in &meta.sizes {
            let n = self.number(size)?;
            dims.push(u64::try_from(n).map_err(|_| refuse!("its size {n} is negative"))?);
        }
        let ty = ArrayType::new(element, dims);
        match ty.elements().and_then(|n| n.checked_mul(16)) {
            Some(_) => Ok(ty),
            None => Err(refuse!("it has more elements than 64 bits count: {ty}")),
        }
    }

    /// Names of the open dimensions of a tensor by position.
    pub fn open_names(&self, meta: &TensorMeta<'_>) -> std::collections::BTreeMap<usize, String> {
        let name = |size: &SymInt<'_>| {
            let text = size.as_expr.as_ref()?.expr_str.get();
            let symbol = SizeTerm::read(text).ok().and_then(|term| term.as_symbol());
            Some(symbol.map_or_else(|| text.chars().take(100).collect(), str::to_owned))
        };
        meta.sizes.iter().enumerate().filter_map(|(d, s)| Some((d, name(s)?))).collect()
    }
}

/// Tensors of a graph: its inputs first, then the rest in any order; the result does not depend on it.
fn in_order<'g, 'a>(graph: &'g Graph<'a>) -> impl Iterator<Item = &'g TensorMeta<'a>> {
    let inputs = graph.inputs.iter().filter_map(|a| match a {
        super::argument::Argument::Tensor(name) => graph.tensor_values.get(name),
        _ => None,
    });
    inputs.chain(graph.tensor_values.values())
}

/// Whether torch made the symbol for a size that it could not know: `u0`.
fn depends_on_data(name: &str) -> bool {
    let digits = name.strip_prefix('u').or_else(|| name.strip_prefix("zuf"));
    digits.is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
}

/// The error for a size that depends on data, naming the operation.
fn data_dependent(graph: &Graph<'_>, symbol: &str) -> ImportError {
    let has = |name: &str| {
        let sizes = graph.tensor_values.get(name).map(|m| m.sizes.as_slice()).unwrap_or_default();
        sizes
            .iter()
            .filter_map(|s| s.as_expr.as_ref())
            .any(|e| SizeTerm::read(e.expr_str.get()).is_ok_and(|term| term.symbols().contains(&symbol)))
    };
    let node = graph.nodes.iter().find_map(|node| {
        let name = node.outputs.iter().find_map(|o| match o {
            super::argument::Argument::Tensor(name) if has(name.get()) => Some(name.get().to_owned()),
            _ => None,
        })?;
        Some((name, node.target.get().trim_start_matches("torch.ops.").to_owned()))
    });
    let (place, op) = match node {
        Some((name, op)) => (Place::Node(name), op),
        None => (Place::File, "a value".to_owned()),
    };
    let instead = "a NeuronCore has fixed sizes: give the operation a fixed size and export again";
    ImportError::at(
        place,
        refuse!(instead = instead, "the size of the result of {op} depends on data (the unbacked symbol {symbol})"),
    )
}

/// Requested sizes by symbol. A dimension is named by its symbol, as `INPUT.POSITION`, or as `batch` if there is only one.
fn chosen_sizes(
    graph: &Graph<'_>,
    found: &[(String, Option<i64>)],
    options: &ImportOptions,
) -> Result<FxHashMap<String, i64>, ImportError> {
    let mut chosen = FxHashMap::default();
    for (name, &size) in &options.dims {
        let by_place = || {
            let (input, at) = name.rsplit_once('.')?;
            let size = graph.tensor_values.get(input)?.sizes.get(at.parse::<usize>().ok()?)?;
            match SizeTerm::read(size.as_expr.as_ref()?.expr_str.get()).ok()?.symbols()[..] {
                [one] => Some(one.to_owned()),
                _ => None,
            }
        };
        let symbol = match found {
            _ if found.iter().any(|(n, _)| n == name) => Some(name.clone()),
            [(only, _)] if name == "batch" => Some(only.clone()),
            _ => by_place(),
        };
        let Some(symbol) = symbol else {
            let open: Vec<&str> = found.iter().map(|(n, _)| n.as_str()).collect();
            let open = if open.is_empty() { "none".to_owned() } else { open.join(", ") };
            return Err(refuse!(
                instead = "leave it out or name one that is there",
                "the file has no open dimension {name}; it has {open}"
            )
            .into());
        };
        let too_large = || refuse!(instead = "ask for a size below 2^63", "dimension {name} of size {size}");
        let size = i64::try_from(size).map_err(|_| too_large())?;
        chosen.insert(symbol, size);
    }
    Ok(chosen)
}

/// Letters and number of a symbol, so that `s2` sorts before `s10`.
fn symbol_number(name: &str) -> (String, u64) {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (letters.to_owned(), name[letters.len()..].parse().unwrap_or(0))
}
