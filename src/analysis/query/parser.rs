//! Parses the words of a query.

use super::error::QueryError;
use super::syntax::{Aggregate, Column, Comparator, Condition, Literal, OutputColumn, Query, ValueKind};
use super::tokens::{Token, TokenAt, tokens};
use crate::GroupBy;
use ns_base::{Refusal, refuse};

/// What other tools call columns, each after the name that it has here.
const OTHER_NAMES: [(&str, &str); 9] = [
    ("name", "op op_name opname framework_op hlo_op slice slice_name kernel kernel_name"),
    ("dur", "duration time latency dur_ns duration_ns total total_time"),
    ("start", "ts timestamp start_time start_ns begin"),
    ("end", "end_time end_ns finish"),
    ("self", "self_time self_ns self_dur"),
    ("category", "cat type kind"),
    ("operator", "framework aten op_type"),
    ("thread", "tid track track_id engine queue stream lane"),
    ("process", "pid rank"),
];

/// Words of SQL that queries do not have, each with what to do.
const OTHER_WORDS: [(&str, &str); 5] = [
    ("as", "a column keeps its name: leave out as"),
    ("having", "there is no having: order by the figure, and read the first rows"),
    ("distinct", "there is no distinct: group by the column"),
    ("join", "a query is of the slices of one profile: neuronscope compare puts two beside each other"),
    ("offset", "there is no offset: raise the limit"),
];

fn unknown_word(word: &str) -> Option<&'static str> {
    OTHER_WORDS.iter().find(|(other, _)| word.eq_ignore_ascii_case(other)).map(|(_, advice)| *advice)
}

/// The column that is meant by a name of another tool.
fn likely_column(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let is_meant = |others: &&str| others.split(' ').any(|other| other == word);
    OTHER_NAMES.iter().find(|(name, others)| *name == word || is_meant(others)).map(|(name, _)| *name)
}

/// Deepest nesting of conditions.
const MOST_NESTED: usize = 64;

/// Reads a query.
///
/// # Errors
/// With the column of the first thing that cannot be understood.
pub fn parse(text: &str) -> Result<Query, QueryError> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, nested: 0 };
    let query = parser.query()?;
    match parser.peek() {
        Token::End => Ok(query),
        Token::Word(word) if unknown_word(word).is_some() => {
            parser.fail(refuse!("{}", unknown_word(word).unwrap_or_default()))
        }
        _ => parser
            .fail(refuse!("expected where, group by, select, order by or limit, in this order; select may come first")),
    }
}

struct Parser {
    tokens: Vec<TokenAt>,
    at: usize,
    nested: usize,
}

impl Parser {
    fn query(&mut self) -> Result<Query, QueryError> {
        let mut query = Query::default();
        let is_first = self.selection(&mut query)?;
        if self.keyword("where") || self.begins_with_a_condition() {
            query.condition = Some(self.any()?);
        }
        if self.two_words("group", "by")? {
            query.group_by = self.list(Self::group_column)?;
        }
        if !is_first {
            self.selection(&mut query)?;
        }
        self.complete(&mut query)?;
        if self.two_words("order", "by")? {
            let select = query.select.clone();
            query.order_by = self.list(|p| p.order(&select))?;
        }
        if self.keyword("limit") {
            query.limit = Some(self.whole_number()?);
        }
        Ok(query)
    }

    /// Whether a column stands where `where` would: the whole text is a condition.
    fn begins_with_a_condition(&self) -> bool {
        self.at == 0 && matches!(self.peek(), Token::Word(word) if Column::from_name(word).is_some())
    }

    /// `select` with its items, or `*` for those that stand where none are given; `from slices` says what there is to ask. Whether it is there.
    fn selection(&mut self, query: &mut Query) -> Result<bool, QueryError> {
        if !self.keyword("select") {
            return Ok(false);
        }
        if !self.sign("*") {
            query.select = self.list(Self::selected)?;
        }
        if self.keyword("from") && !self.keyword("slices") && !self.keyword("slice") {
            return self.fail(refuse!("a query is of slices: write from slices, or leave it out"));
        }
        Ok(true)
    }

