//! The names nearest to a name that does not exist: a message offers these in place of a list of all.

use crate::Order;

/// How many names a message offers.
const OFFERED: usize = 3;

/// The three names most like `given`, the most like first; ties in the order of `names`. A name of a hub
/// (`google/bert`) is also compared by the part after its slash. Similarity is Jaro-Winkler's, which favours
/// a common beginning; letter case is ignored.
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let given = last_part(given).to_lowercase();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        strsim::jaro_winkler(&given, &name).max(strsim::jaro_winkler(&given, last_part(&name)))
    };
    let mut ranked: Vec<(f64, &str)> = names.into_iter().map(|name| (likeness(name), name)).collect();
    ranked.order_by(|a, b| b.0.total_cmp(&a.0));
    ranked.into_iter().take(OFFERED).map(|(_, name)| name).collect()
}

/// [`nearest`] in words: `resnet50, resnet34 or resnet18`.
pub fn nearest_text<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    match nearest(given, names).as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// From this similarity of Jaro and Winkler on, a name is taken for a misspelling of another: `instance_type` and `instance` have 0.92,
/// `later` and `level` 0.83.
const LIKE: f64 = 0.88;

/// The name of which `given` is likely a misspelling, if one is that much like it.
pub fn likely_name<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let lower = given.to_ascii_lowercase();
    let ranked = names.into_iter().map(|name| (strsim::jaro_winkler(&lower, name), name));
    ranked.filter(|(likeness, _)| *likeness >= LIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

fn last_part(name: &str) -> &str {
    name.trim().rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: [&str; 6] = ["nn", "matmult", "resnet18", "resnet50", "bert-base-uncased", "google/vit-base"];

    #[test]
    fn the_three_most_alike_are_offered_and_no_more() {
        assert_eq!(nearest("resnet", MODELS)[..2], ["resnet18", "resnet50"]);
        assert_eq!(nearest("RESNET-50", MODELS)[0], "resnet50");
        assert_eq!(nearest("vit", MODELS)[0], "google/vit-base");
        assert_eq!(nearest("hub/bert", MODELS)[0], "bert-base-uncased");
        assert_eq!(nearest("anything", MODELS).len(), 3);
        assert_eq!(nearest("", MODELS), ["nn", "matmult", "resnet18"]);
    }

    #[test]
    fn they_read_as_words() {
        assert_eq!(nearest_text("a", ["a", "b", "c", "d"]), "a, b or c");
        assert_eq!(nearest_text("a", ["b"]), "b");
        assert_eq!(nearest_text("a", []), "");
    }
}
