//! From tokens to a query.

use super::tokens::{Kind, Token, tokens};

/// A query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// All must hold.
    pub conditions: Vec<Condition>,
    /// Slices with the same values are one row; each slice is a row when empty.
    pub group_by: Vec<Field>,
    /// What is shown beside what is grouped by.
    pub columns: Vec<Column>,
    /// Which column rows are ordered by, and whether the largest comes first.
    pub order: Option<(Column, bool)>,
    /// At most so many rows.
    pub limit: usize,
}

/// What is known of each slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// Its name.
    Name,
    /// Its category.
    Category,
    /// What its process is called.
    Process,
    /// What its thread is called.
    Thread,
    /// The module it belongs to.
    Module,
    /// When it starts, ns.
    Start,
    /// When it ends, ns.
    End,
    /// How long it lasts, ns.
    Dur,
    /// Its self time, ns.
    SelfTime,
    /// How deep it is nested, 0 outermost.
    Depth,
    /// An argument by its key.
    Arg(String),
}

/// What is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// A field.
    Field(Field),
    /// A value of many slices; the field is absent for the number of slices.
    Of(Aggregate, Option<Field>),
}

/// How many values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Number of slices.
    Count,
    /// Sum.
    Sum,
    /// Mean.
    Mean,
    /// Smallest.
    Min,
    /// Largest.
    Max,
    /// Median.
    P50,
    /// 99th percentile.
    P99,
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal; texts letter for letter.
    Equal,
    /// Not equal.
    NotEqual,
    /// Smaller.
    Less,
    /// Not larger.
    AtMost,
    /// Larger.
    Greater,
    /// Not smaller.
    AtLeast,
    /// Contains a text, letter case ignored.
    Contains,
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Of what.
    pub field: Field,
    /// How.
    pub is: Comparison,
    /// With which text.
    pub text: String,
    /// The same as a number, where it is one.
    pub number: Option<f64>,
}

/// Rows of a query that does not say.
const LIMIT: usize = 100;
/// Most rows of any query.
const MOST_ROWS: usize = 10_000;
const FIELDS: &str = "name, category, process, thread, module, start, end, dur, self, depth, arg.KEY";

impl Field {
    fn parse(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "name" => Self::Name,
            "category" | "cat" => Self::Category,
            "process" => Self::Process,
            "thread" | "track" => Self::Thread,
            "module" => Self::Module,
            "start" | "ts" => Self::Start,
            "end" => Self::End,
            "dur" | "duration" => Self::Dur,
            "self" => Self::SelfTime,
            "depth" => Self::Depth,
            _ => Self::Arg(word.strip_prefix("arg.")?.to_owned()),
        })
    }

    /// As it is written.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Name => "name".to_owned(),
            Self::Category => "category".to_owned(),
            Self::Process => "process".to_owned(),
            Self::Thread => "thread".to_owned(),
            Self::Module => "module".to_owned(),
            Self::Start => "start".to_owned(),
            Self::End => "end".to_owned(),
            Self::Dur => "dur".to_owned(),
            Self::SelfTime => "self".to_owned(),
            Self::Depth => "depth".to_owned(),
            Self::Arg(key) => format!("arg.{key}"),
        }
    }
}

impl Aggregate {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Count, "count"),
        (Self::Sum, "sum"),
        (Self::Mean, "mean"),
        (Self::Min, "min"),
        (Self::Max, "max"),
        (Self::P50, "p50"),
        (Self::P99, "p99"),
    ];

    fn parse(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        Self::ALL.iter().find(|(_, name)| *name == word || (word == "avg" && *name == "mean")).map(|(a, _)| *a)
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(a, _)| *a == self).map_or("", |(_, name)| name)
    }
}

impl Column {
    /// As it is written: `sum(dur)`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Field(field) => field.name(),
            Self::Of(aggregate, None) => aggregate.name().to_owned(),
            Self::Of(aggregate, Some(field)) => format!("{}({})", aggregate.name(), field.name()),
        }
    }
}

