//! From the syntax tree to a program: resolves names to slots, finds types, and makes conversions explicit.

mod calls;
mod convert;
mod expressions;
mod math;
mod methods;
mod places;
mod scope;
mod statements;
mod tensor_functions;

use super::parse::ast::{self, BaseType, Item, TypeName};
use super::parse::parse;
use super::problem::{Diagnostic, Pos, Problem};
use super::program::{Expr, Function, Program};
use super::types::Type;
use scope::Scopes;

/// The declaration of a function, known before its body is checked.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub name: String,
    pub parameters: Vec<Type>,
    pub returns: Type,
}

/// State of checking one function.
pub(crate) struct Checker<'a> {
    pub signatures: &'a [Signature],
    pub constants: &'a [(String, Expr)],
    pub scopes: Scopes,
    pub returns: Type,
    pub loops: usize,
    /// Whether the function asks which processor runs it.
    pub divides: bool,
}

/// Reads and checks a source file. Fails with the first problem of the syntax, or the first problem of each function.
pub fn compile(source: &str) -> Result<Program, Vec<Diagnostic>> {
    check(parse(source).map_err(|d| vec![d])?)
}

/// Checks what was read. Fails as [`compile`].
pub(crate) fn check(items: Vec<Item>) -> Result<Program, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut functions: Vec<ast::SyntaxFunction> = Vec::new();
    let mut constants: Vec<(String, Expr)> = Vec::new();
    for item in items {
        match item {
            Item::Function(f) => functions.push(f),
            Item::Constant(d) => match statements::global_constant(&constants, &d) {
                Ok(value) => constants.push((d.name, value)),
                Err(problem) => problems.push(problem),
            },
        }
    }
    let mut signatures: Vec<Signature> = Vec::new();
    for f in &functions {
        match signature(f, &signatures) {
            Ok(s) => signatures.push(s),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut checked = Vec::new();
    for (f, s) in functions.iter().zip(&signatures) {
        match function(f, s, &signatures, &constants) {
            Ok(f) => checked.push(f),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(Program { functions: checked.into() }) } else { Err(problems) }
}

fn signature(f: &ast::SyntaxFunction, before: &[Signature]) -> Result<Signature, Diagnostic> {
    if before.iter().any(|s| s.name == f.name) {
        return Err(refusal(f.pos, &format!("a second function '{}'", f.name), "give it another name"));
    }
    let parameters = f.parameters.iter().map(|(ty, ..)| parameter_type(ty)).collect::<Result<_, _>>()?;
    let returns = match (f.returns.base, f.returns.pointer) {
        (BaseType::Void, false) => Type::Void,
        _ => parameter_type(&TypeName { constant: false, reference: false, ..f.returns })?,
    };
    Ok(Signature { name: f.name.clone(), parameters, returns })
}

/// The type of a parameter or a variable that is declared with a type.
pub(crate) fn written_type(ty: &TypeName) -> Result<Type, Diagnostic> {
    let refuse = |what: &str, instead: &str| Err(refusal(ty.pos, what, instead));
    match (ty.base, ty.pointer) {
        (BaseType::Scalar(s), false) => Ok(Type::Scalar(s)),
        (BaseType::Scalar(to), true) => Ok(Type::Pointer { to, constant: ty.constant }),
        (BaseType::Void, true) => Ok(Type::VoidPointer),
        (BaseType::Tensor, false) => Ok(Type::Tensor { constant: ty.constant }),
        (BaseType::IntArrayRef, false) => Ok(Type::Sizes),
        (BaseType::Void, false) => refuse("a value of type void", "give it a number type"),
        (BaseType::Auto, _) => refuse("auto", "write the type here"),
        (BaseType::Tensor | BaseType::IntArrayRef, true) => refuse("a pointer to a tensor", "pass torch::Tensor&"),
    }
}

fn parameter_type(ty: &TypeName) -> Result<Type, Diagnostic> {
    if ty.reference && matches!(ty.base, BaseType::Scalar(_)) && !ty.constant {
        return Err(refusal(ty.pos, "a reference to a number", "return the value, or pass a pointer"));
    }
    written_type(ty)
}

fn function(
    f: &ast::SyntaxFunction,
    signature: &Signature,
    signatures: &[Signature],
    constants: &[(String, Expr)],
) -> Result<Function, Diagnostic> {
    let mut checker =
        Checker { signatures, constants, scopes: Scopes::new(), returns: signature.returns, loops: 0, divides: false };
    for ((ty, name, pos), found) in f.parameters.iter().zip(&signature.parameters) {
        let constant = ty.constant && found.scalar().is_some();
        checker.scopes.declare(name, *pos, *found, constant, None)?;
    }
    let body = checker.block(&f.body)?;
    Ok(Function {
        name: f.name.clone(),
        pos: f.pos,
        parameters: signature.parameters.clone(),
        returns: signature.returns,
        slots: checker.scopes.slots(),
        divides: checker.divides,
        body,
    })
}

/// An error for a type that does not fit.
pub(crate) fn mismatch(pos: Pos, context: &str, expected: &str, found: Type) -> Diagnostic {
    Diagnostic::new(pos, Problem::error("type", format!("{context} needs {expected}, not {found}")))
}

/// An error for C++ outside the subset.
pub(crate) fn refusal(pos: Pos, what: &str, instead: &str) -> Diagnostic {
    Diagnostic::new(pos, Problem::not_supported(what, instead))
}
