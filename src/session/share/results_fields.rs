//! The view of a benchmark's results as fields of a link: the table's filter and sorting.

use super::Query;
use ns_view::table::Sort;

/// The view of a benchmark's results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultsView {
    /// The filter of the rows: `models=4 p99<5`.
    pub filter: String,
    /// How the table is sorted; in the order of the run if absent.
    pub sort: Option<Sort>,
}

/// The names of its fields.
pub(super) const NAMES: [&str; 2] = ["filter", "sort"];

/// Reads a sorting, such as `-throughput_avg`; a leading dash puts the largest first.
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

/// The view in a link.
pub(super) fn read(query: &Query) -> ResultsView {
    ResultsView {
        filter: query.get("filter").unwrap_or_default().to_owned(),
        sort: query.get("sort").and_then(sort_of),
    }
}

/// Writes what differs from the default.
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
    use crate::share::{BenchLink, Link};
    use ns_bench::BenchConfig;

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
