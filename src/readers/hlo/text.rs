//! HLO text: with `%` and operand types as torch_xla and TensorFlow print it, without both as JAX does, and with tables of source
//! lines as compiled modules have.

use super::raw::{RawComputation, RawInstruction, RawModule, Settings};
use super::text_settings::{Callee, apply};
use super::text_types::{read_literal, read_type};
use crate::lexer::{Lexer, Token, TokenKind, unescaped};
use ns_base::convert::usize_to_u32;
use ns_base::{FxHashMap, Refusal, refuse};
use ns_program::{ImportError, Place};

pub(super) fn read_module(source: &str) -> Result<RawModule, ImportError> {
    let mut lexer = Lexer::new(source);
    let first = lexer.next();
    if !first.is_word("HloModule") {
        return Err(refuse_other_form(&mut lexer, first));
    }
    let name = lexer.next();
    let is_scheduled = skip_header(&mut lexer)?;
    let mut reader = Reader::default();
    loop {
        let token = lexer.peek();
        match token.kind {
            TokenKind::End => break,
            TokenKind::Word
                if matches!(token.text, "FileNames" | "FunctionNames" | "FileLocations" | "StackFrames") =>
            {
                skip_table(&mut lexer);
            }
            _ => reader.computation(&mut lexer)?,
        }
    }
    reader.module(&lexer, name.bare_name(), is_scheduled)
}

/// The error for a text that is not HLO text: it says which other texts of the module can be read.
fn refuse_other_form(lexer: &mut Lexer<'_>, first: Token<'_>) -> ImportError {
    let form = match first.kind {
        TokenKind::Word if lexer.peek().is(':') => "text",
        TokenKind::Sign('{') if lexer.peek().kind == TokenKind::Text => "JSON",
        _ => return lexer.unexpected(first, "HloModule"),
    };
    ImportError::from(refuse!(
        instead = "give the HloModuleProto itself (LoweringContext.hlo()), or HLO text",
        "the file is the {form} form of the protocol buffer, not HLO text"
    ))
}

/// Skips the rest of the header's line; returns whether it says that the module is scheduled.
fn skip_header(lexer: &mut Lexer<'_>) -> Result<bool, ImportError> {
    let mut is_scheduled = false;
    while !lexer.peek().is_first_on_line {
        if lexer.peek().is('{') {
            lexer.group()?;
        } else {
            is_scheduled |= lexer.next().is_word("is_scheduled") && lexer.take('=') && lexer.take_word("true");
        }
    }
    Ok(is_scheduled)
}

/// Skips a table, whose lines begin with numbers.
fn skip_table(lexer: &mut Lexer<'_>) {
    lexer.next();
    loop {
        let token = lexer.peek();
        let is_row = token.kind == TokenKind::Word && token.text.bytes().all(|b| b.is_ascii_digit());
        if token.kind == TokenKind::End || token.is_first_on_line && !is_row {
            return;
        }
        lexer.next();
    }
}

/// The name and the place of a called computation.
struct Call {
    computation: usize,
    instruction: usize,
    name: String,
    at: usize,
}

/// Computations read so far.
#[derive(Default)]
struct Reader {
    computations: Vec<RawComputation>,
    by_name: FxHashMap<String, usize>,
    entry: Option<usize>,
    calls: Vec<Call>,
}

impl Reader {
    fn computation(&mut self, lexer: &mut Lexer<'_>) -> Result<(), ImportError> {
        let is_entry = lexer.take_word("ENTRY");
        let name = name_of(lexer, "a computation's name")?;
        if lexer.peek().is('(') {
            lexer.group()?;
            lexer.expect_kind(TokenKind::Arrow, "`->` of a signature")?;
            read_type(lexer)?;
        }
        while !lexer.peek().is('{') && !lexer.peek().is_first_on_line {
            lexer.next();
        }
        lexer.expect('{', "a computation")?;
        let number = self.computations.len();
        let body = self.body(lexer, number, name)?;
        while !lexer.peek().is_first_on_line {
            lexer.next();
        }
        if self.by_name.insert(name.bare_name().to_owned(), number).is_some() {
            return Err(error_at(
                lexer,
                name.start,
                refuse!("there are two computations {:?}", name_start(name.bare_name())),
            ));
        }
        if is_entry {
            self.entry = Some(number);
        }
        self.computations.push(body);
        Ok(())
    }

