//! Links that pages wrote: each still opens with the values that it holds. Fields that cannot be used are named.

use neuronscope::session::share::{Link, Query};

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
