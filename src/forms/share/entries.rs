//! Decides which changes of an address make a new entry in the browser's history.

use super::Query;

/// Addresses of the page of experiments.
const EXPERIMENTS: &str = "#/experiments?";

/// Whether Back should return from a view to the one before it on the same page: a different tool or run, a zoom or a jump of the
/// timeline, a view of records or those behind a point. Every other choice on a page changes the current entry.
pub fn is_another_view(before: &str, after: &str) -> bool {
    let is_of_experiments = before.starts_with(EXPERIMENTS) && after.starts_with(EXPERIMENTS);
    let (before, after) = (fields(before), fields(after));
    let differs = |name: &str| before.get(name) != after.get(name);
    if is_of_experiments {
        return before.get("v").is_some() && (differs("view") || differs("open"));
    }
    // A page that was just opened completes its address.
    if before.get("tool").is_none() {
        return false;
    }
    differs("tool") || differs("file") || is_zoom_or_jump(span(&before), span(&after))
}

/// Whether two addresses show the same tool of the same file.
pub fn is_same_tool(before: &str, after: &str) -> bool {
    let (before, after) = (fields(before), fields(after));
    ["tool", "file"].into_iter().all(|name| before.get(name) == after.get(name))
}

fn fields(hash: &str) -> Query {
    Query::parse(hash.split_once('?').map_or("", |(_, query)| query))
}

fn span(query: &Query) -> Option<(i64, i64)> {
    let number = |name: &str| query.get(name)?.parse::<i64>().ok();
    number("from").zip(number("to"))
}

/// A different length is a zoom; a span that does not overlap the previous one is a jump; the rest is panning.
fn is_zoom_or_jump(before: Option<(i64, i64)>, after: Option<(i64, i64)>) -> bool {
    match (before, after) {
        (None, None) => false,
        (None, Some(_)) | (Some(_), None) => true,
        (Some((a, b)), Some((c, d))) => {
            // The address has whole nanoseconds: panning may change a length by one at each end.
            let by = b.saturating_sub(a).abs_diff(d.saturating_sub(c));
            by > 2 || d <= a || b <= c
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_zooms_and_jumps_are_entries_and_panning_is_not() {
        let at = |rest: &str| format!("#/profile?v=1&model=nn&{rest}");
        let is = |a: &str, b: &str| is_another_view(&at(a), &at(b));
        assert!(is("tool=overview", "tool=statistics"));
        assert!(is("tool=trace", "tool=trace&from=1&to=9"));
        assert!(is("tool=trace&from=0&to=100", "tool=trace&from=10&to=90"));
        assert!(is("tool=trace&from=0&to=100", "tool=trace&from=200&to=300"));
        assert!(!is("tool=trace&from=0&to=100", "tool=trace&from=20&to=121"));
        assert!(!is("tool=trace&q=a", "tool=trace&q=ab"));
        assert!(!is_another_view("#/profile", &at("tool=overview")));
        let records = |rest: &str| format!("#/experiments?v=1&data=sample{rest}");
        assert!(is_another_view(&records(""), &records("&open=resnet18")));
        assert!(is_another_view(&records("&view=latest"), &records("&view=models")));
        assert!(!is_another_view(&records(""), &records("&filter=a")));
        assert!(!is_another_view("#/experiments", &records("&view=latest")));
        assert!(is_same_tool(&at("tool=trace"), &at("tool=trace&from=1&to=9")));
        assert!(!is_same_tool(&at("tool=overview"), &at("tool=trace&from=1&to=9")));
        assert!(!is_same_tool(&at("tool=trace&file=a"), &at("tool=trace&file=b")));
    }
}
