//! Expressions, by operator precedence.

use ns_base::refuse;

use super::cursor::{Parser, Wrong};
use super::lexer::ScriptToken;
use super::tree::{Expression, PythonOperator};

/// Arguments by position and by name.
type Arguments = (Vec<Expression>, Vec<(String, Expression)>);

impl Parser {
    /// One expression, or several separated by commas, which are a tuple; also returns whether there is a comma. Fails with the
    /// line and what is wrong.
    pub fn expression_list(&mut self) -> Result<(Expression, bool), Wrong> {
        let first = self.expression()?;
        if !matches!(self.peek(), ScriptToken::Sign(",")) {
            return Ok((first, false));
        }
        let mut items = vec![first];
        while self.take(",") {
            if matches!(self.peek(), ScriptToken::Line | ScriptToken::End | ScriptToken::Sign("=")) {
                break;
            }
            items.push(self.expression()?);
        }
        Ok((Expression::Tuple(items), true))
    }

    /// One expression. Fails with the line and what is wrong.
    pub fn expression(&mut self) -> Result<Expression, Wrong> {
        self.deeper()?;
        let value = self.binary(0)?;
        let value = if self.take_word("if") {
            let condition = self.binary(0)?;
            if !self.take_word("else") {
                return Err(self.unexpected("`else`"));
            }
            Expression::Choice(Box::new(condition), Box::new(value), Box::new(self.expression()?))
        } else {
            value
        };
        self.depth -= 1;
        Ok(value)
    }