    fn body(&mut self, lexer: &mut Lexer<'_>, number: usize, name: Token<'_>) -> Result<RawComputation, ImportError> {
        let mut instructions: Vec<RawInstruction> = Vec::new();
        let mut by_name: FxHashMap<&str, u32> = FxHashMap::default();
        let mut root = None;
        while !lexer.take('}') {
            if lexer.take_word("ROOT") {
                root = Some(instructions.len());
            }
            let name = name_of(lexer, "an instruction's name")?;
            let (instruction, callees) = read_instruction(lexer, name, &by_name)?;
            for Callee { name, at } in callees {
                self.calls.push(Call { computation: number, instruction: instructions.len(), name, at });
            }
            if by_name.insert(name.bare_name(), usize_to_u32(instructions.len())).is_some() {
                let twice = refuse!("there are two instructions {:?}", name_start(name.bare_name()));
                return Err(error_at(lexer, name.start, twice));
            }
            instructions.push(instruction);
        }
        if instructions.is_empty() {
            let empty = refuse!("the computation {:?} is empty", name_start(name.bare_name()));
            return Err(error_at(lexer, name.start, empty));
        }
        let root = root.unwrap_or(instructions.len() - 1);
        Ok(RawComputation { name: name.bare_name().to_owned(), instructions, root })
    }

    fn module(mut self, lexer: &Lexer<'_>, name: &str, is_scheduled: bool) -> Result<RawModule, ImportError> {
        for call in std::mem::take(&mut self.calls) {
            let Some(&callee) = self.by_name.get(&call.name) else {
                let missing = refuse!("a computation {:?} is called and not defined", name_start(&call.name));
                return Err(error_at(lexer, call.at, missing));
            };
            self.computations[call.computation].instructions[call.instruction].called.push(callee);
        }
        let only = (self.computations.len() == 1).then_some(0);
        let Some(entry) = self.entry.or(only) else {
            let none = refuse!(instead = "copy the whole text", "the module has no ENTRY computation");
            return Err(none.into());
        };
        Ok(RawModule { name: name.to_owned(), computations: self.computations, entry, is_scheduled })
    }
}

/// An error at an offset of the text.
pub(super) fn error_at(lexer: &Lexer<'_>, at: usize, error: Refusal) -> ImportError {
    lexer.error_at(at, error.advise("export the text again; it must not be edited by hand"))
}

/// The first characters of a name, for a message.
fn name_start(name: &str) -> String {
    name.chars().take(80).collect()
}

fn name_of<'a>(lexer: &mut Lexer<'a>, part: &'static str) -> Result<Token<'a>, ImportError> {
    let token = lexer.next();
    let is_name = token.kind == TokenKind::Word || token.kind == TokenKind::Name && token.text.starts_with('%');
    if is_name { Ok(token) } else { Err(lexer.unexpected(token, part)) }
}

/// Reads `= type opcode(operands), settings` of an instruction.
fn read_instruction<'a>(
    lexer: &mut Lexer<'a>,
    name: Token<'a>,
    by_name: &FxHashMap<&'a str, u32>,
) -> Result<(RawInstruction, Vec<Callee>), ImportError> {
    lexer.expect('=', "an instruction")?;
    let (ty, is_row_major) = read_type(lexer)?;
    let opcode = lexer.expect_kind(TokenKind::Word, "an opcode")?;
    let mut instruction = RawInstruction {
        name: name.bare_name().to_owned(),
        opcode: opcode.text.to_owned(),
        ty,
        is_row_major,
        operands: Vec::new(),
        called: Vec::new(),
        settings: Settings::default(),
        op_type: String::new(),
        op_name: String::new(),
        place: place_of_name(name),
    };
    lexer.expect('(', "operands")?;
    match opcode.text {
        "constant" => {
            instruction.settings.literal = Some(read_literal(lexer, &instruction.ty)?);
            lexer.expect(')', "a constant")?;
        }
        "parameter" => {
            let number = lexer.next();
            let parsed = number.text.parse().ok().filter(|&n: &i64| n >= 0);
            instruction.settings.parameter =
                Some(parsed.ok_or_else(|| lexer.unexpected(number, "a parameter's number"))?);
            lexer.expect(')', "a parameter")?;
        }
        _ => instruction.operands = read_operands(lexer, by_name)?,
    }
    let callees = read_settings(lexer, &mut instruction)?;
    Ok((instruction, callees))
}

