//! Parses tokens into a tree: classes, functions and statements.

use std::rc::Rc;

use ns_base::refuse;

use super::cursor::{Parser, Wrong};
use super::lexer::{ScriptToken, tokens};
use super::tree::{Class, Expression, ScriptFunction, SourceFile, Statement, StatementKind, Target};

/// Reads a file of source. Fails with the line, from 1, and what is wrong in it.
pub fn parse(source: &str) -> Result<SourceFile, Wrong> {
    let mut parser = Parser { tokens: tokens(source)?, at: 0, depth: 0 };
    let mut file = SourceFile::default();
    loop {
        match parser.peek() {
            ScriptToken::End => return Ok(file),
            ScriptToken::Line | ScriptToken::Indent | ScriptToken::Dedent => parser.at += 1,
            ScriptToken::Name(word) if word == "class" => file.classes.push(Rc::new(parser.class()?)),
            ScriptToken::Name(word) if word == "def" => file.functions.push(Rc::new(parser.function()?)),
            // Decorators and imports do not affect the computation.
            _ => parser.skip_line(),
        }
    }
}

impl Parser {
    /// `class NN(Module):` with its fields and methods.
    fn class(&mut self) -> Result<Class, Wrong> {
        self.take_word("class");
        let mut class = Class { name: self.name()?, ..Class::default() };
        while !matches!(self.peek(), ScriptToken::Line | ScriptToken::End) {
            self.at += 1;
        }
        self.at += 1;
        if !matches!(self.peek(), ScriptToken::Indent) {
            return Ok(class);
        }
        self.at += 1;
        loop {
            match self.peek() {
                ScriptToken::Dedent => {
                    self.at += 1;
                    return Ok(class);
                }
                ScriptToken::End => return Ok(class),
                ScriptToken::Name(word) if word == "def" => class.methods.push(Rc::new(self.function()?)),
                ScriptToken::Name(word) if word == "__parameters__" => class.parameters = self.names_of_fields()?,
                ScriptToken::Name(word) if word == "__buffers__" => class.buffers = self.names_of_fields()?,
                ScriptToken::Name(_) => self.field(&mut class)?,
                _ => self.skip_line(),
            }
        }
    }

    /// `__parameters__ = ["weight", "bias", ]`.
    fn names_of_fields(&mut self) -> Result<Vec<String>, Wrong> {
        self.at += 1;
        self.expect("=")?;
        let value = self.expression()?;
        self.skip_line();
        let Expression::List(items) = value else { return Ok(Vec::new()) };
        Ok(items.into_iter().filter_map(|i| if let Expression::Text(name) = i { Some(name) } else { None }).collect())
    }

    /// `weight : Tensor`, `out_features : Final[int] = 4`.
    fn field(&mut self, class: &mut Class) -> Result<(), Wrong> {
        let name = self.name()?;
        if self.take(":") {
            self.type_text(&["="]);
            if self.take("=") {
                let value = self.expression()?;
                class.constants.push((name, value));
            }
        }
        self.skip_line();
        Ok(())
    }

