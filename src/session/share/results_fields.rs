//! How the results of a benchmark are looked at, as fields of a link: what the table is filtered by, and how it is sorted.

use super::Query;
use crate::view::table::Sort;

/// How the results of a benchmark are looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultsView {
    /// What rows are filtered by: `models=4 p99<5`.
    pub filter: String,
    /// How the table is sorted; in the order of the run when absent.
    pub sort: Option<Sort>,
}

/// The sorting of a text, `-throughput_avg`; a dash in front puts the largest first.
pub(super) fn sort_of(text: &str) -> Option<Sort> {
    let text = text.trim();
    let (descending, column) = text.strip_prefix('-').map_or((false, text), |column| (true, column));
    let column = column.trim();
    (!column.is_empty() && !column.starts_with('-')).then(|| Sort { column: column.to_owned(), descending })
}

/// A sorting as text.
pub(super) fn sort_text(sort: &Sort) -> String {
    format!("{}{}", if sort.descending { "-" } else { "" }, sort.column)
}

/// The view of a link.
pub(super) fn read(query: &Query) -> ResultsView {
    ResultsView {
        filter: query.get("filter").unwrap_or_default().to_owned(),
        sort: query.get("sort").and_then(sort_of),
    }
}

/// Writes what is not as always.
pub(super) fn write(view: &ResultsView, query: &mut Query) {
    if !view.filter.is_empty() {
        query.set("filter", &view.filter);
    }
    if let Some(sort) = &view.sort {
        query.set("sort", &sort_text(sort));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::BenchConfig;
    use crate::session::share::{BenchLink, Link};

    #[test]
    fn filter_and_sorting_survive_a_link() {
        let sort = Some(Sort { column: "latency_ms_p99".into(), descending: true });
        let view = ResultsView { filter: "models=4 p99<5 & more".into(), sort };
        let link = Link::Benchmark(Box::new(BenchLink { config: BenchConfig::default(), view }));
        assert!(link.print().contains("sort=-latency_ms_p99"), "{}", link.print());
        assert_eq!(Link::parse(&link.print()), (link, vec![]));
    }

    #[test]
    fn a_sorting_of_nothing_is_none() {
        for text in ["", "-", "--a", " "] {
            assert_eq!(sort_of(text), None, "{text:?}");
        }
    }
}
