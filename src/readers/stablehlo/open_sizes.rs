//! The open sizes of a module's main function: their names, and the sizes that are filled in.
//!
//! JAX writes into the checks at the front of main how each size follows from the model's symbols (`args[0].shape = (2*batch, 8)`). Other
//! producers, and JAX's text without these checks, leave names to be found in how main uses a size.

use std::collections::BTreeMap;

use super::failure::MlirFailure;
use super::syntax::{MlirArgument, Module, Name, Operation};
use crate::size_term::SizeTerm;
use ns_base::refuse;
use ns_program::{ImportError, OpenDimension, Type};

/// Sizes of main's open dimensions.
pub(super) struct OpenSizes {
    /// Names and sizes of the symbols, in order of first appearance.
    pub dimensions: Vec<OpenDimension>,
    /// Open dimensions of arguments.
    pub places: Vec<OpenPlace>,
    /// Numbers of the arguments that JAX adds to those of the model, by the argument's number: sizes, and the number of the platform.
    pub constants: BTreeMap<usize, i64>,
}

/// The argument that chooses one of the platforms for which a module is exported. The first platform is read.
pub(super) const PLATFORM: &str = "_platform_index";

/// An open dimension of an argument.
pub(super) struct OpenPlace {
    pub argument: usize,
    pub dimension: usize,
    /// Its symbol, or the term that gives its size: `2*batch`.
    pub name: String,
    pub size: u64,
}

impl OpenSizes {
    /// For the function with this number, with these sizes; a size that was not requested is `other`. Fails when a size becomes
    /// negative or too large.
    pub fn of(
        module: &Module<'_>,
        main: usize,
        requested: &BTreeMap<String, u64>,
        other: u64,
    ) -> Result<Self, MlirFailure> {
        let arguments = &module.functions[main].body.arguments;
        let mut places: Vec<(usize, usize, String)> = Vec::new();
        let specified = specified(module, main);
        let passed = arguments.iter().enumerate().filter_map(|(i, a)| Some((i, a.constant?)));
        let passed: Vec<(usize, &str)> = passed.collect();
        let passed_symbols: Vec<&str> = passed.iter().map(|(_, name)| *name).filter(|name| *name != PLATFORM).collect();
        if passed_symbols.len() > 1 && specified.is_none() {
            let symbols = passed_symbols.join(", ");
            let file = "save the file that says it: open(\"model.jax_export\", \"wb\").write(jax.export.export(jax.jit(f))(*args).serialize())";
            let unsaid =
                refuse!(instead = file, "the text does not say which open size is which of its symbols ({symbols})");
            return Err(ImportError::from(unsaid).into());
        }
        for (i, argument) in arguments.iter().enumerate() {
            for &d in &argument.ty.open {
                let term = specified.as_ref().and_then(|all| all.get(&(i, d)));
                let name = term.map_or_else(|| used_name(module, main, i, d), |term| term.text.to_owned());
                places.push((i, d, name));
            }
        }
        let terms = places.iter().map(|(i, d, name)| {
            let term = specified.as_ref().and_then(|all| all.get(&(*i, *d)).cloned());
            term.unwrap_or_else(|| SizeTerm::symbol(name))
        });
        let terms: Vec<SizeTerm<'_>> = terms.collect();
        let mut dimensions: Vec<OpenDimension> = Vec::new();
        let mut symbols = BTreeMap::new();
        for name in terms.iter().flat_map(SizeTerm::symbols).chain(passed_symbols) {
            if !symbols.contains_key(name) {
                let asked = requested.get(name).copied();
                let (used, is_chosen) = (asked.unwrap_or(other), asked.is_some());
                symbols.insert(name, i64::try_from(used).unwrap_or(i64::MAX));
                dimensions.push(OpenDimension { name: name.to_owned(), min: None, max: None, used, is_chosen });
            }
        }
        let size = |term: &SizeTerm<'_>| {
            let found = term.value(&|name| symbols.get(name).copied()).ok();
            found.and_then(|n| u64::try_from(n).ok()).ok_or_else(|| {
                let with = dimensions.iter().map(|d| format!("{}={}", d.name, d.used)).collect::<Vec<_>>().join(", ");
                let found = found.map_or_else(|| "not a number".to_owned(), |n| n.to_string());
                MlirFailure::of_sizes(refuse!("the size {} is {found} with {with}", term.text))
            })
        };
        let sizes = terms.iter().map(size).collect::<Result<Vec<u64>, _>>()?;
        let place = |((argument, dimension, name), size)| OpenPlace { argument, dimension, name, size };
        let places = places.clone().into_iter().zip(sizes).map(place).collect();
        let number = |(i, name)| (i, symbols.get(name).copied().unwrap_or(0));
        let constants = passed.into_iter().map(number).collect();
        Ok(Self { dimensions, places, constants })
    }

    /// The number of the program's parameter for an argument, which has none for a number that JAX adds.
    pub fn parameter(&self, argument: usize) -> usize {
        argument - self.constants.range(..argument).count()
    }

    /// The type of an argument with its sizes filled in.
    pub fn filled(&self, argument: usize, ty: &Type) -> Type {
        let mut ty = ty.clone();
        if let Type::Array(array) = &mut ty {
            for place in self.places.iter().filter(|place| place.argument == argument) {
                if let Some(size) = array.dims.get_mut(place.dimension) {
                    *size = place.size;
                }
            }
        }
        ty
    }
}

