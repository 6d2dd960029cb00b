//! Statements.

use super::ast::{SyntaxStmt, SyntaxStmtKind};
use super::cursor::Cursor;
use super::declarations::{attributes, declarators};
use super::expressions::expression;
use super::lexer::TokenKind;
use super::templates::{typedef, using};
use super::type_names::{starts_type, type_name};
use crate::problem::Diagnostic;

/// `{ ... }`. Fails when a brace is missing, or the errors of a statement.
pub(crate) fn block(c: &mut Cursor) -> Result<Vec<SyntaxStmt>, Diagnostic> {
    c.expect("{", "before the statements")?;
    let mut found = Vec::new();
    while !c.accept("}") {
        if *c.here() == TokenKind::End {
            return Err(c.expected("'}' at the end of the block"));
        }
        found.push(statement(c)?);
    }
    Ok(found)
}

fn statement(c: &mut Cursor) -> Result<SyntaxStmt, Diagnostic> {
    c.nested(statement_here)
}

fn statement_here(c: &mut Cursor) -> Result<SyntaxStmt, Diagnostic> {
    attributes(c)?;
    let pos = c.pos();
    let word = match c.here() {
        TokenKind::Word(w) => w.clone(),
        _ => String::new(),
    };
    let kind = match word.as_str() {
        "if" => if_statement(c)?,
        "while" => {
            c.next();
            let condition = condition(c)?;
            SyntaxStmtKind::While { condition, body: Box::new(statement(c)?) }
        }
        "do" => {
            c.next();
            let body = Box::new(statement(c)?);
            if !c.accept_word("while") {
                return Err(c.expected("'while' after the body of do"));
            }
            let condition = condition(c)?;
            c.expect(";", "after do ... while (...)")?;
            SyntaxStmtKind::DoWhile { body, condition }
        }
        "for" => for_statement(c)?,
        "break" | "continue" => {
            c.next();
            c.expect(";", &format!("after {word}"))?;
            if word == "break" { SyntaxStmtKind::Break } else { SyntaxStmtKind::Continue }
        }
        "return" => {
            c.next();
            let value = if c.is(";") { None } else { Some(expression(c)?) };
            c.expect(";", "after return")?;
            SyntaxStmtKind::Return(value)
        }
        "using" => {
            using(c)?;
            SyntaxStmtKind::Empty
        }
        "typedef" => {
            typedef(c)?;
            SyntaxStmtKind::Empty
        }
        _ if c.is("{") => SyntaxStmtKind::Block(block(c)?),
        _ if c.accept(";") => SyntaxStmtKind::Empty,
        _ => {
            refuse(c, &word)?;
            simple(c)?
        }
    };
    Ok(SyntaxStmt { pos, kind })
}

fn refuse(c: &Cursor, word: &str) -> Result<(), Diagnostic> {
    let instead = match word {
        "switch" | "case" | "default" => "write if (...) ... else if (...) ...",
        "goto" => "write a loop with break or continue",
        "try" | "throw" | "catch" => "the processors have no exceptions; test for the case and return",
        "new" | "delete" => "allocate with torch::neuron::tcm_malloc() and free with tcm_free()",
        "struct" | "class" | "union" | "enum" => "use variables and arrays of numbers",
        "asm" | "__asm__" => "write it in C++",
        _ => return Ok(()),
    };
    Err(c.not_supported(&format!("'{word}'"), instead))
}

/// A declaration or an expression, with its semicolon.
fn simple(c: &mut Cursor) -> Result<SyntaxStmtKind, Diagnostic> {
    let kind = if starts_type(c, 0) && !is_function_style_cast(c) {
        let ty = type_name(c)?;
        SyntaxStmtKind::Declare(declarators(c, ty, None)?)
    } else {
        if let (TokenKind::Word(_), TokenKind::Word(_)) = (c.here(), c.ahead(1)) {
            // `std::vector<float> v` and similar: the type's error says what is wrong.
            type_name(c)?;
        }
        SyntaxStmtKind::Expr(expression(c)?)
    };
    c.expect(";", "after the statement")?;
    Ok(kind)
}

/// `float(x);` as a statement.
fn is_function_style_cast(c: &Cursor) -> bool {
    c.is_ahead(1, "(")
}

fn condition(c: &mut Cursor) -> Result<super::ast::SyntaxExpr, Diagnostic> {
    c.expect("(", "before the condition")?;
    if starts_type(c, 0) && !c.is_ahead(1, "(") {
        return Err(c.not_supported("a declaration in a condition", "declare the variable in the line above"));
    }
    let found = expression(c)?;
    c.expect(")", "after the condition")?;
    Ok(found)
}

fn if_statement(c: &mut Cursor) -> Result<SyntaxStmtKind, Diagnostic> {
    c.next();
    c.accept_word("constexpr");
    let condition = condition(c)?;
    let then = Box::new(statement(c)?);
    let otherwise = if c.accept_word("else") { Some(Box::new(statement(c)?)) } else { None };
    Ok(SyntaxStmtKind::If { condition, then, otherwise })
}

fn for_statement(c: &mut Cursor) -> Result<SyntaxStmtKind, Diagnostic> {
    c.next();
    c.expect("(", "after for")?;
    let pos = c.pos();
    let init = if c.accept(";") {
        SyntaxStmtKind::Empty
    } else {
        let mark = c.mark();
        if starts_type(c, 0) && !is_function_style_cast(c) {
            type_name(c)?;
            if matches!(c.here(), TokenKind::Word(_)) && c.is_ahead(1, ":") {
                return Err(c.not_supported("a range-based for", "write for (size_t i = 0; i < n; i++)"));
            }
            c.reset(mark);
        }
        simple(c)?
    };
    let condition = if c.is(";") { None } else { Some(expression(c)?) };
    c.expect(";", "after the condition of for")?;
    let step = if c.is(")") { None } else { Some(expression(c)?) };
    c.expect(")", "after for (...; ...; ...")?;
    let body = Box::new(statement(c)?);
    Ok(SyntaxStmtKind::For { init: Box::new(SyntaxStmt { pos, kind: init }), condition, step, body })
}
