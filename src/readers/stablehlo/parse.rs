//! Reads the text of a module. One reader handles the generic form of every operation and the short forms of StableHLO and CHLO:
//! between an operation's name and the colon of its types there are operands, words and attributes in some order.

use super::locations::{read_alias, read_location};
use super::parts::read_parts;
use super::syntax::{Function, Location, MlirArgument, Module, Name, OpenType, Operation, Region};
use super::types::read_type;
use crate::lexer::{Lexer, TokenKind};
use ns_base::{Refusal, refuse};
use ns_program::ImportError;

/// What to do about a text that contradicts itself.
pub(super) const NOT_EDITED: &str = "export the text again; it must not be edited by hand";

/// The operation whose region is what one of several devices computes.
pub(super) const MANUAL: &str = "sdy.manual_computation";

/// The error for a module that is divided over devices.
pub(super) fn several_devices() -> Refusal {
    refuse!(
        instead = "export the model for one device, without a mesh",
        "{MANUAL}: the module is divided over several devices"
    )
}

/// Most levels of nested regions.
const MOST_NESTING: u32 = 64;

pub(super) fn read_module(source: &str) -> Result<Module<'_>, ImportError> {
    let mut lexer = Lexer::with_angles(source);
    let is_open = ["tensor<?", "x?x", "jax.global_constant"].iter().any(|sign| source.contains(sign));
    let mut module = Module { is_open, ..Module::default() };
    let mut depth = 0u32;
    loop {
        let token = lexer.peek();
        match (token.kind, token.text) {
            (TokenKind::End, _) if depth > 0 => return Err(lexer.unexpected(token, "`}` of the module")),
            (TokenKind::End, _) => return Ok(module),
            (TokenKind::Name, name) if name.starts_with('#') => read_alias(&mut lexer, &mut module)?,
            (TokenKind::Word, "module" | "builtin.module") => {
                lexer.next();
                depth += 1;
                read_module_header(&mut lexer, &mut module)?;
            }
            (TokenKind::Word, "func.func" | "func") => {
                let function = read_function(&mut lexer, &mut module)?;
                module.functions.push(function);
            }
            (TokenKind::Text, _) => {
                let operation = read_operation(&mut lexer, &mut module, MOST_NESTING)?;
                take_generic(&lexer, &mut module, operation)?;
            }
            (TokenKind::Word, name) if name.starts_with("sdy.mesh") => {
                module.meshes += 1;
                skip_line(&mut lexer)?;
            }
            (TokenKind::Sign('}'), _) if depth > 0 => {
                lexer.next();
                depth -= 1;
                read_location(&mut lexer, &mut module)?;
            }
            (TokenKind::Name, name) if name.starts_with('!') => skip_line(&mut lexer)?,
            (TokenKind::Sign('{'), _) if lexer.source()[token.start..].starts_with("{-#") => return Ok(module),
            _ => return Err(lexer.unexpected(token, "a function of the module")),
        }
    }
}

/// Takes a module, or a part of one, in the generic form: `"func.func"() ({..}) {sym_name = "main"}`.
fn take_generic<'a>(
    lexer: &Lexer<'a>,
    module: &mut Module<'a>,
    mut operation: Operation<'a>,
) -> Result<(), ImportError> {
    match operation.name.as_str() {
        "builtin.module" => {
            module.name = operation.text("sym_name").unwrap_or_default();
            module.has_partitions |= operation.attribute("mhlo.num_partitions").is_some();
            let parts = operation.regions.into_iter().flat_map(|region| region.body);
            return parts.into_iter().try_for_each(|part| take_generic(lexer, module, part));
        }
        "func.func" => {
            let name = operation.text("sym_name").unwrap_or_default();
            let body = operation.regions.pop().unwrap_or_default();
            module.functions.push(Function { name, body, at: operation.at });
        }
        "sdy.mesh" => module.meshes += 1,
        other => {
            let found = refuse!(instead = NOT_EDITED, "{other:?} where a function of the module should be");
            return Err(lexer.error_at(operation.at, found));
        }
    }
    Ok(())
}

/// Skips the rest of a line and the groups in it.
fn skip_line(lexer: &mut Lexer<'_>) -> Result<(), ImportError> {
    lexer.next();
    while !lexer.peek().is_first_on_line {
        lexer.group()?;
    }
    Ok(())
}

fn read_module_header<'a>(lexer: &mut Lexer<'a>, module: &mut Module<'a>) -> Result<(), ImportError> {
    if lexer.peek().kind == TokenKind::Name {
        module.name = lexer.next().bare_name();
    }
    if lexer.take_word("attributes") {
        module.has_partitions = lexer.group()?.contains("mhlo.num_partitions");
    }
    lexer.expect('{', "the module")?;
    Ok(())
}

