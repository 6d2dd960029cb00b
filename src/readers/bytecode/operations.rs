//! Operations, regions and functions.

use super::attributes::FlatAttribute;
use super::cursor::Cursor;
use super::file::{Dialect, File, OperationName, version};
use super::properties::{name_and_version, names};
use crate::stablehlo::syntax::{Attribute, Function, Location, MlirArgument, Module, Name, Operation, Region, Use};
use ns_base::convert::usize_to_u32;
use ns_base::refuse;
use ns_program::ImportError;

/// Most levels of nested regions.
const MOST_NESTING: u32 = 64;

/// Bits of an operation's mask, which say what it has.
mod has {
    pub const ATTRIBUTES: u8 = 1;
    pub const RESULTS: u8 = 2;
    pub const OPERANDS: u8 = 4;
    pub const SUCCESSORS: u8 = 8;
    pub const REGIONS: u8 = 16;
    pub const USE_ORDERS: u8 = 32;
    pub const PROPERTIES: u8 = 64;
}

/// The module of a file. Fails when the bytecode is damaged, or holds something that portable artifacts do not have.
pub(super) fn read_module<'a>(file: &File<'a>) -> Result<Module<'a>, ImportError> {
    let mut reader = Reader { file, module: Module::default(), names: 0 };
    let mut cursor = file.ir;
    let (operations, has_arguments) = cursor.flagged()?;
    if has_arguments {
        return Err(cursor.error(refuse!("the bytecode has arguments outside of functions")));
    }
    let mut scope = MlirScope::default();
    reader.body(&mut cursor, &mut scope, operations, Around::File, MOST_NESTING)?;
    let mut module = reader.module;
    module.is_open = file.is_open.get() || !module.dimension_names.is_empty();
    Ok(module)
}

/// What an operation is nested in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    File,
    Function,
    Region,
}

/// Values by number: the name and the result's number of each. A region's values are numbered after all values around it.
#[derive(Default)]
struct MlirScope {
    values: Vec<Option<(u32, u32)>>,
    /// The number of the next value, for each open region.
    next: Vec<usize>,
}

impl MlirScope {
    fn open(&mut self, values: usize) {
        self.next.push(self.values.len());
        self.values.resize(self.values.len() + values, None);
    }

    fn close(&mut self, values: usize) {
        self.next.pop();
        self.values.truncate(self.values.len() - values);
    }

    /// Gives the next value a name.
    fn define(&mut self, name: u32, result: u32, place: &Cursor<'_>) -> Result<(), ImportError> {
        let next = self.next.last_mut().ok_or_else(|| place.error(refuse!("a value outside of all regions")))?;
        let slot =
            self.values.get_mut(*next).ok_or_else(|| place.error(refuse!("a region has more values than it says")))?;
        *slot = Some((name, result));
        *next += 1;
        Ok(())
    }
}

/// Attributes of an operation by name; the values by number.
type NamedOperands<'a> = Vec<(&'a str, usize)>;

/// An operation without its regions.
struct Head<'a> {
    name: OperationName<'a>,
    /// Its name without dialect and version.
    plain: &'a str,
    named: NamedOperands<'a>,
    results: Vec<usize>,
    operands: Vec<(u32, u32)>,
    location: usize,
    regions: usize,
    is_isolated: bool,
}

impl Head<'_> {
    fn named(&self, wanted: &str) -> Option<usize> {
        self.named.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value)
    }
}

struct Reader<'f, 'a> {
    file: &'f File<'a>,
    module: Module<'a>,
    /// Names given to values.
    names: u32,
}