    /// An expression whose operators have at least the precedence `least`.
    fn binary(&mut self, least: u8) -> Result<Expression, Wrong> {
        let mut left = self.operand()?;
        let mut count = 0;
        while let Some((operator, strength, words)) = self.operator() {
            if strength < least {
                break;
            }
            count += 1;
            self.check_chain(count)?;
            self.at += words;
            self.deeper()?;
            let right = self.binary(strength + 1)?;
            self.depth -= 1;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// The next operator, its precedence, and its number of tokens.
    fn operator(&self) -> Option<(PythonOperator, u8, usize)> {
        let is_word_behind =
            |word: &str| matches!(self.tokens.get(self.at + 1), Some((ScriptToken::Name(n), _)) if n == word);
        Some(match self.peek() {
            ScriptToken::Name(word) => match word.as_str() {
                "or" => (PythonOperator::Or, 1, 1),
                "and" => (PythonOperator::And, 2, 1),
                "is" if is_word_behind("not") => (PythonOperator::IsNot, 3, 2),
                "is" => (PythonOperator::Is, 3, 1),
                _ => return None,
            },
            ScriptToken::Sign(sign) => match *sign {
                "==" => (PythonOperator::Eq, 3, 1),
                "!=" => (PythonOperator::Ne, 3, 1),
                "<" => (PythonOperator::Lt, 3, 1),
                "<=" => (PythonOperator::Le, 3, 1),
                ">" => (PythonOperator::Gt, 3, 1),
                ">=" => (PythonOperator::Ge, 3, 1),
                "+" => (PythonOperator::Add, 4, 1),
                "-" => (PythonOperator::Sub, 4, 1),
                "*" => (PythonOperator::Mul, 5, 1),
                "/" => (PythonOperator::Div, 5, 1),
                "//" => (PythonOperator::FloorDiv, 5, 1),
                "%" => (PythonOperator::Remainder, 5, 1),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn operand(&mut self) -> Result<Expression, Wrong> {
        self.deeper()?;
        let value = if self.take("-") {
            match self.peek().clone() {
                ScriptToken::Number(text) => {
                    self.at += 1;
                    number(&format!("-{text}"), self.line())?
                }
                _ => Expression::Minus(Box::new(self.operand()?)),
            }
        } else if self.take_word("not") {
            Expression::Not(Box::new(self.binary(3)?))
        } else {
            self.postfix()?
        };
        self.depth -= 1;
        Ok(value)
    }

    /// A value with the calls, fields and indices after it.
    fn postfix(&mut self) -> Result<Expression, Wrong> {
        let mut value = self.atom()?;
        let mut count = 0;
        loop {
            count += 1;
            self.check_chain(count)?;
            if self.take(".") {
                value = Expression::Attribute(Box::new(value), self.name()?);
            } else if self.take("(") {
                let (arguments, named) = self.arguments()?;
                value = Expression::Call { callee: Box::new(value), arguments, named };
            } else if self.take("[") {
                let place = self.expression_list()?.0;
                self.expect("]")?;
                value = Expression::Item(Box::new(value), Box::new(place));
            } else {
                return Ok(value);
            }
        }
    }

    /// Arguments up to the closing bracket.
    fn arguments(&mut self) -> Result<Arguments, Wrong> {
        let (mut places, mut named) = (Vec::new(), Vec::new());
        while !self.take(")") {
            let is_named = matches!(
                (self.peek(), self.tokens.get(self.at + 1)),
                (ScriptToken::Name(_), Some((ScriptToken::Sign("="), _)))
            );
            if is_named {
                let name = self.name()?;
                self.at += 1;
                named.push((name, self.expression()?));
            } else {
                places.push(self.expression()?);
            }
            if !self.take(",") && !matches!(self.peek(), ScriptToken::Sign(")")) {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok((places, named))
    }

    /// Items up to a closing bracket; also returns whether there is a comma among them.
    fn items(&mut self, end: &'static str) -> Result<(Vec<Expression>, bool), Wrong> {
        let (mut items, mut has_comma) = (Vec::new(), false);
        while !self.take(end) {
            items.push(self.expression()?);
            if self.take(",") {
                has_comma = true;
            } else if !matches!(self.peek(), ScriptToken::Sign(s) if *s == end) {
                return Err(self.unexpected(&format!("`,` or `{end}`")));
            }
        }
        Ok((items, has_comma))
    }

    fn atom(&mut self) -> Result<Expression, Wrong> {
        let line = self.line();
        match self.next() {
            ScriptToken::Name(name) => Ok(match name.as_str() {
                "None" => Expression::None,
                "True" => Expression::Bool(true),
                "False" => Expression::Bool(false),
                "inf" => Expression::Float(f64::INFINITY),
                "nan" => Expression::Float(f64::NAN),
                _ => Expression::Name(name),
            }),
            ScriptToken::Number(text) => number(&text, line),
            ScriptToken::Text(text) => Ok(Expression::Text(text)),
            ScriptToken::Sign("(") => {
                let (mut items, has_comma) = self.items(")")?;
                match (items.len(), has_comma) {
                    (1, false) => Ok(items.remove(0)),
                    _ => Ok(Expression::Tuple(items)),
                }
            }
            ScriptToken::Sign("[") => Ok(Expression::List(self.items("]")?.0)),
            ScriptToken::Sign("{") => {
                let mut pairs = Vec::new();
                while !self.take("}") {
                    let key = self.expression()?;
                    self.expect(":")?;
                    pairs.push((key, self.expression()?));
                    if !self.take(",") && !matches!(self.peek(), ScriptToken::Sign("}")) {
                        return Err(self.unexpected("`,` or `}`"));
                    }
                }
                Ok(Expression::Map(pairs))
            }
            _ => {
                self.at -= 1;
                Err(self.unexpected("a value"))
            }
        }
    }
}

/// A number as written: an integer if it has neither a point nor an exponent.
fn number(text: &str, line: u32) -> Result<Expression, Wrong> {
    let is_whole = text.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit());
    let value = if is_whole { text.parse().ok().map(Expression::Int) } else { None };
    let value = value.or_else(|| text.parse().ok().map(Expression::Float));
    let start = || text.chars().take(60).collect::<String>();
    value.ok_or_else(|| (line, refuse!("`{}` is not a number that is read here", start())))
}