fn read_function<'a>(lexer: &mut Lexer<'a>, module: &mut Module<'a>) -> Result<Function<'a>, ImportError> {
    let at = lexer.next().start;
    while lexer.peek().kind == TokenKind::Word {
        lexer.next();
    }
    let name = lexer.expect_kind(TokenKind::Name, "a function's name")?.bare_name();
    let arguments = read_arguments(lexer, module)?;
    if lexer.peek().kind == TokenKind::Arrow {
        lexer.next();
        if lexer.take('(') {
            while !lexer.take(')') {
                read_type(lexer)?;
                read_argument_attributes(lexer, module)?;
                lexer.take(',');
            }
        } else {
            read_type(lexer)?;
        }
    }
    if lexer.take_word("attributes") {
        lexer.group()?;
    }
    let body = if lexer.take('{') { read_body(lexer, module, MOST_NESTING)? } else { Vec::new() };
    read_location(lexer, module)?;
    Ok(Function { name, body: Region { arguments, body }, at })
}

/// Attributes of an argument or a result; only the name of an open dimension is used: `jax.global_constant = "batch"`.
fn read_argument_attributes<'a>(
    lexer: &mut Lexer<'a>,
    module: &mut Module<'a>,
) -> Result<Option<&'a str>, ImportError> {
    if !lexer.peek().is('{') {
        return Ok(None);
    }
    let group = lexer.group()?;
    let name = group.split_once("jax.global_constant = \"").and_then(|(_, rest)| rest.split('"').next());
    let name = name.filter(|name| !name.is_empty());
    module.name_dimension(name);
    Ok(name)
}

/// `(%arg0: tensor<4xf32> {attributes} loc("name"), ...)`.
fn read_arguments<'a>(lexer: &mut Lexer<'a>, module: &mut Module<'a>) -> Result<Vec<MlirArgument<'a>>, ImportError> {
    lexer.expect('(', "arguments")?;
    let mut arguments = Vec::new();
    while !lexer.take(')') {
        let name = lexer.expect_kind(TokenKind::Name, "an argument")?;
        lexer.expect(':', "an argument")?;
        let ty = read_type(lexer)?;
        let constant = read_argument_attributes(lexer, module)?;
        let location = read_location(lexer, module)?;
        arguments.push(MlirArgument::new(Name::Text(name.text), ty, constant, location));
        if !lexer.take(',') && !lexer.peek().is(')') {
            let token = lexer.next();
            return Err(lexer.unexpected(token, "`,` or `)` of arguments"));
        }
    }
    Ok(arguments)
}

/// Operations up to the closing brace.
fn read_body<'a>(
    lexer: &mut Lexer<'a>,
    module: &mut Module<'a>,
    depth: u32,
) -> Result<Vec<Operation<'a>>, ImportError> {
    let mut body = Vec::new();
    while !lexer.take('}') {
        body.push(read_operation(lexer, module, depth)?);
    }
    Ok(body)
}

fn read_operation<'a>(
    lexer: &mut Lexer<'a>,
    module: &mut Module<'a>,
    depth: u32,
) -> Result<Operation<'a>, ImportError> {
    let Some(depth) = depth.checked_sub(1) else {
        let at = lexer.peek().start;
        let fewer = "export a model with fewer loops inside loops";
        return Err(lexer.error_at(at, refuse!(instead = fewer, "regions nest too deep")));
    };
    let mut results = Vec::new();
    while lexer.peek().kind == TokenKind::Name {
        let name = lexer.next();
        let mut count = 1;
        if lexer.take(':') {
            let token = lexer.expect_kind(TokenKind::Word, "a number of results")?;
            count = token
                .text
                .parse()
                .ok()
                .filter(|&n: &u32| n <= 100_000)
                .ok_or_else(|| lexer.unexpected(token, "a number"))?;
        }
        results.push((Name::Text(name.text), count));
        if !lexer.take(',') {
            lexer.expect('=', "an operation")?;
            break;
        }
    }
    let name = lexer.next();
    if !matches!(name.kind, TokenKind::Word | TokenKind::Text) {
        return Err(lexer.unexpected(name, "an operation"));
    }
    if name.text.trim_matches('"') == MANUAL {
        return Err(lexer.error_at(name.start, several_devices()));
    }
    let mut operation = Operation {
        name: full_name(name.text),
        results,
        operands: Vec::new(),
        attributes: Vec::new(),
        words: Vec::new(),
        regions: Vec::new(),
        types: Vec::new(),
        location: Location::None,
        at: name.start,
    };
    let names = read_parts(lexer, module, &mut operation, depth)?;
    if lexer.take(':') {
        read_types(lexer, &mut operation)?;
    }
    read_regions_after_types(lexer, module, &mut operation, &names, depth)?;
    operation.location = read_location(lexer, module)?;
    Ok(operation)
}