    /// Fills in a missing `select`, and checks that grouped queries show no column that differs within a group.
    fn complete(&self, query: &mut Query) -> Result<(), QueryError> {
        let aggregates = query.select.iter().any(|s| !matches!(s, OutputColumn::Plain(_)));
        let grouped = aggregates || !query.group_by.is_empty();
        if query.select.is_empty() {
            query.select = if grouped {
                let keys = query.group_by.iter().cloned().map(OutputColumn::Plain);
                let of = |a, c| OutputColumn::Of(a, c);
                let rest = [
                    OutputColumn::Count,
                    of(Aggregate::Sum, Column::Dur),
                    of(Aggregate::Sum, Column::SelfTime),
                    of(Aggregate::Mean, Column::Dur),
                ];
                keys.chain(rest).collect()
            } else {
                [
                    Column::Label(GroupBy::Name),
                    Column::Label(GroupBy::Thread),
                    Column::Start,
                    Column::Dur,
                    Column::SelfTime,
                ]
                .map(OutputColumn::Plain)
                .to_vec()
            };
        }
        let plain = query.select.iter().filter_map(|s| match s {
            OutputColumn::Plain(column) => Some(column),
            _ => None,
        });
        let stray = plain.into_iter().find(|c| grouped && !query.group_by.contains(c));
        match stray {
            Some(column) => self.fail(refuse!(
                "'{name}' differs within a group: add it to group by, or write max({name}) or the like",
                name = column.name()
            )),
            None => Ok(()),
        }
    }