fn place_of_name(name: Token<'_>) -> Place {
    Place::Node(name_start(name.bare_name()))
}

/// Reads operands, with or without a type in front of each, up to the closing parenthesis.
fn read_operands<'a>(lexer: &mut Lexer<'a>, by_name: &FxHashMap<&'a str, u32>) -> Result<Vec<u32>, ImportError> {
    let mut operands = Vec::new();
    while !lexer.take(')') {
        let token = lexer.peek();
        let is_type = token.is('(')
            || token.kind == TokenKind::Word && {
                let mut ahead = lexer.clone();
                ahead.next();
                ahead.peek().is('[')
            };
        if is_type {
            read_type(lexer)?;
        }
        let name = name_of(lexer, "an operand")?;
        let Some(&operand) = by_name.get(name.bare_name()) else {
            let missing = refuse!("the operand {:?} is not defined before it is read", name_start(name.text));
            return Err(error_at(lexer, name.start, missing));
        };
        operands.push(operand);
        if !lexer.take(',') && !lexer.peek().is(')') {
            let next = lexer.next();
            return Err(lexer.unexpected(next, "`,` or `)` of operands"));
        }
    }
    Ok(operands)
}

/// Reads `, key=value, key=value` to the end of the instruction; returns the computations that it calls.
fn read_settings(lexer: &mut Lexer<'_>, instruction: &mut RawInstruction) -> Result<Vec<Callee>, ImportError> {
    let mut callees = Vec::new();
    while lexer.take(',') {
        let key = lexer.expect_kind(TokenKind::Word, "a setting's name")?;
        lexer.expect('=', "a setting")?;
        let (value, at) = read_value(lexer)?;
        if key.text == "metadata" {
            (instruction.op_type, instruction.op_name) = metadata(value);
            continue;
        }
        let is_understood = apply(&mut instruction.settings, &instruction.opcode, (key.text, value, at), &mut callees);
        if !is_understood {
            let wrong = refuse!("{} of {} is not {:?}", key.text, instruction.opcode, name_start(value));
            return Err(error_at(lexer, at, wrong));
        }
    }
    Ok(callees)
}

/// The text of a setting's value: everything up to the comma or the line's end outside brackets.
fn read_value<'a>(lexer: &mut Lexer<'a>) -> Result<(&'a str, usize), ImportError> {
    let start = lexer.peek().start;
    let mut end = start;
    loop {
        let token = lexer.peek();
        let is_over = token.kind == TokenKind::End || token.is(',') || token.is('}') || token.is(')');
        if is_over || end > start && token.is_first_on_line {
            return Ok((&lexer.source()[start..end], start));
        }
        end = match token.kind {
            TokenKind::Sign('{' | '(' | '[') => token.start + lexer.group()?.len(),
            _ => lexer.next().end,
        };
    }
}

/// `op_type` and `op_name` of `{op_type=".." op_name=".." source_line=3}`.
fn metadata(text: &str) -> (String, String) {
    let mut lexer = Lexer::new(text.trim_matches(['{', '}']));
    let (mut op_type, mut op_name) = (String::new(), String::new());
    loop {
        let token = lexer.next();
        match token.text {
            _ if token.kind == TokenKind::End => return (op_type, op_name),
            "op_type" if token.kind == TokenKind::Word && lexer.take('=') => op_type = unescaped(lexer.next().text),
            "op_name" if token.kind == TokenKind::Word && lexer.take('=') => op_name = unescaped(lexer.next().text),
            _ => {}
        }
    }
}