/// Reads a query.
///
/// # Errors
/// Says what was expected, what was found instead, and where.
pub fn parse(text: &str) -> Result<Query, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, end: text.len() };
    let mut query = Query { limit: LIMIT, ..Query::default() };
    while let Some(token) = parser.peek().cloned() {
        let Kind::Word(word) = &token.kind else {
            return Err(parser.expected("where, group by, show, order by or limit"));
        };
        parser.next += 1;
        match word.to_ascii_lowercase().as_str() {
            "where" | "and" => query.conditions.push(parser.condition()?),
            "group" => {
                parser.keyword("by")?;
                query.group_by = parser.list(Parser::field)?;
            }
            "show" | "select" => query.columns = parser.list(Parser::column)?,
            "order" | "sort" => {
                parser.keyword("by")?;
                query.order = Some(parser.order()?);
            }
            "limit" => query.limit = parser.limit()?,
            _ => {
                parser.next -= 1;
                return Err(parser.expected("where, group by, show, order by or limit"));
            }
        }
    }
    complete(query)
}

/// What a query that does not say shows and orders by.
fn complete(mut query: Query) -> Result<Query, String> {
    let aggregates = query.columns.iter().any(|c| matches!(c, Column::Of(..)));
    let is_grouped = !query.group_by.is_empty() || aggregates;
    if query.columns.is_empty() {
        query.columns = if is_grouped {
            let dur = |a| Column::Of(a, Some(Field::Dur));
            vec![Column::Of(Aggregate::Count, None), dur(Aggregate::Sum), dur(Aggregate::Mean), dur(Aggregate::Max)]
        } else {
            let fields = [Field::Name, Field::Start, Field::Dur, Field::SelfTime, Field::Process, Field::Thread];
            fields.map(Column::Field).to_vec()
        };
    }
    if is_grouped && let Some(Column::Field(field)) = query.columns.iter().find(|c| matches!(c, Column::Field(_))) {
        let known = query.group_by.contains(field);
        if !known {
            return Err(format!(
                "{} has many values in a group: put it behind 'group by', or show count, sum({0}), mean({0}), min({0}), max({0}), p50({0}) or p99({0})",
                field.name()
            ));
        }
        let group_by = query.group_by.clone();
        query.columns.retain(|c| !matches!(c, Column::Field(f) if group_by.contains(f)));
    }
    if is_grouped
        && let Some((Column::Field(field), _)) = &query.order
        && !query.group_by.contains(field)
    {
        return Err(format!("rows are groups: they can not be ordered by {}", field.name()));
    }
    if !is_grouped && let Some((column @ Column::Of(..), _)) = &query.order {
        return Err(format!("rows are slices: they can not be ordered by {}; 'group by' makes groups", column.name()));
    }
    Ok(query)
}

struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    end: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    fn expected(&self, what: &str) -> String {
        let at = self.peek().map_or(self.end, |t| t.at);
        let found = match self.peek().map(|t| &t.kind) {
            None => "the end".to_owned(),
            Some(Kind::Word(w) | Kind::Text(w)) => format!("'{w}'"),
            Some(Kind::Number(n)) => format!("'{n}'"),
            Some(Kind::Sign(s)) => format!("'{s}'"),
        };
        format!("at character {}: expected {what}, found {found}", at + 1)
    }

    fn sign(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token { kind: Kind::Sign(s), .. }) if *s == sign);
        self.next += usize::from(is_next);
        is_next
    }

    fn keyword(&mut self, word: &str) -> Result<(), String> {
        match self.peek() {
            Some(Token { kind: Kind::Word(w), .. }) if w.eq_ignore_ascii_case(word) => {
                self.next += 1;
                Ok(())
            }
            _ => Err(self.expected(word)),
        }
    }

    fn list<T>(&mut self, item: fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        let mut items = vec![item(self)?];
        while self.sign(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn field(&mut self) -> Result<Field, String> {
        let field = match self.peek() {
            Some(Token { kind: Kind::Word(w), .. }) => Field::parse(w),
            _ => None,
        };
        let field = field.ok_or_else(|| self.expected(&format!("a field ({FIELDS})")))?;
        self.next += 1;
        Ok(field)
    }

    fn column(&mut self) -> Result<Column, String> {
        let aggregate = match self.peek() {
            Some(Token { kind: Kind::Word(w), .. }) => Aggregate::parse(w),
            _ => None,
        };
        let Some(aggregate) = aggregate else { return self.field().map(Column::Field) };
        self.next += 1;
        let mut field = None;
        if self.sign("(") {
            if !self.sign(")") {
                field = Some(self.field()?);
                if !self.sign(")") {
                    return Err(self.expected(")"));
                }
            }
        } else if aggregate != Aggregate::Count {
            return Err(self.expected("a field in brackets, as in sum(dur)"));
        }
        // The number of slices is the number of values of any field.
        let field = field.filter(|_| aggregate != Aggregate::Count);
        Ok(Column::Of(aggregate, field))
    }

    fn condition(&mut self) -> Result<Condition, String> {
        let field = self.field()?;
        let is = match self.peek().map(|t| t.kind.clone()) {
            Some(Kind::Sign("=")) => Comparison::Equal,
            Some(Kind::Sign("!=")) => Comparison::NotEqual,
            Some(Kind::Sign("<")) => Comparison::Less,
            Some(Kind::Sign("<=")) => Comparison::AtMost,
            Some(Kind::Sign(">")) => Comparison::Greater,
            Some(Kind::Sign(">=")) => Comparison::AtLeast,
            Some(Kind::Word(w)) if w.eq_ignore_ascii_case("contains") => Comparison::Contains,
            _ => return Err(self.expected("=, !=, <, <=, >, >= or contains")),
        };
        self.next += 1;
        let (text, number) = match self.peek().map(|t| t.kind.clone()) {
            Some(Kind::Word(w)) => (w, None),
            Some(Kind::Text(t)) => {
                let number = t.parse().ok();
                (t, number)
            }
            Some(Kind::Number(n)) => (n.to_string(), Some(n)),
            _ => return Err(self.expected("a value: a number, a duration such as 1.5ms, or a text in quotes")),
        };
        self.next += 1;
        Ok(Condition { field, is, text, number })
    }

    fn order(&mut self) -> Result<(Column, bool), String> {
        let column = self.column()?;
        let mut descending = matches!(column, Column::Of(..));
        if let Some(Token { kind: Kind::Word(w), .. }) = self.peek() {
            match w.to_ascii_lowercase().as_str() {
                "asc" => (descending, self.next) = (false, self.next + 1),
                "desc" => (descending, self.next) = (true, self.next + 1),
                _ => {}
            }
        }
        Ok((column, descending))
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked to be a whole number in range
    fn limit(&mut self) -> Result<usize, String> {
        let most = MOST_ROWS as f64;
        match self.peek().map(|t| t.kind.clone()) {
            Some(Kind::Number(n)) if n >= 1.0 && n <= most && n == libm::floor(n) => {
                self.next += 1;
                Ok(n as usize)
            }
            _ => Err(self.expected(&format!("a whole number from 1 to {MOST_ROWS}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_query() {
        let query = parse(
            r#"where name contains "mm" and dur > 1.5us group by name, thread show count, sum(self) order by sum(self) limit 5"#,
        );
        let query = query.unwrap();
        assert_eq!(query.conditions.len(), 2);
        assert_eq!((query.conditions[1].is, query.conditions[1].number), (Comparison::Greater, Some(1_500.0)));
        assert_eq!(query.group_by, [Field::Name, Field::Thread]);
        let columns: Vec<String> = query.columns.iter().map(Column::name).collect();
        assert_eq!(columns, ["count", "sum(self)"]);
        assert_eq!((query.order.unwrap().1, query.limit), (true, 5));
    }

    #[test]
    fn mistakes_say_what_was_expected_and_where() {
        let wrong = |text: &str| parse(text).unwrap_err();
        assert_eq!(
            wrong("find all"),
            "at character 1: expected where, group by, show, order by or limit, found 'find'"
        );
        assert!(wrong("where colour = red").starts_with("at character 7: expected a field (name, category"));
        assert!(wrong("where dur").contains("expected =, !=, <, <=, >, >= or contains, found the end"));
        assert!(wrong("limit 0").contains("a whole number from 1 to 10000, found '0'"));
        assert!(wrong("group by name show dur").contains("dur has many values in a group"));
        assert!(wrong("order by sum(dur)").contains("rows are slices"));
        assert!(wrong("show sum").contains("as in sum(dur)"));
        assert_eq!(parse("").unwrap().limit, LIMIT);
    }
}