    fn any(&mut self) -> Result<Condition, QueryError> {
        let mut parts = vec![self.all()?];
        while self.keyword("or") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Condition::Any(parts) })
    }

    fn all(&mut self) -> Result<Condition, QueryError> {
        let mut parts = vec![self.one()?];
        while self.keyword("and") {
            parts.push(self.one()?);
        }
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Condition::All(parts) })
    }

    fn one(&mut self) -> Result<Condition, QueryError> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return self.fail(refuse!("conditions are nested too deep"));
        }
        let found = if self.keyword("not") {
            Condition::Not(Box::new(self.one()?))
        } else if self.sign("(") {
            let inner = self.any()?;
            self.expect_sign(")")?;
            inner
        } else {
            self.comparison()?
        };
        self.nested -= 1;
        Ok(found)
    }

    fn comparison(&mut self) -> Result<Condition, QueryError> {
        let column = self.column()?;
        if self.keyword("not") {
            let Some(found) = self.in_words(&column)? else {
                return self.fail(refuse!("expected in, like or between"));
            };
            return Ok(Condition::Not(Box::new(found)));
        }
        if let Some(found) = self.in_words(&column)? {
            return Ok(found);
        }
        const SIGNS: [(&str, Comparator); 10] = [
            ("=", Comparator::Equal),
            ("==", Comparator::Equal),
            ("!=", Comparator::NotEqual),
            ("<>", Comparator::NotEqual),
            ("<", Comparator::Less),
            ("<=", Comparator::AtMost),
            (">", Comparator::Greater),
            (">=", Comparator::AtLeast),
            ("~", Comparator::Contains),
            ("!~", Comparator::ContainsNot),
        ];
        let found = SIGNS.into_iter().find(|(sign, _)| *self.peek() == Token::Sign(sign));
        let Some((_, how)) = found else {
            return self.fail(refuse!("expected =, !=, <, <=, >, >=, ~, !~, in, like or between"));
        };
        if !matches!(how, Comparator::Contains | Comparator::ContainsNot) {
            self.at += 1;
            let value = self.literal(&column)?;
            return Ok(Condition::Compare(column, how, value));
        }
        self.with_text(column, how)
    }

    /// A comparison with a word of SQL in the place of a sign; `None` without one.
    fn in_words(&mut self, column: &Column) -> Result<Option<Condition>, QueryError> {
        if self.keyword("in") {
            self.expect_sign("(")?;
            let values = self.list(|p| p.literal(column))?;
            self.expect_sign(")")?;
            return Ok(Some(Condition::In(column.clone(), values)));
        }
        if self.keyword("between") {
            let low = self.literal(column)?;
            if !self.keyword("and") {
                return self.fail(refuse!("expected and"));
            }
            let high = self.literal(column)?;
            let end = |how, value| Condition::Compare(column.clone(), how, value);
            return Ok(Some(Condition::All(vec![end(Comparator::AtLeast, low), end(Comparator::AtMost, high)])));
        }
        let is_like = matches!(self.peek(), Token::Word(word) if word.eq_ignore_ascii_case("like"));
        is_like.then(|| self.with_text(column.clone(), Comparator::Like)).transpose()
    }

    /// A comparison with a part or a pattern of a text, from its sign or word on.
    fn with_text(&mut self, column: Column, how: Comparator) -> Result<Condition, QueryError> {
        if matches!(column.kind(), ValueKind::Ns | ValueKind::Count) {
            return self.fail(refuse!("{} is a number: compare it with =, <, >", column.name()));
        }
        self.at += 1;
        if matches!(self.peek(), Token::Number(_)) {
            return self.fail(refuse!("expected a text in quotes"));
        }
        let value = self.literal(&column)?;
        Ok(Condition::Compare(column, how, value))
    }

    fn literal(&mut self, column: &Column) -> Result<Literal, QueryError> {
        let value = match (self.peek().clone(), column.kind()) {
            (Token::Number(n), ValueKind::Ns | ValueKind::Count | ValueKind::Any) => Literal::Number(n),
            (Token::Text(t), ValueKind::Text | ValueKind::Any) => Literal::Text(t),
            (_, ValueKind::Text) => return self.fail(refuse!("{} is a text: write it in quotes", column.name())),
            (_, ValueKind::Any) => return self.fail(refuse!("expected a number or a text in quotes")),
            _ => return self.fail(refuse!("{} is a number: write one, like 10us", column.name())),
        };
        self.at += 1;
        Ok(value)
    }

    fn selected(&mut self) -> Result<OutputColumn, QueryError> {
        let Token::Word(word) = self.peek().clone() else { return self.fail(refuse!("expected a column")) };
        if word.eq_ignore_ascii_case("count") {
            self.at += 1;
            if self.sign("(") {
                self.sign("*");
                self.expect_sign(")")?;
            }
            return Ok(OutputColumn::Count);
        }
        let lower = word.to_ascii_lowercase();
        let Some(aggregate) = Aggregate::from_name(if lower == "avg" { "mean" } else { &lower }) else {
            return self.column().map(OutputColumn::Plain);
        };
        self.at += 1;
        self.expect_sign("(")?;
        let column = self.column()?;
        if column.kind() == ValueKind::Text {
            self.at -= 1;
            return self.fail(refuse!("{} is a text: {word} needs numbers", column.name()));
        }
        self.expect_sign(")")?;
        Ok(OutputColumn::Of(aggregate, column))
    }

    fn group_column(&mut self) -> Result<Column, QueryError> {
        let column = self.column()?;
        if column.kind() == ValueKind::Ns {
            self.at -= 1;
            return self.fail(refuse!("{} makes no groups: group by a text, depth or an argument", column.name()));
        }
        Ok(column)
    }

    fn order(&mut self, select: &[OutputColumn]) -> Result<(usize, bool), QueryError> {
        let start = self.at;
        let wanted = self.selected()?;
        let Some(place) = select.iter().position(|s| *s == wanted) else {
            self.at = start;
            return self.fail(refuse!("{} is not in the answer: add it to select", wanted.name()));
        };
        let ascending = self.keyword("asc");
        let descending = !ascending && self.keyword("desc");
        Ok((place, descending))
    }

    fn column(&mut self) -> Result<Column, QueryError> {
        let Token::Word(word) = self.peek().clone() else { return self.fail(refuse!("expected a column")) };
        match Column::from_name(&word) {
            Some(column) => {
                self.at += 1;
                Ok(column)
            }
            None if likely_column(&word).is_some() => {
                self.fail(refuse!("there is no column '{word}': it is {}", likely_column(&word).unwrap_or_default()))
            }
            None => self.fail(refuse!("there is no column '{word}': use name, category, operator, module, process, device, core, thread, start, end, dur, self, depth or args.KEY")),
        }
    }

    fn whole_number(&mut self) -> Result<usize, QueryError> {
        match *self.peek() {
            Token::Number(n) if (1.0..=1e9).contains(&n) && libm::floor(n) == n => {
                self.at += 1;
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "checked to be a whole number above"
                )]
                Ok(n as usize)
            }
            _ => self.fail(refuse!("expected a whole number from 1")),
        }
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T, QueryError>) -> Result<Vec<T>, QueryError> {
        let mut items = vec![item(self)?];
        while self.sign(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |t| &t.token)
    }

    fn keyword(&mut self, word: &str) -> bool {
        let is_it = matches!(self.peek(), Token::Word(w) if w.eq_ignore_ascii_case(word));
        self.at += usize::from(is_it);
        is_it
    }

    fn two_words(&mut self, first: &str, second: &'static str) -> Result<bool, QueryError> {
        if !self.keyword(first) {
            return Ok(false);
        }
        if self.keyword(second) { Ok(true) } else { self.fail(refuse!("expected {second}")) }
    }

    fn sign(&mut self, sign: &str) -> bool {
        let is_it = matches!(self.peek(), Token::Sign(s) if *s == sign);
        self.at += usize::from(is_it);
        is_it
    }

    fn expect_sign(&mut self, sign: &'static str) -> Result<(), QueryError> {
        if self.sign(sign) { Ok(()) } else { self.fail(refuse!("expected {sign}")) }
    }

    fn fail<T>(&self, problem: Refusal) -> Result<T, QueryError> {
        let column = self.tokens.get(self.at).map_or(1, |t| t.column);
        Err(QueryError { column, problem })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_of_every_part() {
        let text = "WHERE (name ~ 'mm' or dur > 10us) and not category in ('a', 'b') GROUP BY thread, args.stream \
                    SELECT thread, args.stream, count, p99(dur) ORDER BY p99(dur) DESC, thread LIMIT 5";
        let query = parse(text).unwrap();
        let names: Vec<_> = query.select.iter().map(OutputColumn::name).collect();
        assert_eq!(names, ["thread", "args.stream", "count", "p99(dur)"]);
        assert_eq!((query.order_by, query.limit), (vec![(3, true), (0, false)], Some(5)));
        let Some(Condition::All(parts)) = query.condition else { panic!("two conditions") };
        assert!(matches!(&parts[0], Condition::Any(p) if p.len() == 2));
        assert!(matches!(&parts[1], Condition::Not(_)));
        assert_eq!(parse("").unwrap().select.len(), 5);
        assert_eq!(parse("group by name").unwrap().select.len(), 5);
    }

    #[test]
    fn a_query_in_the_order_of_sql_is_the_same() {
        let ours = parse("where dur > 1us group by name select name, count, mean(dur) order by count desc limit 3");
        let sql =
            "SELECT name, COUNT(*), AVG(dur) FROM slices WHERE dur > 1us GROUP BY name ORDER BY count(*) DESC LIMIT 3";
        assert_eq!(ours, parse(sql));
        assert_eq!(parse("select * from slice limit 3"), parse("limit 3"));
        assert_eq!(parse("select * from x").unwrap_err().to_string().split(':').nth(1), Some(" a query is of slices"));
    }

    #[test]
    fn the_words_of_sql_are_comparisons() {
        let condition = |text: &str| parse(text).unwrap().condition.unwrap();
        assert_eq!(condition("where dur between 1us and 2us"), condition("where (dur >= 1us and dur <= 2us)"));
        assert_eq!(condition("where name <> 'a' and depth == 1"), condition("where name != 'a' and depth = 1"));
        assert_eq!(condition("where name not in ('a')"), condition("where not name in ('a')"));
        assert_eq!(condition("where name NOT LIKE 'a%'"), condition("where not name like 'a%'"));
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(error("where dur like '1%'"), "column 11: dur is a number: compare it with =, <, >");
        assert_eq!(error("where dur between 1us"), "column 22: expected and");
        assert_eq!(error("where name not = 'a'"), "column 16: expected in, like or between");
        assert_eq!(parse("name = 'a'"), parse("where name = 'a'"));
        assert_eq!(error("select name as n"), "column 13: a column keeps its name: leave out as");
        assert_eq!(error("where duration > 1us"), "column 7: there is no column 'duration': it is dur");
        assert_eq!(error("order by Name"), "column 10: there is no column 'Name': it is name");
    }

    #[test]
    fn errors_name_the_column_of_the_text() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert!(error("where colour = 'red'").starts_with("column 7: there is no column 'colour'"));
        assert_eq!(error("where name = red"), "column 14: name is a text: write it in quotes");
        assert_eq!(error("where dur > 'x'"), "column 13: dur is a number: write one, like 10us");
        assert_eq!(error("where dur ~ 'x'"), "column 11: dur is a number: compare it with =, <, >");
        assert_eq!(error("group name"), "column 7: expected by");
        assert_eq!(error("group by dur"), "column 10: dur makes no groups: group by a text, depth or an argument");
        assert_eq!(error("select sum(name)"), "column 12: name is a text: sum needs numbers");
        assert_eq!(error("order by p50(dur)"), "column 10: p50(dur) is not in the answer: add it to select");
        assert_eq!(error("limit 0"), "column 7: expected a whole number from 1");
        assert!(error("select name, count").contains("'name' differs within a group"));
        assert!(error("where (name = 'x'").ends_with("expected )"));
        assert!(error("limit 5 where name = 'x'").starts_with("column 9: expected where, group by"));
        assert!(error(&format!("where {}", "(".repeat(100))).contains("nested too deep"));
    }
}
