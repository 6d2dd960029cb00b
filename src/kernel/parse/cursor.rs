//! A position in the tokens, and the functions that every part of the parser needs.

use super::ast::{SyntaxExpr, SyntaxExprKind};
use super::lexer::{Token, TokenKind};
use super::templates::Template;
use crate::problem::{Diagnostic, Pos, Problem};
use crate::types::Scalar;

/// Most nested levels of brackets, blocks and operators.
const MAX_NESTING: usize = 64;
/// Most levels of an expression's tree: a long sum is deep without any bracket.
const MAX_DEPTH: u16 = 200;

/// The tokens and the current position.
pub(crate) struct Cursor {
    tokens: Vec<Token>,
    at: usize,
    nesting: usize,
    /// Names that stand for a number type, the latest last.
    pub aliases: Vec<(String, Scalar)>,
    /// Function templates.
    pub templates: Vec<Template>,
    /// Templates that are called, with the type of each call.
    pub made: Vec<(String, Scalar)>,
}

impl Cursor {
    /// A cursor at the start. The last token is the end.
    pub fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, at: 0, nesting: 0, aliases: Vec::new(), templates: Vec::new(), made: Vec::new() }
    }

    /// The token `n` positions ahead; beyond the last token, the end.
    pub fn ahead(&self, n: usize) -> &TokenKind {
        const END: &TokenKind = &TokenKind::End;
        self.tokens.get(self.at + n).map_or(END, |t| &t.kind)
    }

    pub fn here(&self) -> &TokenKind {
        self.ahead(0)
    }

    /// Its position in the source.
    pub fn pos(&self) -> Pos {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(Pos { line: 1, column: 1 }, |t| t.pos)
    }

    /// Moves on by one token and returns the token before.
    pub fn next(&mut self) -> TokenKind {
        let kind = self.here().clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        kind
    }

    /// The current position, to return to.
    pub const fn mark(&self) -> usize {
        self.at
    }

    /// Returns to a position.
    pub fn reset(&mut self, mark: usize) {
        self.at = mark;
    }

    /// The number type that a name stands for.
    pub fn alias(&self, word: &str) -> Option<Scalar> {
        self.aliases.iter().rfind(|a| a.0 == word).map(|a| a.1)
    }

    /// Whether this sign is the current token.
    pub fn is(&self, sign: &str) -> bool {
        matches!(self.here(), TokenKind::Sign(s) if *s == sign)
    }

    /// Whether this sign is `n` positions ahead.
    pub fn is_ahead(&self, n: usize, sign: &str) -> bool {
        matches!(self.ahead(n), TokenKind::Sign(s) if *s == sign)
    }

    /// Whether this word is the current token.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.here(), TokenKind::Word(w) if w == word)
    }

    /// Skips a sign if it is the current token.
    pub fn accept(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        if found {
            self.next();
        }
        found
    }

    /// Skips a word if it is the current token.
    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next();
        }
        found
    }

    /// Skips a sign. Fails when the current token is another one.
    pub fn expect(&mut self, sign: &str, after: &str) -> Result<(), Diagnostic> {
        if self.accept(sign) { Ok(()) } else { Err(self.expected(&format!("'{sign}' {after}"))) }
    }

    /// Skips a name that is not a keyword and returns it. Fails when the current token is something else.
    pub fn name(&mut self, what: &str) -> Result<String, Diagnostic> {
        match self.here() {
            TokenKind::Word(w) if !is_keyword(w) => {
                let name = w.clone();
                self.next();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// An error that names the expected token.
    pub fn expected(&self, what: &str) -> Diagnostic {
        Diagnostic::new(self.pos(), Problem::syntax(what, &self.here().in_words()))
    }

    /// An error for C++ outside the subset.
    pub fn not_supported(&self, what: &str, instead: &str) -> Diagnostic {
        Diagnostic::new(self.pos(), Problem::not_supported(what, instead))
    }

    /// Runs a part of the parser one level deeper. Fails with the errors of `part`, and an error when the code nests too deeply.
    pub fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
        if self.nesting >= MAX_NESTING {
            return Err(too_deep(self.pos(), MAX_NESTING));
        }
        self.nesting += 1;
        let result = part(self);
        self.nesting -= 1;
        result
    }
}

/// Words that cannot be names.
const KEYWORDS: [&str; 60] = [
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "namespace",
    "new",
    "noexcept",
    "nullptr",
    "operator",
    "private",
    "protected",
    "public",
    "register",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "static_cast",
    "reinterpret_cast",
];

/// Whether a word cannot be a name.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// Makes a node; refuses a tree that grows too deep.
pub(crate) fn node(pos: Pos, kind: SyntaxExprKind) -> Result<SyntaxExpr, Diagnostic> {
    let below = match &kind {
        SyntaxExprKind::List(items) => deepest(items),
        SyntaxExprKind::Unary(_, e) | SyntaxExprKind::Step { target: e, .. } | SyntaxExprKind::Cast(_, e) => e.depth,
        SyntaxExprKind::SizeOfValue(e) => e.depth,
        SyntaxExprKind::Binary(_, l, r)
        | SyntaxExprKind::Assign(_, l, r)
        | SyntaxExprKind::Index(l, r)
        | SyntaxExprKind::Comma(l, r) => l.depth.max(r.depth),
        SyntaxExprKind::Ternary(c, y, n) => c.depth.max(y.depth).max(n.depth),
        SyntaxExprKind::Call { arguments, .. } => deepest(arguments),
        SyntaxExprKind::Method { object, arguments, .. } => object.depth.max(deepest(arguments)),
        _ => 0,
    };
    if below >= MAX_DEPTH {
        return Err(too_deep(pos, usize::from(MAX_DEPTH)));
    }
    Ok(SyntaxExpr { pos, kind, depth: below + 1 })
}

fn too_deep(pos: Pos, limit: usize) -> Diagnostic {
    let text = format!("the code nests deeper than {limit} levels; split it into statements or helper functions");
    Diagnostic::new(pos, Problem::error("too_deep", text))
}

fn deepest(items: &[SyntaxExpr]) -> u16 {
    items.iter().map(|e| e.depth).max().unwrap_or(0)
}
