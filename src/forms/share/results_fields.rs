//! The view of a benchmark's results as fields of a link: filter, sorting and columns of the table, limits and goal.

use super::Query;
use crate::results::{Goal, WantedTexts, offered_columns};
use ns_view::table::Sort;

/// The view of a benchmark's results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultsView {
    /// The filter of the rows: `models=4 p99<5`.
    pub filter: String,
    /// How the table is sorted; in the order of the run if absent.
    pub sort: Option<Sort>,
    /// Limits as they are typed, and what is the best within them.
    pub wanted: WantedTexts,
    /// The columns of the table; the usual ones if absent.
    pub columns: Option<Vec<&'static str>>,
}

/// A field: its name, what a text in a link does to the view, and its text; an empty text is not written.
struct Field {
    name: &'static str,
    read: fn(&mut ResultsView, &str),
    write: fn(&ResultsView) -> String,
}

const FIELDS: [Field; 7] = [
    Field { name: "filter", read: |v, t| t.clone_into(&mut v.filter), write: |v| v.filter.clone() },
    Field {
        name: "sort",
        read: |v, t| v.sort = sort_of(t),
        write: |v| v.sort.as_ref().map(sort_text).unwrap_or_default(),
    },
    Field { name: "best", read: |v, t| v.wanted.goal = goal_of(t), write: |v| goal_text(v.wanted.goal) },
    Field { name: "p99_at_most", read: |v, t| t.clone_into(&mut v.wanted.p99_ms), write: |v| v.wanted.p99_ms.clone() },
    Field { name: "cost_at_most", read: |v, t| t.clone_into(&mut v.wanted.cost), write: |v| v.wanted.cost.clone() },
    Field { name: "cores_at_most", read: |v, t| t.clone_into(&mut v.wanted.cores), write: |v| v.wanted.cores.clone() },
    Field {
        name: "columns",
        read: |v, t| v.columns = columns_of(t),
        write: |v| v.columns.as_ref().map(|columns| columns.join(",")).unwrap_or_default(),
    },
];

/// Goals by their words in links.
const GOALS: [(Goal, &str); 3] = [(Goal::Throughput, "throughput"), (Goal::Latency, "p99"), (Goal::Cost, "cost")];

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|field| field.name)
}

fn goal_of(text: &str) -> Goal {
    GOALS.iter().find(|(_, word)| *word == text.trim()).map_or_else(Goal::default, |(goal, _)| *goal)
}

/// Empty for the default.
fn goal_text(goal: Goal) -> String {
    let is_meant = |(known, _): &&(Goal, &str)| *known == goal && goal != Goal::default();
    GOALS.iter().find(is_meant).map_or("", |(_, word)| word).to_owned()
}

/// The columns that reports have, in their usual order; a link of another version may name others.
fn columns_of(text: &str) -> Option<Vec<&'static str>> {
    let is_named = |key: &&str| text.split(',').any(|name| name.trim() == *key);
    let columns: Vec<&str> = offered_columns().into_iter().filter(is_named).collect();
    (!columns.is_empty()).then_some(columns)
}

impl ResultsView {
    /// The view as fields of a link, without the page.
    pub fn to_fields(&self) -> String {
        let mut query = Query::default();
        write(self, &mut query);
        query.print()
    }

    /// Reads [`Self::to_fields`].
    pub fn of_fields(text: &str) -> Self {
        read(&Query::parse(text))
    }
}

/// Reads a sorting, such as `-throughput_avg`; a leading dash puts the largest first.
pub(super) fn sort_of(text: &str) -> Option<Sort> {
    let text = text.trim();
    let (descending, column) = text.strip_prefix('-').map_or((false, text), |column| (true, column));
    let column = column.trim();
    (!column.is_empty() && !column.starts_with('-')).then(|| Sort { column: column.to_owned(), descending })
}

pub(super) fn sort_text(sort: &Sort) -> String {
    format!("{}{}", if sort.descending { "-" } else { "" }, sort.column)
}

/// The view in a link.
pub(super) fn read(query: &Query) -> ResultsView {
    let mut view = ResultsView::default();
    for field in &FIELDS {
        if let Some(text) = query.get(field.name) {
            (field.read)(&mut view, text);
        }
    }
    view
}

/// Writes what differs from the default.
pub(super) fn write(view: &ResultsView, query: &mut Query) {
    for field in &FIELDS {
        let text = (field.write)(view);
        if !text.is_empty() {
            query.set(field.name, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::{BenchLink, Link};
    use ns_bench::BenchConfig;

    #[test]
    fn the_view_survives_a_link() {
        let sort = Some(Sort { column: "latency_ms_p99".into(), descending: true });
        let wanted =
            WantedTexts { p99_ms: "20".into(), cores: "four".into(), goal: Goal::Cost, ..WantedTexts::default() };
        let columns = Some(vec!["n_models", "status"]);
        let view = ResultsView { filter: "models=4 p99<5 & more".into(), sort, wanted, columns };
        assert_eq!(ResultsView::of_fields(&view.to_fields()), view);
        let link = Link::Benchmark(Box::new(BenchLink { config: BenchConfig::default(), view }));
        for part in ["sort=-latency_ms_p99", "best=cost", "p99_at_most=20", "columns=n_models,status"] {
            assert!(link.print().contains(part), "{}", link.print());
        }
        assert_eq!(Link::parse(&link.print()), (link, vec![]));
    }

    #[test]
    fn what_is_not_known_is_the_usual_view() {
        for fields in ["best=", "best=x", "columns=", "columns=x,y", "p99_at_most="] {
            assert_eq!(ResultsView::of_fields(fields), ResultsView::default(), "{fields}");
        }
        assert_eq!(ResultsView::of_fields("columns=status,x,n_models").columns, Some(vec!["n_models", "status"]));
        assert_eq!(ResultsView::default().to_fields(), "");
    }

    #[test]
    fn a_sorting_of_nothing_is_none() {
        for text in ["", "-", "--a", " "] {
            assert_eq!(sort_of(text), None, "{text:?}");
        }
    }
}
