//! Writes operations, regions and functions as the generic text of StableHLO.

use super::attributes::Attribute;
use super::cursor::Cursor;
use super::dictionary::{Named, plain};
use super::file::{Dialect, File, OperationName, version};
use super::numbers::quoted;
use super::properties::{name_and_version, names};
use crate::ImportError;
use ns_base::convert::narrow;
use ns_base::refuse;

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

/// The text of a whole file.
///
/// # Errors
/// When the bytecode is damaged, or holds something that portable artifacts do not have.
pub(super) fn print(file: &File<'_>) -> Result<String, ImportError> {
    let mut printer = Printer { file, out: String::new(), names: 0 };
    let mut cursor = file.ir;
    let (operations, has_arguments) = cursor.flagged()?;
    if has_arguments {
        return Err(cursor.error(refuse!("the bytecode has arguments outside of functions")));
    }
    let mut scope = Scope::default();
    printer.body(&mut cursor, &mut scope, operations, Around::File, MOST_NESTING)?;
    Ok(printer.out)
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
struct Scope {
    values: Vec<Option<(u32, u32)>>,
    /// The number of the next value, for each open region.
    next: Vec<usize>,
}

impl Scope {
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

/// An operation without its regions.
struct Operation<'a> {
    name: OperationName<'a>,
    /// Its name without dialect and version.
    plain: &'a str,
    named: Named<'a>,
    results: Vec<usize>,
    operands: Vec<(u32, u32)>,
    location: usize,
    regions: usize,
    is_isolated: bool,
}

struct Printer<'f, 'a> {
    file: &'f File<'a>,
    out: String,
    /// Names given to values.
    names: u32,
}

impl<'a> Printer<'_, 'a> {
    fn body(
        &mut self,
        cursor: &mut Cursor<'a>,
        scope: &mut Scope,
        operations: usize,
        around: Around,
        depth: u32,
    ) -> Result<(), ImportError> {
        for _ in 0..operations {
            let place = *cursor;
            // A few bytes of a damaged file may refer to long strings many times.
            if self.out.len() > (1 << 20) + 256 * self.file.size {
                return Err(place.error(refuse!("the module is much longer as text than its bytecode can be")));
            }
            let operation = self.operation(cursor, scope)?;
            match (operation.name.dialect, operation.plain) {
                (Dialect::Builtin, "module") => self.module(cursor, &operation, &place, depth)?,
                (Dialect::Vhlo, "func") => self.function(cursor, &operation, &place, depth)?,
                (Dialect::Vhlo, _) if around != Around::File => {
                    self.plain_operation(cursor, scope, &operation, &place, around, depth)?;
                }
                (_, name) => {
                    return Err(place.error(refuse!("the operation {name} is not one of a portable artifact")));
                }
            }
        }
        Ok(())
    }

    fn operation(&mut self, cursor: &mut Cursor<'a>, scope: &mut Scope) -> Result<Operation<'a>, ImportError> {
        let file = self.file;
        let name = file.operations[cursor.index(file.operations.len(), "operation")?];
        let (plain, number) = name_and_version(name.name);
        let mask = cursor.byte()?;
        let location = file.attribute_index(cursor)?;
        let mut named = Named::new();
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
        Ok(Operation { name, plain, named, results, operands, location, regions, is_isolated })
    }

    /// The regions of an operation; regions that do not read outer values are in a section.
    fn stretch(&self, cursor: &mut Cursor<'a>, operation: &Operation<'a>) -> Result<Option<Cursor<'a>>, ImportError> {
        if operation.regions > 0 && operation.is_isolated && self.file.version >= version::REGIONS_AS_SECTIONS {
            return Ok(Some(cursor.section()?.1));
        }
        Ok(None)
    }

    fn module(
        &mut self,
        cursor: &mut Cursor<'a>,
        operation: &Operation<'a>,
        place: &Cursor<'a>,
        depth: u32,
    ) -> Result<(), ImportError> {
        let Some(depth) = depth.checked_sub(1) else { return Err(place.error(refuse!("regions nest too deep"))) };
        self.out.push_str("module");
        let mut attributes = Vec::new();
        for &(name, value) in &operation.named {
            match (name, self.file.attribute(place, value)?) {
                ("sym_name", Attribute::Text(name)) => self.out.push_str(&format!(" @{}", plain(name))),
                (_, Attribute::Whole(n)) => attributes.push(format!("{} = {n} : i32", plain(name))),
                _ => {}
            }
        }
        if !attributes.is_empty() {
            self.out.push_str(&format!(" attributes {{{}}}", attributes.join(", ")));
        }
        self.out.push_str(" {\n");
        let mut section = self.stretch(cursor, operation)?;
        let inner = section.as_mut().unwrap_or(cursor);
        let mut scope = Scope::default();
        for _ in 0..operation.regions {
            let Some(region) = self.region(inner, &mut scope)? else { continue };
            self.body(inner, &mut scope, region.operations, Around::File, depth)?;
            scope.close(region.values);
        }
        self.out.push_str("}\n");
        Ok(())
    }

    fn function(
        &mut self,
        cursor: &mut Cursor<'a>,
        operation: &Operation<'a>,
        place: &Cursor<'a>,
        depth: u32,
    ) -> Result<(), ImportError> {
        let Some(depth) = depth.checked_sub(1) else { return Err(place.error(refuse!("regions nest too deep"))) };
        let attribute =
            |wanted: &str| operation.named.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        let name = attribute("sym_name").map(|i| self.file.attribute(place, i)).transpose()?;
        let Some(Attribute::Text(name)) = name else { return Err(place.error(refuse!("a function has no name"))) };
        let of_arguments = match attribute("arg_attrs").map(|i| self.file.attribute(place, i)).transpose()? {
            Some(Attribute::List(list)) => list,
            _ => Vec::new(),
        };
        let mut section = self.stretch(cursor, operation)?;
        let inner = section.as_mut().unwrap_or(cursor);
        let mut scope = Scope::default();
        let region = self.region(inner, &mut scope)?;
        let Some(region) = region.filter(|_| operation.regions == 1) else {
            return Err(place.error(refuse!("the function {} has no body", plain(name))));
        };
        let mut arguments = Vec::new();
        for (i, argument) in region.arguments.iter().enumerate() {
            let attributes = match of_arguments.get(i) {
                Some(&list) => self.file.attribute_text(place, list)?,
                None => String::new(),
            };
            let attributes = if attributes.starts_with("{}") { "" } else { attributes.as_str() };
            arguments.push(format!("%{}: {} {attributes}{}", argument.name, argument.ty, argument.location));
        }
        self.out.push_str(&format!("func.func @{}({}) {{\n", plain(name), arguments.join(", ")));
        self.body(inner, &mut scope, region.operations, Around::Function, depth)?;
        self.out.push_str("}\n");
        Ok(())
    }

    fn plain_operation(
        &mut self,
        cursor: &mut Cursor<'a>,
        scope: &mut Scope,
        operation: &Operation<'a>,
        place: &Cursor<'a>,
        around: Around,
        depth: u32,
    ) -> Result<(), ImportError> {
        let name = self.names;
        self.names += 1;
        match operation.results.len() {
            0 => {}
            1 => self.out.push_str(&format!("%{name} = ")),
            n => self.out.push_str(&format!("%{name}:{n} = ")),
        }
        let dialect = match operation.plain {
            "call" => "func",
            "return" if around == Around::Function => "func",
            _ => "stablehlo",
        };
        let operands: Vec<String> = operation.operands.iter().map(|&(name, result)| value(name, result)).collect();
        let attributes = self.file.dictionary(place, operation.plain, &operation.named)?;
        self.out.push_str(&format!("\"{dialect}.{}\"({}){attributes}", operation.plain, operands.join(", ")));
        for i in 0..operation.results.len() {
            scope.define(name, narrow(i), place)?;
        }
        if operation.regions > 0 {
            let Some(depth) = depth.checked_sub(1) else { return Err(place.error(refuse!("regions nest too deep"))) };
            let mut section = self.stretch(cursor, operation)?;
            let mut own = Scope::default();
            let scope = if operation.is_isolated { &mut own } else { scope };
            let inner = section.as_mut().unwrap_or(cursor);
            self.out.push_str(" (");
            for i in 0..operation.regions {
                self.out.push_str(if i == 0 { "{\n" } else { ", {\n" });
                self.inner_region(inner, scope, depth)?;
                self.out.push('}');
            }
            self.out.push(')');
        }
        let types: Result<Vec<String>, ImportError> =
            operation.results.iter().map(|&i| self.file.type_at(place, i)).collect();
        let location = self.location(place, operation.location)?;
        self.out.push_str(&format!(" : () -> ({}){location}\n", types?.join(", ")));
        Ok(())
    }

    fn inner_region(&mut self, cursor: &mut Cursor<'a>, scope: &mut Scope, depth: u32) -> Result<(), ImportError> {
        let Some(region) = self.region(cursor, scope)? else { return Ok(()) };
        if !region.arguments.is_empty() {
            let arguments = region.arguments.iter().map(|a| format!("%{}: {}{}", a.name, a.ty, a.location));
            self.out.push_str(&format!("^bb0({}):\n", arguments.collect::<Vec<_>>().join(", ")));
        }
        self.body(cursor, scope, region.operations, Around::Region, depth)?;
        scope.close(region.values);
        Ok(())
    }

    /// The beginning of a region: its values, and the arguments of its one block. `None` if it is empty.
    fn region(&mut self, cursor: &mut Cursor<'a>, scope: &mut Scope) -> Result<Option<Region>, ImportError> {
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
        Ok(Some(Region { values, operations, arguments }))
    }

    fn argument(&mut self, cursor: &mut Cursor<'a>, scope: &mut Scope) -> Result<Argument, ImportError> {
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
            String::new()
        };
        let name = self.names;
        self.names += 1;
        scope.define(name, 0, &place)?;
        Ok(Argument { name, ty: self.file.type_at(&place, ty)?, location })
    }

    /// ` loc("name")`, or an empty string if a location has no name.
    fn location(&self, place: &Cursor<'a>, i: usize) -> Result<String, ImportError> {
        Ok(match self.file.attribute(place, i)? {
            Attribute::Named(name) => format!(" loc({})", quoted(name)),
            _ => String::new(),
        })
    }
}

struct Region {
    values: usize,
    operations: usize,
    arguments: Vec<Argument>,
}

struct Argument {
    name: u32,
    ty: String,
    location: String,
}

/// `%5` or `%5#1`.
fn value(name: u32, result: u32) -> String {
    if result == 0 { format!("%{name}") } else { format!("%{name}#{result}") }
}

/// Attributes of the dictionary whose number comes next, by name.
fn pairs<'a>(file: &File<'a>, cursor: &mut Cursor<'a>) -> Result<Named<'a>, ImportError> {
    let place = *cursor;
    let i = file.attribute_index(cursor)?;
    let Attribute::Dictionary(found) = file.attribute(&place, i)? else {
        return Err(place.error(refuse!("the attributes of an operation are not a dictionary")));
    };
    let mut named = Named::with_capacity(found.len());
    for (name, value) in found {
        if let Attribute::Text(name) = file.attribute(&place, name)? {
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
    named: &mut Named<'a>,
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
