//! Statements, declarations and constants.

use super::convert::{constant_of, to_bool, to_scalar, to_type};
use super::{Checker, mismatch, refusal, written_type};
use crate::parse::ast::{self, BaseType, Declarator, SyntaxExprKind as Syntax};
use crate::problem::{Diagnostic, Problem};
use crate::program::{Expr, Stmt, StmtKind};
use crate::types::{Scalar, Type};
use crate::value::Value;
use ns_base::convert::{i64_to_u64, u64_to_usize, usize_to_i64};

/// Most elements of an array on the stack: the size of the largest stack, in bytes.
const MAX_ARRAY: i64 = 400 * 1024;

/// A constant at the top of the file: a number known when the file is compiled. Fails when it is an array, not const, or its value
/// is not known.
pub(crate) fn global_constant(before: &[(String, Expr)], d: &Declarator) -> Result<Expr, Diagnostic> {
    if d.array.is_some() {
        return Err(refusal(d.pos, "an array outside a function", "declare it in the function that uses it"));
    }
    if !d.ty.constant {
        return Err(refusal(d.pos, "a global variable", "make it static constexpr, or pass it as an argument"));
    }
    let mut checker = Checker {
        signatures: &[],
        constants: before,
        scopes: super::Scopes::new(),
        returns: Type::Void,
        loops: 0,
        divides: false,
    };
    let Some(init) = &d.init else { return Err(no_value(d)) };
    let value = checker.expression(init)?;
    let value = match written_type(&d.ty) {
        Ok(ty) => to_type(value, ty, &format!("'{}'", d.name))?,
        Err(_) if d.ty.base == BaseType::Auto => value,
        Err(problem) => return Err(problem),
    };
    if constant_of(&value).is_none() {
        return Err(refusal(d.pos, "a constant whose value is not known ahead", "compute it inside the function"));
    }
    Ok(value)
}

fn no_value(d: &Declarator) -> Diagnostic {
    Diagnostic::new(d.pos, Problem::syntax("'=' and the constant's value", &format!("'{}'", d.name)))
}

