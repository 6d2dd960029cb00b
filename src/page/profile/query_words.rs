//! The words that can follow in a query, for its completion.

use ns_analysis::GroupBy;
use ns_analysis::query::{Aggregate, Column, OutputColumn};

/// Most words that are offered.
const MOST: usize = 10;
/// Words of the language itself.
const KEYWORDS: [&str; 9] = ["where", "and", "group by", "select", "count", "order by", "desc", "asc", "limit"];

/// Queries that begin as this one does, with its last word complete: what is offered, and the whole text.
pub fn completions(draft: &str) -> Vec<(String, String)> {
    let start = draft.rfind(|c: char| c.is_whitespace() || matches!(c, ',' | '(')).map_or(0, |at| at + 1);
    let (before, last) = draft.split_at(start);
    let last = last.to_lowercase();
    let is_inside = before.ends_with('(');
    let columns = [Column::Start, Column::End, Column::Dur, Column::SelfTime, Column::Depth].into_iter();
    let columns = columns.chain(GroupBy::ALL.map(Column::Label));
    let aggregates =
        Aggregate::ALL.iter().flat_map(|a| [Column::SelfTime, Column::Dur].map(|c| OutputColumn::Of(*a, c).name()));
    let keywords = KEYWORDS.iter().map(|word| (*word).to_owned());
    let words = columns
        .map(|column| column.name())
        .chain(keywords.filter(|_| !is_inside))
        .chain(aggregates.filter(|_| !is_inside));
    let fitting = words.filter(|word| word.starts_with(&last) && *word != last);
    let whole = |word: String| {
        let end = if is_inside { ")" } else { " " };
        let text = format!("{before}{word}{end}");
        (word, text)
    };
    fitting.take(MOST).map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_completed() {
        assert!(completions("group by na").contains(&("name".to_owned(), "group by name ".to_owned())));
        assert!(completions("where ").iter().any(|(word, _)| word == "category"));
        assert_eq!(completions("select name, sum(se"), [("self".to_owned(), "select name, sum(self)".to_owned())]);
        assert!(completions("select p9").iter().any(|(_, text)| text == "select p99(dur) "));
        assert!(completions("where colour").is_empty());
        // What is offered is a query of the language.
        assert!(ns_analysis::query::parse("group by name select name, sum(self)").is_ok());
    }
}