/// Open dimensions by argument and dimension.
type Terms<'a> = BTreeMap<(usize, usize), SizeTerm<'a>>;

/// How the open dimensions of main follow from symbols, if a check of main says so for all of them.
fn specified<'a>(module: &Module<'a>, main: usize) -> Option<Terms<'a>> {
    let body = &module.functions[main].body;
    let said = body.body.iter().find_map(|o| o.text("error_message"))?;
    let (_, shapes) = said.split_once("polymorphic shapes specifications: ")?;
    let (shapes, _) = shapes.split_once(". Obtained dimension variables").unwrap_or((shapes, ""));
    let mut shapes = shapes.split(".shape = (").skip(1).map(sizes_of);
    let mut terms = Terms::new();
    for (i, argument) in body.arguments.iter().enumerate().filter(|(_, a)| !a.ty.open.is_empty()) {
        // Arguments that the model does not use are specified too, and main does not have them.
        let sizes = shapes.by_ref().flatten().find(|sizes| fits(argument, sizes))?;
        terms.extend(argument.ty.open.iter().map(|&d| ((i, d), sizes[d].clone())));
    }
    Some(terms)
}

/// The sizes before the bracket that closes a shape.
fn sizes_of(text: &str) -> Option<Vec<SizeTerm<'_>>> {
    let (mut depth, mut start, mut sizes) = (0u32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ',' | ')' if depth == 0 => {
                // A shape of one size ends with a comma.
                if !text[start..at].trim().is_empty() {
                    sizes.push(SizeTerm::read(&text[start..at]).ok()?);
                }
                if c == ')' {
                    return Some(sizes);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// Whether an argument's type has these sizes.
fn fits(argument: &MlirArgument<'_>, sizes: &[SizeTerm<'_>]) -> bool {
    let Type::Array(array) = &argument.ty.ty else { return false };
    let fits = |(d, (size, &dim)): (usize, (&SizeTerm<'_>, &u64))| match size.number() {
        Some(n) => !argument.ty.open.contains(&d) && u64::try_from(n) == Ok(dim),
        None => argument.ty.open.contains(&d),
    };
    sizes.len() == array.dims.len() && sizes.iter().zip(&array.dims).enumerate().all(fits)
}

/// A name for an open dimension that no check specifies.
fn used_name(module: &Module<'_>, main: usize, argument: usize, dimension: usize) -> String {
    let read = module.functions[main].body.arguments[argument].name;
    let names: Vec<&str> = module.dimension_names.iter().copied().filter(|name| *name != PLATFORM).collect();
    match (name_of(module, main, read, dimension), &names[..], dimension) {
        (Some(name), ..) => name.to_owned(),
        (None, [name], _) => (*name).to_owned(),
        (None, [], 0) => "batch".to_owned(),
        (None, [], d) => format!("dim{d}"),
        _ => format!("arg{argument}.dim{dimension}"),
    }
}

/// The name of an open size of main: the name of the argument that main passes it on as, or of the size that it is compared with.
fn name_of<'a>(module: &Module<'a>, main: usize, argument: Name<'_>, dimension: usize) -> Option<&'a str> {
    let body = &module.functions[main].body.body;
    let is_of = |o: &&Operation<'_>| {
        let said = o.attribute("dim").or_else(|| o.attribute("dimension"));
        let at = said.and_then(|said| usize::try_from(*said.numbers().first()?).ok());
        o.name == "stablehlo.get_dimension_size"
            && at == Some(dimension)
            && o.operands.first().is_some_and(|u| u.name == argument)
    };
    let (size, _) = *body.iter().find(is_of)?.results.first()?;
    let passed_on = |size: Name<'_>| {
        let calls = body.iter().filter(|o| o.name == "func.call");
        let place = calls.filter_map(|o| o.operands.iter().position(|u| u.name == size)).next()?;
        module.dimension_names.get(place).copied()
    };
    let is_test = |o: &&Operation<'_>| o.name == "stablehlo.compare" && o.words.contains(&"EQ");
    let mut twins = body.iter().filter(is_test).filter_map(|o| match &o.operands[..] {
        [a, b] if a.name == size => Some(b.name),
        [a, b] if b.name == size => Some(a.name),
        _ => None,
    });
    passed_on(size).or_else(|| passed_on(twins.next()?))
}
