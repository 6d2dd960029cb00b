//! Splits a query into words, numbers and signs.

use super::error::QueryError;
use ns_base::refuse;

/// A part of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name or keyword.
    Word(String),
    /// A text in quotes.
    Text(String),
    /// A number; times are in ns.
    Number(f64),
    /// One of `( ) , * = == != <> < <= > >= ~ !~`.
    Sign(&'static str),
    /// The end of the query.
    End,
}

/// A token with its column, in characters from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TokenAt {
    pub token: Token,
    pub column: usize,
}

/// Longer signs first.
const SIGNS: [&str; 14] = ["!=", "<>", "!~", "<=", ">=", "==", "=", "~", "<", ">", "(", ")", ",", "*"];

/// Units of a number, with their length in ns.
const UNITS: [(&str, f64); 6] = [("", 1.0), ("ns", 1.0), ("us", 1e3), ("\u{b5}s", 1e3), ("ms", 1e6), ("s", 1e9)];

pub(super) fn tokens(text: &str) -> Result<Vec<TokenAt>, QueryError> {
    let chars: Vec<char> = text.chars().collect();
    let (mut at, mut found) = (0, Vec::new());
    while at < chars.len() {
        let column = at + 1;
        let token = match chars[at] {
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            quote @ ('\'' | '"') => quoted(&chars, &mut at, quote)?,
            c if c.is_ascii_digit() || (c == '-' && chars.get(at + 1).is_some_and(char::is_ascii_digit)) => {
                number(&chars, &mut at)?
            }
            c if c.is_alphabetic() || c == '_' => {
                Token::Word(take(&chars, &mut at, |c| c.is_alphanumeric() || c == '_' || c == '.'))
            }
            c => {
                let rest: String = chars[at..].iter().take(2).collect();
                let Some(sign) = SIGNS.into_iter().find(|s| rest.starts_with(s)) else {
                    return Err(QueryError { column, problem: refuse!("unexpected '{c}'") });
                };
                at += sign.len();
                Token::Sign(sign)
            }
        };
        found.push(TokenAt { token, column });
    }
    found.push(TokenAt { token: Token::End, column: chars.len() + 1 });
    Ok(found)
}

fn take(chars: &[char], at: &mut usize, belongs: impl Fn(char) -> bool) -> String {
    let word: String = chars[*at..].iter().copied().take_while(|c| belongs(*c)).collect();
    *at += word.chars().count();
    word
}

/// A text up to the same quote; a quote within it is doubled.
fn quoted(chars: &[char], at: &mut usize, quote: char) -> Result<Token, QueryError> {
    let (column, mut text) = (*at + 1, String::new());
    *at += 1;
    loop {
        match (chars.get(*at), chars.get(*at + 1)) {
            (Some(c), Some(next)) if *c == quote && *next == quote => *at += 2,
            (Some(c), _) if *c == quote => {
                *at += 1;
                return Ok(Token::Text(text));
            }
            (Some(c), _) => {
                text.push(*c);
                *at += 1;
                continue;
            }
            (None, _) => {
                return Err(QueryError { column, problem: refuse!("this text has no {quote} at its end") });
            }
        }
        text.push(quote);
    }
}

fn number(chars: &[char], at: &mut usize) -> Result<Token, QueryError> {
    let column = *at + 1;
    let negative = chars[*at] == '-';
    *at += usize::from(negative);
    let digits = take(chars, at, |c| c.is_ascii_digit() || c == '.' || c == '_').replace('_', "");
    let unit = take(chars, at, char::is_alphabetic);
    let scale = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
    let wrong = |problem| Err(QueryError { column, problem });
    match (digits.parse::<f64>(), scale) {
        (Ok(n), Some(scale)) => Ok(Token::Number(if negative { -n } else { n } * scale)),
        (Ok(_), None) => wrong(refuse!("'{unit}' is not a unit: write ns, us, ms, s or nothing")),
        (Err(_), _) => wrong(refuse!("'{digits}' is not a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_texts_numbers_and_signs() {
        let found = tokens("dur>=1.5us and name !~ 'it''s' args.bytes").unwrap();
        let columns: Vec<_> = found.iter().map(|t| t.column).collect();
        assert_eq!(columns, [1, 4, 6, 12, 16, 21, 24, 32, 42]);
        assert_eq!(found[2].token, Token::Number(1500.0));
        assert_eq!((&found[1].token, &found[5].token), (&Token::Sign(">="), &Token::Sign("!~")));
        assert_eq!(found[6].token, Token::Text("it's".to_owned()));
        assert_eq!(found[7].token, Token::Word("args.bytes".to_owned()));
    }

    #[test]
    fn errors_have_their_column() {
        let error = |text| tokens(text).unwrap_err().to_string();
        assert_eq!(error("name = 'x"), "column 8: this text has no ' at its end");
        assert_eq!(error("dur > 3m"), "column 7: 'm' is not a unit: write ns, us, ms, s or nothing");
        assert_eq!(error("dur ; 3"), "column 5: unexpected ';'");
        assert_eq!(error("dur > 1.2.3"), "column 7: '1.2.3' is not a number");
    }
}