impl<'a> Reader<'_, 'a> {
    /// The operations of a region; functions go to the module.
    fn body(
        &mut self,
        cursor: &mut Cursor<'a>,
        scope: &mut MlirScope,
        operations: usize,
        around: Around,
        depth: u32,
    ) -> Result<Vec<Operation<'a>>, ImportError> {
        let mut body = Vec::new();
        for _ in 0..operations {
            let place = *cursor;
            let head = self.head(cursor, scope)?;
            match (head.name.dialect, head.plain) {
                (Dialect::Builtin, "module") => self.module(cursor, &head, &place, depth)?,
                (Dialect::Vhlo, "func") => self.function(cursor, &head, &place, depth)?,
                (Dialect::Vhlo, _) if around != Around::File => {
                    body.push(self.operation(cursor, scope, &head, &place, around, depth)?);
                }
                (_, name) => {
                    return Err(place.error(refuse!("the operation {name} is not one of a portable artifact")));
                }
            }
        }
        Ok(body)
    }

    fn head(&self, cursor: &mut Cursor<'a>, scope: &MlirScope) -> Result<Head<'a>, ImportError> {
        let file = self.file;
        let name = file.operations[cursor.index(file.operations.len(), "operation")?];
        let (plain, number) = name_and_version(name.name);
        let mask = cursor.byte()?;
        let location = file.attribute_index(cursor)?;
        let mut named = NamedOperands::new();
        if mask & has::ATTRIBUTES != 0 {
            named = pairs(file, cursor)?;
        }
        if mask & has::PROPERTIES != 0 {
            if name.is_registered {
                let i = cursor.index(file.properties.len(), "list of properties")?;
                properties(file, file.properties[i], name.dialect, names(plain, number), &mut named)?;
            } else {
                named.extend(pairs(file, cursor)?);
            }
        }
        let mut results = Vec::new();
        if mask & has::RESULTS != 0 {
            for _ in 0..cursor.count("result")? {
                results.push(cursor.index(file.types.len(), "type")?);
            }
        }
        let mut operands = Vec::new();
        if mask & has::OPERANDS != 0 {
            for _ in 0..cursor.count("operand")? {
                let place = *cursor;
                let i = cursor.index(scope.values.len(), "value")?;
                let undefined = || place.error(refuse!("value {i} is not defined before it is read"));
                operands.push(scope.values[i].ok_or_else(undefined)?);
            }
        }
        if mask & has::SUCCESSORS != 0 {
            return Err(cursor.error(refuse!("the operation {plain} jumps to other blocks")));
        }
        if mask & has::USE_ORDERS != 0 && file.version >= version::USE_ORDERS {
            skip_use_orders(cursor, results.len())?;
        }
        let (regions, is_isolated) = if mask & has::REGIONS != 0 { cursor.flagged()? } else { (0, false) };
        if regions > cursor.left() {
            return Err(cursor.error(refuse!("the operation {plain} has {regions} regions")));
        }
        Ok(Head { name, plain, named, results, operands, location, regions, is_isolated })
    }

    /// The regions of an operation; regions that do not read outer values are in a section.
    fn stretch(&self, cursor: &mut Cursor<'a>, operation: &Head<'a>) -> Result<Option<Cursor<'a>>, ImportError> {
        if operation.regions > 0 && operation.is_isolated && self.file.version >= version::REGIONS_AS_SECTIONS {
            return Ok(Some(cursor.section()?.1));
        }
        Ok(None)
    }

    fn module(
        &mut self,
        cursor: &mut Cursor<'a>,
        head: &Head<'a>,
        place: &Cursor<'a>,
        depth: u32,
    ) -> Result<(), ImportError> {
        let Some(depth) = depth.checked_sub(1) else { return Err(place.error(refuse!("regions nest too deep"))) };
        for &(name, value) in &head.named {
            match (name, self.file.flat_attribute(place, value)?) {
                ("sym_name", FlatAttribute::One(Attribute::Text(name))) => self.module.name = name,
                ("mhlo.num_partitions", FlatAttribute::One(Attribute::Whole(_))) => self.module.has_partitions = true,
                _ => {}
            }
        }
        let mut section = self.stretch(cursor, head)?;
        let inner = section.as_mut().unwrap_or(cursor);
        let mut scope = MlirScope::default();
        for _ in 0..head.regions {
            let Some(region) = self.region(inner, &mut scope)? else { continue };
            self.body(inner, &mut scope, region.operations, Around::File, depth)?;
            scope.close(region.values);
        }
        Ok(())
    }

    fn function(
        &mut self,
        cursor: &mut Cursor<'a>,
        head: &Head<'a>,
        place: &Cursor<'a>,
        depth: u32,
    ) -> Result<(), ImportError> {
        let Some(depth) = depth.checked_sub(1) else { return Err(place.error(refuse!("regions nest too deep"))) };
        let name = head.named("sym_name").map(|i| self.file.flat_attribute(place, i)).transpose()?;
        let Some(FlatAttribute::One(Attribute::Text(name))) = name else {
            return Err(place.error(refuse!("a function has no name")));
        };
        let of_arguments = match head.named("arg_attrs").map(|i| self.file.attribute(place, i)).transpose()? {
            Some(Some(Attribute::List(list))) => list,
            _ => Vec::new(),
        };
        let mut section = self.stretch(cursor, head)?;
        let inner = section.as_mut().unwrap_or(cursor);
        let mut scope = MlirScope::default();
        let region = self.region(inner, &mut scope)?;
        let Some(region) = region.filter(|_| head.regions == 1) else {
            return Err(place.error(refuse!("the function {name} has no body")));
        };
        let mut arguments = region.arguments;
        for (argument, attributes) in arguments.iter_mut().zip(&of_arguments) {
            let constant = attributes.value("jax.global_constant").and_then(Attribute::text);
            let constant = constant.filter(|name| !name.is_empty());
            self.module.name_dimension(constant);
            *argument = MlirArgument::new(argument.name, argument.ty.clone(), constant, argument.location);
        }
        let body = self.body(inner, &mut scope, region.operations, Around::Function, depth)?;
        self.module.functions.push(Function { name, body: Region { arguments, body }, at: 0 });
        Ok(())
    }

    fn operation(
        &mut self,
        cursor: &mut Cursor<'a>,
        scope: &mut MlirScope,
        head: &Head<'a>,
        place: &Cursor<'a>,
        around: Around,
        depth: u32,
    ) -> Result<Operation<'a>, ImportError> {
        let file = self.file;
        let name = self.names;
        self.names += 1;
        let dialect = match head.plain {
            "call" => "func",
            "return" if around == Around::Function => "func",
            _ => "stablehlo",
        };
        let mut attributes = Vec::with_capacity(head.named.len());
        for &(name, value) in &head.named {
            if let Some(value) = file.attribute(place, value)? {
                attributes.push((name, value));
            }
        }
        let mut types = Vec::with_capacity(head.results.len());
        for (i, &ty) in head.results.iter().enumerate() {
            types.push(file.type_at(place, ty)?);
            scope.define(name, usize_to_u32(i), place)?;
        }
        let read = |&(name, index): &(u32, u32)| Use { name: Name::Number(name), index, at: 0 };
        let results = Some((Name::Number(name), usize_to_u32(types.len()))).filter(|(_, n)| *n > 0);
        let mut operation = Operation {
            name: format!("{dialect}.{}", head.plain),
            results: results.into_iter().collect(),
            operands: head.operands.iter().map(read).collect(),
            attributes,
            words: Vec::new(),
            regions: Vec::new(),
            types,
            location: self.location(place, head.location)?,
            at: 0,
        };
        if head.regions > 0 {
            let Some(depth) = depth.checked_sub(1) else { return Err(place.error(refuse!("regions nest too deep"))) };
            let mut section = self.stretch(cursor, head)?;
            let mut own = MlirScope::default();
            let scope = if head.is_isolated { &mut own } else { scope };
            let inner = section.as_mut().unwrap_or(cursor);
            for _ in 0..head.regions {
                operation.regions.push(self.inner_region(inner, scope, depth)?);
            }
        }
        Ok(operation)
    }

    fn inner_region(
        &mut self,
        cursor: &mut Cursor<'a>,
        scope: &mut MlirScope,
        depth: u32,
    ) -> Result<Region<'a>, ImportError> {
        let Some(region) = self.region(cursor, scope)? else { return Ok(Region::default()) };
        let body = self.body(cursor, scope, region.operations, Around::Region, depth)?;
        scope.close(region.values);
        Ok(Region { arguments: region.arguments, body })
    }

    /// The beginning of a region: its values, and the arguments of its one block. `None` if it is empty.
    fn region(&mut self, cursor: &mut Cursor<'a>, scope: &mut MlirScope) -> Result<Option<Start<'a>>, ImportError> {
        match cursor.number()? {
            0 => return Ok(None),
            1 => {}
            n => return Err(cursor.error(refuse!("a region has {n} blocks; those of StableHLO have one"))),
        }
        let values = cursor.count("value")?;
        scope.open(values);
        let (operations, has_arguments) = cursor.flagged()?;
        if operations > cursor.left() {
            return Err(cursor.error(refuse!("a block says that it has {operations} operations")));
        }
        let mut arguments = Vec::new();
        if has_arguments {
            for _ in 0..cursor.count("argument")? {
                arguments.push(self.argument(cursor, scope)?);
            }
            if self.file.version >= version::USE_ORDERS && cursor.byte()? != 0 {
                skip_use_orders(cursor, arguments.len())?;
            }
        }
        Ok(Some(Start { values, operations, arguments }))
    }

    fn argument(&mut self, cursor: &mut Cursor<'a>, scope: &mut MlirScope) -> Result<MlirArgument<'a>, ImportError> {
        let place = *cursor;
        let (ty, has_location) = if self.file.version >= version::OPTIONAL_LOCATIONS {
            cursor.flagged()?
        } else {
            (cursor.index(self.file.types.len(), "type")?, true)
        };
        let location = if has_location {
            let i = self.file.attribute_index(cursor)?;
            self.location(&place, i)?
        } else {
            Location::None
        };
        let name = self.names;
        self.names += 1;
        scope.define(name, 0, &place)?;
        Ok(MlirArgument::new(Name::Number(name), self.file.type_at(&place, ty)?, None, location))
    }

    fn location(&self, place: &Cursor<'a>, i: usize) -> Result<Location<'a>, ImportError> {
        Ok(match self.file.flat_attribute(place, i)? {
            FlatAttribute::Named(name) => Location::Name(name),
            _ => Location::None,
        })
    }
}

/// The beginning of a region.
struct Start<'a> {
    values: usize,
    operations: usize,
    arguments: Vec<MlirArgument<'a>>,
}

/// Attributes of the dictionary whose number comes next, by name.
fn pairs<'a>(file: &File<'a>, cursor: &mut Cursor<'a>) -> Result<NamedOperands<'a>, ImportError> {
    let place = *cursor;
    let i = file.attribute_index(cursor)?;
    let FlatAttribute::Dictionary(found) = file.flat_attribute(&place, i)? else {
        return Err(place.error(refuse!("the attributes of an operation are not a dictionary")));
    };
    let mut named = NamedOperands::with_capacity(found.len());
    for (name, value) in found {
        if let FlatAttribute::One(Attribute::Text(name)) = file.flat_attribute(&place, name)? {
            named.push((name, value));
        }
    }
    Ok(named)
}

/// Properties in an operation's own encoding: the numbers of its attributes in order. Those of a module may be missing.
fn properties<'a>(
    file: &File<'a>,
    mut cursor: Cursor<'a>,
    dialect: Dialect,
    names: &'static [&'static str],
    named: &mut NamedOperands<'a>,
) -> Result<(), ImportError> {
    if dialect == Dialect::Builtin {
        let (i, is_there) = cursor.flagged()?;
        if is_there && i < file.attributes.len() {
            named.push(("sym_name", i));
        }
        return Ok(());
    }
    for name in names {
        named.push((name, file.attribute_index(&mut cursor)?));
    }
    Ok(())
}

/// Skips the use-list order of values, which does not affect the meaning.
fn skip_use_orders(cursor: &mut Cursor<'_>, values: usize) -> Result<(), ImportError> {
    let orders = if values > 1 { cursor.count("order of uses")? } else { 1 };
    for _ in 0..orders {
        if values > 1 {
            cursor.number()?;
        }
        let (numbers, _) = cursor.flagged()?;
        if numbers > cursor.left() {
            return Err(cursor.error(refuse!("an order of {numbers} uses")));
        }
        for _ in 0..numbers {
            cursor.number()?;
        }
    }
    Ok(())
}