impl Checker<'_> {
    /// The statements of a block; their names end with the block.
    pub(crate) fn block(&mut self, statements: &[ast::SyntaxStmt]) -> Result<Vec<Stmt>, Diagnostic> {
        self.scopes.open();
        let mut found = Vec::with_capacity(statements.len());
        for s in statements {
            self.statement(s, &mut found)?;
        }
        self.scopes.close();
        Ok(found)
    }

    /// One statement; its names end with it.
    fn single(&mut self, s: &ast::SyntaxStmt) -> Result<Stmt, Diagnostic> {
        let mut found = self.block(std::slice::from_ref(s))?;
        match found.pop() {
            Some(only) if found.is_empty() => Ok(only),
            Some(last) => {
                found.push(last);
                Ok(Stmt { pos: s.pos, kind: StmtKind::Block(found) })
            }
            None => Ok(Stmt { pos: s.pos, kind: StmtKind::Block(found) }),
        }
    }

    fn statement(&mut self, s: &ast::SyntaxStmt, out: &mut Vec<Stmt>) -> Result<(), Diagnostic> {
        let kind = match &s.kind {
            ast::SyntaxStmtKind::Empty => return Ok(()),
            ast::SyntaxStmtKind::Expr(e) => StmtKind::Expr(self.expression(e)?),
            ast::SyntaxStmtKind::Declare(all) => {
                for d in all {
                    let kind = self.declare(d)?;
                    out.push(Stmt { pos: d.pos, kind });
                }
                return Ok(());
            }
            ast::SyntaxStmtKind::Block(inner) => StmtKind::Block(self.block(inner)?),
            ast::SyntaxStmtKind::If { condition, then, otherwise } => StmtKind::If {
                condition: self.condition(condition)?,
                then: Box::new(self.single(then)?),
                otherwise: match otherwise {
                    Some(s) => Some(Box::new(self.single(s)?)),
                    None => None,
                },
            },
            ast::SyntaxStmtKind::While { condition, body } => {
                let condition = Some(self.condition(condition)?);
                StmtKind::Loop { init: None, condition, step: None, body: self.body(body)?, test_first: true }
            }
            ast::SyntaxStmtKind::DoWhile { body, condition } => {
                let body = self.body(body)?;
                let condition = Some(self.condition(condition)?);
                StmtKind::Loop { init: None, condition, step: None, body, test_first: false }
            }
            ast::SyntaxStmtKind::For { init, condition, step, body } => {
                self.scopes.open();
                let mut inits = Vec::new();
                self.statement(init, &mut inits)?;
                let condition = condition.as_ref().map(|e| self.condition(e)).transpose()?;
                let step = step.as_ref().map(|e| self.expression(e)).transpose()?;
                let body = self.body(body)?;
                self.scopes.close();
                let init = Some(Box::new(Stmt { pos: init.pos, kind: StmtKind::Block(inits) }));
                StmtKind::Loop { init, condition, step, body, test_first: true }
            }
            ast::SyntaxStmtKind::Break | ast::SyntaxStmtKind::Continue if self.loops == 0 => {
                return Err(refusal(s.pos, "break or continue outside a loop", "remove it"));
            }
            ast::SyntaxStmtKind::Break => StmtKind::Break,
            ast::SyntaxStmtKind::Continue => StmtKind::Continue,
            ast::SyntaxStmtKind::Return(value) => StmtKind::Return(self.returned(s, value.as_ref())?),
        };
        out.push(Stmt { pos: s.pos, kind });
        Ok(())
    }

    fn body(&mut self, s: &ast::SyntaxStmt) -> Result<Box<Stmt>, Diagnostic> {
        self.loops += 1;
        let body = self.single(s);
        self.loops -= 1;
        body.map(Box::new)
    }

    fn condition(&mut self, e: &ast::SyntaxExpr) -> Result<Expr, Diagnostic> {
        to_bool(self.expression(e)?)
    }

    fn returned(&mut self, s: &ast::SyntaxStmt, value: Option<&ast::SyntaxExpr>) -> Result<Option<Expr>, Diagnostic> {
        match (value, self.returns) {
            (None, Type::Void) => Ok(None),
            (None, want) => Err(mismatch(s.pos, "return", &want.to_string(), Type::Void)),
            (Some(e), Type::Void) => {
                Err(mismatch(e.pos, "return in a void function", "no value", self.expression(e)?.ty))
            }
            (Some(e), want) => Ok(Some(to_type(self.expression(e)?, want, "return")?)),
        }
    }

    fn declare(&mut self, d: &Declarator) -> Result<StmtKind, Diagnostic> {
        if d.array.is_some() {
            return self.declare_array(d);
        }
        let init = d.init.as_ref().map(|e| self.expression(e)).transpose()?;
        let context = format!("'{}'", d.name);
        let (ty, init) = if d.ty.base == BaseType::Auto {
            let Some(init) = init else {
                return Err(refusal(d.pos, "auto without a value", "give it a value or write its type"));
            };
            let init = match init.ty {
                Type::Array { of, .. } => to_type(init, Type::Pointer { to: of, constant: false }, &context)?,
                Type::Void | Type::Text => return Err(mismatch(d.pos, &context, "a value", init.ty)),
                _ => init,
            };
            (init.ty, Some(init))
        } else {
            let ty = written_type(&d.ty)?;
            (ty, init.map(|e| to_type(e, ty, &context)).transpose()?)
        };
        if init.is_none() && d.ty.constant && ty.scalar().is_some() {
            return Err(no_value(d));
        }
        let constant = d.ty.constant && ty.scalar().is_some();
        let known = init.as_ref().filter(|_| constant).and_then(constant_of);
        let slot = self.scopes.declare(&d.name, d.pos, ty, constant, known)?;
        Ok(StmtKind::Declare { slot, init })
    }

    fn declare_array(&mut self, d: &Declarator) -> Result<StmtKind, Diagnostic> {
        let BaseType::Scalar(of) = d.ty.base else {
            return Err(refusal(d.pos, "an array of anything but numbers", "use separate variables"));
        };
        let init = match &d.init {
            None => None,
            Some(ast::SyntaxExpr { kind: Syntax::List(items), .. }) => Some(self.items(items, of)?),
            Some(e) => return Err(refusal(e.pos, "an array from one value", "write the values in braces")),
        };
        let len = match (d.array.as_ref().and_then(Option::as_ref), &init) {
            (Some(length), _) => self.length(length)?,
            (None, Some(items)) => usize_to_i64(items.len()),
            (None, None) => {
                return Err(refusal(d.pos, "an array without a length", "write its length in the brackets"));
            }
        };
        if len <= 0 || len.saturating_mul(of.bytes().cast_signed()) > MAX_ARRAY {
            let what = format!("an array of {len} elements on the stack");
            return Err(refusal(
                d.pos,
                &what,
                "the stack holds at most 400 KiB; allocate with torch::neuron::tcm_malloc()",
            ));
        }
        if let Some(items) = init.as_ref().filter(|i| usize_to_i64(i.len()) > len) {
            let most = u64_to_usize(i64_to_u64(len));
            let problem = Problem::arguments(&format!("'{}'", d.name), most, items.len());
            return Err(Diagnostic::new(d.pos, problem));
        }
        let len = len.cast_unsigned();
        let slot = self.scopes.declare(&d.name, d.pos, Type::Array { of, len }, d.ty.constant, None)?;
        Ok(StmtKind::DeclareArray { slot, of, len, init })
    }

    fn items(&mut self, items: &[ast::SyntaxExpr], of: Scalar) -> Result<Vec<Expr>, Diagnostic> {
        items.iter().map(|e| to_scalar(self.expression(e)?, of, "an element of the array")).collect()
    }

    fn length(&mut self, e: &ast::SyntaxExpr) -> Result<i64, Diagnostic> {
        let checked = self.expression(e)?;
        if checked.ty.scalar().is_none_or(Scalar::is_float) {
            return Err(mismatch(e.pos, "the length of an array", "an integer", checked.ty));
        }
        match constant_of(&checked) {
            Some(Value::Int(n)) => Ok(n),
            _ => Err(refusal(
                e.pos,
                "an array whose length is not a constant",
                "write a static constexpr length, or allocate with torch::neuron::tcm_malloc()",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::compile;

    fn code(body: &str) -> String {
        let source = format!("float f(float x) {{ {body} return x; }}");
        compile(&source).map_or_else(|d| d[0].problem.code().to_owned(), |_| "fine".to_owned())
    }

    #[test]
    fn declarations_are_checked() {
        assert_eq!(code("int i = 0, j = i; float *p = nullptr, y = 1;"), "fine");
        assert_eq!(code("int i; int i;"), "redeclared");
        assert_eq!(code("int i; { int i; }"), "fine");
        assert_eq!(code("static constexpr size_t n = 4 * 8; float a[n]; float b[] = {1, 2, 3};"), "fine");
        assert_eq!(code("int n = 3; float a[n];"), "not_supported");
        assert_eq!(code("float a[2] = {1, 2, 3};"), "arguments");
        assert_eq!(code("auto x;"), "not_supported");
        assert_eq!(code("const int n;"), "syntax");
        assert_eq!(code("break;"), "not_supported");
        assert_eq!(code("return;"), "type");
        assert_eq!(code("float a[200000];"), "not_supported");
        assert_eq!(
            code("for (int i = 0; i < 3; i++) { continue; } while (x > 1) x /= 2; do { x++; } while (x < 0);"),
            "fine"
        );
    }

    #[test]
    fn constants_of_the_file_are_checked() {
        let source = "static constexpr int n = 2 + 3; const float half = 0.5f; float f() { float a[n]; a[0] = half; return a[0]; }";
        assert!(compile(source).is_ok());
        for (source, code) in [
            ("int n = 3;", "not_supported"),
            ("const float t[2] = {1, 2};", "not_supported"),
            ("constexpr int n = 1 / 0;", "divide_by_zero"),
            ("constexpr int n;", "syntax"),
        ] {
            assert_eq!(compile(source).unwrap_err()[0].problem.code(), code, "{source}");
        }
    }
}