/// The name with its dialect: short forms omit `func.`.
fn full_name(name: &str) -> String {
    match name {
        "return" | "call" => format!("func.{name}"),
        _ => name.to_owned(),
    }
}

/// `{..}, {..})` of the generic form.
pub(super) fn read_regions<'a>(
    lexer: &mut Lexer<'a>,
    module: &mut Module<'a>,
    operation: &mut Operation<'a>,
    depth: u32,
) -> Result<(), ImportError> {
    while lexer.take('{') {
        operation.regions.push(read_region(lexer, module, depth)?);
        lexer.take(',');
    }
    lexer.expect(')', "regions")?;
    Ok(())
}

/// A region after its opening brace, with or without a block's name and arguments.
fn read_region<'a>(lexer: &mut Lexer<'a>, module: &mut Module<'a>, depth: u32) -> Result<Region<'a>, ImportError> {
    let mut arguments = Vec::new();
    if lexer.peek().kind == TokenKind::Name && lexer.peek().text.starts_with('^') {
        lexer.next();
        if lexer.peek().is('(') {
            arguments = read_arguments(lexer, module)?;
        }
        lexer.expect(':', "a block")?;
    }
    Ok(Region { arguments, body: read_body(lexer, module, depth)? })
}

/// Types after the colon; those of the results are kept.
fn read_types(lexer: &mut Lexer<'_>, operation: &mut Operation<'_>) -> Result<(), ImportError> {
    let listed = read_type_list(lexer)?;
    let results = if lexer.peek().kind == TokenKind::Arrow {
        lexer.next();
        read_type_list(lexer)?
    } else {
        // Without an arrow the result types come last: `: tensor<i1>, tensor<f32>` of a select.
        let results: u32 = operation.results.iter().map(|(_, n)| *n).sum();
        let before = listed.len().saturating_sub(results as usize);
        listed.into_iter().skip(before).collect()
    };
    operation.types = results;
    Ok(())
}

fn read_type_list(lexer: &mut Lexer<'_>) -> Result<Vec<OpenType>, ImportError> {
    let mut types = Vec::new();
    if lexer.take('(') {
        while !lexer.take(')') {
            types.push(read_type(lexer)?);
            lexer.take(',');
        }
        return Ok(types);
    }
    loop {
        types.push(read_type(lexer)?);
        if !lexer.take(',') {
            return Ok(types);
        }
    }
}

/// Regions of the short forms: `cond {..} do {..}` of a loop, `reducer(..) (..) {..}` of a reduction.
fn read_regions_after_types<'a>(
    lexer: &mut Lexer<'a>,
    module: &mut Module<'a>,
    operation: &mut Operation<'a>,
    names: &[Name<'a>],
    depth: u32,
) -> Result<(), ImportError> {
    if operation.name.ends_with(".while") && operation.regions.is_empty() {
        if lexer.take_word("attributes") {
            lexer.group()?;
        }
        for word in ["cond", "do"] {
            if !lexer.take_word(word) {
                let token = lexer.next();
                return Err(lexer.unexpected(token, &format!("`{word}` of a loop")));
            }
            lexer.expect('{', "a loop")?;
            let mut region = read_region(lexer, module, depth)?;
            if region.arguments.is_empty() {
                let named = names.iter().zip(&operation.types);
                let argument =
                    |(name, ty): (&Name<'a>, &OpenType)| MlirArgument::new(*name, ty.clone(), None, Location::None);
                region.arguments = named.map(argument).collect();
            }
            operation.regions.push(region);
        }
    } else if lexer.take_word("reducer") {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        while lexer.peek().is('(') {
            let mut pair = read_arguments(lexer, module)?.into_iter();
            left.extend(pair.next());
            right.extend(pair.next());
        }
        left.extend(right);
        lexer.expect('{', "a reducer")?;
        operation.regions.push(Region { arguments: left, body: read_body(lexer, module, depth)? });
    }
    Ok(())
}

/// An error at a place of the text.
pub(super) fn error(source: &str, at: usize, error: Refusal) -> ImportError {
    Lexer::new(source).error_at(at, error.advise(NOT_EDITED))
}