    /// A type as written, up to one of these signs outside its brackets or the end of the line.
    fn type_text(&mut self, ends: &[&str]) -> String {
        let (mut text, mut open) = (String::new(), 0usize);
        loop {
            match self.peek() {
                ScriptToken::Line | ScriptToken::End => return text,
                ScriptToken::Sign(sign) => {
                    if open == 0 && ends.contains(sign) {
                        return text;
                    }
                    match *sign {
                        "[" | "(" => open += 1,
                        "]" | ")" => open = open.saturating_sub(1),
                        _ => {}
                    }
                    text.push_str(sign);
                }
                ScriptToken::Name(word) => text.push_str(word),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// `def forward(self: T, x: Tensor) -> Tensor:` with its statements.
    fn function(&mut self) -> Result<ScriptFunction, Wrong> {
        self.take_word("def");
        let mut function = ScriptFunction { name: self.name()?, ..ScriptFunction::default() };
        self.expect("(")?;
        while !self.take(")") {
            self.take("*");
            if self.take(",") {
                continue;
            }
            let name = self.name()?;
            let text = if self.take(":") { self.type_text(&[",", ")", "="]) } else { String::new() };
            if self.take("=") {
                self.expression()?;
            }
            function.parameters.push((name, text));
            if !self.take(",") && !matches!(self.peek(), ScriptToken::Sign(")")) {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        if self.take("->") {
            self.type_text(&[":"]);
        }
        function.body = self.block()?;
        Ok(function)
    }

    /// `:` and the statements of a block.
    fn block(&mut self) -> Result<Vec<Statement>, Wrong> {
        self.deeper()?;
        self.expect(":")?;
        if !matches!(self.peek(), ScriptToken::Line) {
            let statement = self.statement()?;
            self.depth -= 1;
            return Ok(vec![statement]);
        }
        self.at += 1;
        if !matches!(self.peek(), ScriptToken::Indent) {
            return Err(self.unexpected("a block"));
        }
        self.at += 1;
        let mut statements = Vec::new();
        loop {
            match self.peek() {
                ScriptToken::Dedent => {
                    self.at += 1;
                    break;
                }
                ScriptToken::End => break,
                ScriptToken::Line => self.at += 1,
                _ => statements.push(self.statement()?),
            }
        }
        self.depth -= 1;
        Ok(statements)
    }

    fn statement(&mut self) -> Result<Statement, Wrong> {
        let line = self.line();
        let word = if let ScriptToken::Name(word) = self.peek() { word.clone() } else { String::new() };
        let kind = match word.as_str() {
            "if" => {
                self.at += 1;
                self.condition()?
            }
            "for" => {
                self.at += 1;
                let name = self.name()?;
                if !self.take_word("in") {
                    return Err(self.unexpected("`in`"));
                }
                let items = self.expression()?;
                StatementKind::For { name, items, body: self.block()? }
            }
            "while" => {
                self.at += 1;
                self.expression()?;
                self.block()?;
                StatementKind::While
            }
            "return" => {
                self.at += 1;
                let is_bare = matches!(self.peek(), ScriptToken::Line | ScriptToken::End);
                let value = if is_bare { Expression::None } else { self.expression_list()?.0 };
                self.skip_line();
                StatementKind::Return(value)
            }
            "pass" => {
                self.skip_line();
                StatementKind::Pass
            }
            "raise" | "assert" | "with" | "try" | "break" | "continue" | "del" | "global" | "def" | "class" => {
                self.skip_line();
                StatementKind::Other(word)
            }
            _ => self.assignment()?,
        };
        Ok(Statement { line, kind })
    }

    /// The text after `if` or `elif`.
    fn condition(&mut self) -> Result<StatementKind, Wrong> {
        self.deeper()?;
        let condition = self.expression()?;
        let then = self.block()?;
        let line = self.line();
        let otherwise = if self.take_word("elif") {
            vec![Statement { line, kind: self.condition()? }]
        } else if self.take_word("else") {
            self.block()?
        } else {
            Vec::new()
        };
        self.depth -= 1;
        Ok(StatementKind::If { condition, then, otherwise })
    }

    /// `a, b, = value`, `self.x = value`, or a single expression.
    fn assignment(&mut self) -> Result<StatementKind, Wrong> {
        let (left, has_comma) = self.expression_list()?;
        if self.take(":") {
            self.type_text(&["="]);
        }
        if !self.take("=") {
            if !matches!(self.peek(), ScriptToken::Line | ScriptToken::End) {
                return Err(self.unexpected("the end of the statement"));
            }
            self.skip_line();
            return Ok(StatementKind::Evaluate(left));
        }
        let line = self.line();
        let target = |e: Expression| match e {
            Expression::Name(name) => Ok(Target::Name(name)),
            Expression::Attribute(of, name) => Ok(Target::Attribute(*of, name)),
            _ => Err((line, refuse!("something other than a name or a field is assigned"))),
        };
        let targets = match left {
            Expression::Tuple(items) => items.into_iter().map(target).collect::<Result<Vec<_>, _>>()?,
            single => vec![target(single)?],
        };
        let value = self.expression_list()?.0;
        if !matches!(self.peek(), ScriptToken::Line | ScriptToken::End) {
            return Err(self.unexpected("the end of the statement"));
        }
        self.skip_line();
        Ok(StatementKind::Assign { targets, unpacks: has_comma, value })
    }
}

#[cfg(test)]
mod tests {
    use super::{Expression, StatementKind, parse};

    #[test]
    fn a_class_with_a_method() {
        let source = "class L(Module):\n  __parameters__ = [\"weight\", ]\n  __buffers__ = []\n  weight : Tensor\n  n : Final[int] = 4\n  \
                      def forward(self: __torch__.L,\n    x: Tensor) -> Tuple[Tensor, int]:\n    a, b, = (self.f).forward(x, -1, )\n    \
                      if b > 1 and not a:\n      c = 1\n    else:\n      c = 2.5e-1\n    return (a, c)\n";
        let file = parse(source).unwrap();
        let class = &file.classes[0];
        assert_eq!((class.name.as_str(), class.parameters.as_slice()), ("L", ["weight".to_owned()].as_slice()));
        assert_eq!(class.constants, [("n".to_owned(), Expression::Int(4))]);
        let forward = &class.methods[0];
        assert_eq!(forward.parameters[1], ("x".to_owned(), "Tensor".to_owned()));
        assert!(
            matches!(&forward.body[0].kind, StatementKind::Assign { targets, unpacks: true, .. } if targets.len() == 2)
        );
        assert!(matches!(&forward.body[1].kind, StatementKind::If { otherwise, .. } if otherwise.len() == 1));
        assert_eq!(forward.body[1].line, 9);
    }

    #[test]
    fn levels_without_end_are_refused() {
        for (open, close) in [("(", ")"), ("[", "]"), ("-", ""), ("not ", ""), ("f(", ")")] {
            let source = format!("def f():\n  return {}1{}\n", open.repeat(5000), close.repeat(5000));
            assert!(parse(&source).unwrap_err().1.to_string().contains("levels"), "{open}");
        }
        let long = format!("def f():\n  return x{}\n", ".a".repeat(5000));
        assert!(parse(&long).is_err());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert_eq!(
            parse("def f(x):\n  y = (1,\n").unwrap_err().1.to_string(),
            "a value is wanted and the end of the line is there"
        );
        assert_eq!(parse("def f(x):\n  y = 1 2\n").unwrap_err().0, 2);
        let no_name = "a name is wanted and the end of the line is there";
        assert_eq!(parse("class\n").unwrap_err(), (1, ns_base::Refusal::new(no_name)));
    }
}
