//! Links that pages wrote: each still opens with the values that it holds. Fields that cannot be used are named.

use crate::doc_tables::assert_written;
use neuronscope::session::options::{BENCH_OPTIONS, PLAN_OPTIONS};
use neuronscope::session::share::{Link, Query};
use neuronscope::session::studies::{FieldKind, FormField};
use neuronscope::session::studies::{StudyKind, StudySpec};

const LINKS: &str = include_str!("fixtures/links/v1.txt");

/// Links with the fields that the page reports as unusable.
fn links() -> impl Iterator<Item = (Vec<&'static str>, &'static str)> {
    let is_link = |line: &&str| line.starts_with("#/") || line.starts_with("#?") || line.contains("|#");
    LINKS.lines().filter(is_link).map(|line| match line.split_once("|#") {
        Some((fields, _)) => (fields.split(',').collect(), &line[fields.len() + 1..]),
        None => (Vec::new(), line),
    })
}

fn fields(hash: &str) -> (String, Query) {
    let (path, query) = hash.split_once('?').unwrap_or((hash, ""));
    (path.to_owned(), Query::parse(query))
}

#[test]
fn every_link_opens_with_all_that_it_says() {
    let mut count = 0;
    for (wrong, hash) in links().filter(|(wrong, _)| wrong.is_empty()) {
        let (link, notices) = Link::parse(hash);
        assert_eq!(notices, [], "{hash}");
        let (path, asked) = fields(hash);
        let (shown_path, shown) = fields(&link.print());
        // The first links were of the benchmark page, and named no page.
        assert_eq!(shown_path, if path == "#" { "#/benchmark" } else { path.as_str() }, "{hash}");
        let said: Vec<&str> = asked.names().filter(|name| !["v", "later"].contains(name)).collect();
        for name in said.into_iter().filter(|name| asked.get(name) != Some("")) {
            assert_eq!(shown.get(name), asked.get(name), "{name} of {hash}, which became {}", link.print());
        }
        assert_eq!(Link::parse(&link.print()), (link, vec![]), "{hash}");
        assert!(wrong.is_empty());
        count += 1;
    }
    assert!(count > 35, "{count} links");
}

#[test]
fn wrong_edits_are_named_and_the_rest_counts() {
    let mut count = 0;
    for (wrong, hash) in links().filter(|(wrong, _)| !wrong.is_empty()) {
        let (link, notices) = Link::parse(hash);
        let named: Vec<&str> = notices.iter().map(|n| n.field.as_str()).collect();
        assert_eq!(named, wrong, "{hash}: {notices:?}");
        if let Some(model) = fields(hash).1.get("model") {
            assert_eq!(fields(&link.print()).1.get("model"), Some(model), "{hash}");
        }
        count += 1;
    }
    assert_eq!(count, 4);
}

/// The fields of a study in its links: the rows of its form.
fn table_of(kind: StudyKind) -> String {
    let usual = StudySpec::new(kind);
    let row = |field: &FormField| {
        let values = match field.kind {
            FieldKind::Flag => "`true` or `false`".to_owned(),
            FieldKind::Choice(all) | FieldKind::Several(all) => {
                let all = all.iter().filter(|(value, _)| !value.is_empty());
                all.map(|(value, _)| format!("`{value}`")).collect::<Vec<_>>().join(", ")
            }
            FieldKind::Source => "packed text".to_owned(),
            FieldKind::Whole => "number".to_owned(),
            FieldKind::Decimal => "decimal number".to_owned(),
            FieldKind::Numbers => "list of numbers".to_owned(),
            FieldKind::Model => "model, or `file:NAME@CONTENT`".to_owned(),
            FieldKind::Instance => "EC2 size".to_owned(),
            FieldKind::Named(_) => "name".to_owned(),
            FieldKind::Line => "text".to_owned(),
        };
        let (what, text) = ([field.label, field.help], usual.link_text(field.key));
        let what = what.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(". ");
        let default = match (text.as_str(), field.placeholder) {
            ("", "") if field.kind == FieldKind::Source && kind.is_kernel() => "that of `kernel`".to_owned(),
            ("", "") => "none".to_owned(),
            ("", placeholder) => placeholder.to_owned(),
            (text, _) => format!("`{text}`"),
        };
        let plain = |text: &str| text.replace('|', "\\|").replace('\u{2019}', "'");
        format!("| `{}` | {} | {values} | {} |\n", field.key, plain(&what), plain(&default))
    };
    let rows: String = kind.form().fields().map(row).collect();
    format!("\n| field | what it is | values | default |\n|---|---|---|---|\n{rows}\n")
}

#[test]
fn the_format_of_links_has_every_field_of_a_study() {
    for kind in StudyKind::ALL {
        assert_written("docs/formats/links.md", &format!("fields of {}", kind.path()), &table_of(kind));
    }
}

#[test]
fn the_format_of_links_names_every_option_of_benchmarks_and_experiments() {
    let document = include_str!("../../docs/formats/links.md");
    let keys = BENCH_OPTIONS.iter().map(|option| option.key()).chain(PLAN_OPTIONS.iter().map(|option| option.key()));
    let absent: Vec<&str> = keys.filter(|key| !document.contains(&format!("`{key}`"))).collect();
    assert!(absent.is_empty(), "{absent:?}");
}
