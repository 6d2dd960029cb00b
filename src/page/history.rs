//! The address and the browser's history: which change of a view makes a new entry, and which view a given address opens.

use ns_session::share::{Address, Page, is_another_view, is_same_tool};

/// The effect of a view's new address on the browser's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The address stays as it is.
    Stay,
    /// The current entry gets another address.
    Replace,
    /// A new entry: Back returns from it.
    Push,
}

/// The current address, and where it came from.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    pub hash: &'a str,
    /// Whether it was just edited and the page has not followed yet.
    pub is_edited: bool,
    /// Whether a timeline that was just opened is choosing its first span, to which the user did not go.
    pub opens_at_span: bool,
}

/// The effect of showing another hash, and whether that was the first span of a timeline that was just opened.
///
/// Another page, or another view of a page ([`is_another_view`]), makes a new entry; any other change of a page does not. An
/// edited address takes precedence: the page follows it.
pub fn entry_of(now: Now, hash: &str) -> (Entry, bool) {
    if now.is_edited || now.hash == hash {
        return (Entry::Stay, false);
    }
    let is_of_page = now.hash.is_empty() || page_of(now.hash) == page_of(hash);
    let has_span = hash.contains("&from=") && now.opens_at_span;
    let is_first_span = has_span && is_same_tool(now.hash, hash);
    let replaces = is_of_page && (is_first_span || !is_another_view(now.hash, hash));
    (if replaces { Entry::Replace } else { Entry::Push }, has_span)
}

/// `#/profile` of `#/profile?model=nn`.
pub fn page_of(hash: &str) -> &str {
    hash.split('?').next().unwrap_or_default()
}

/// The profile page's reaction to a given address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Following {
    /// The page shows a view of this visit again.
    Revisit,
    /// The page shows a link.
    Load {
        /// Whether the link names a model that has to be run.
        wants_run: bool,
    },
}

/// The profile page's reaction to an address: Back and Forward walk through views of this visit, any other address is a link.
pub const fn profile_follows(is_first: bool, is_of_visit: bool, names_model: bool) -> Following {
    if !is_first && is_of_visit { Following::Revisit } else { Following::Load { wants_run: names_model } }
}

/// Whether a page of the lab reads an address. A page that was shown before stays as the user left it if the address names nothing.
pub const fn lab_follows(is_new: bool, is_bare: bool) -> bool {
    is_new || !is_bare
}

/// Whether a link with an unusable part keeps its page from running by itself, so that the user is told. `has_plan` says whether a link to the
/// page of experiments has a plan to run.
pub fn waits_for_user(page: Page, has_plan: bool, address: &Address) -> bool {
    let has_run = has_plan || !matches!(page, Page::Inspect | Page::Experiments | Page::Guide);
    has_run && address.names_something() && !address.notices.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(now: &str, hash: &str) -> Entry {
        entry_of(Now { hash: now, is_edited: false, opens_at_span: false }, hash).0
    }

    #[test]
    fn only_pages_and_views_are_history_entries() {
        let rows = [
            ("#/profile?tool=overview", "#/profile?tool=overview", Entry::Stay),
            ("", "#/benchmark?model=nn", Entry::Replace),
            ("#/benchmark?seed=0", "#/benchmark?seed=1", Entry::Replace),
            ("#/benchmark?seed=0", "#/numerics?model=nn", Entry::Push),
            ("#/profile?tool=overview", "#/profile?tool=statistics", Entry::Push),
            ("#/profile?tool=trace&q=a", "#/profile?tool=trace&q=ab", Entry::Replace),
            ("#/profile?tool=trace", "#/profile?tool=trace&from=1&to=9", Entry::Push),
        ];
        for (now, hash, expected) in rows {
            assert_eq!(entry(now, hash), expected, "{now} -> {hash}");
        }
    }

    #[test]
    fn an_address_that_was_edited_leads() {
        let now = Now { hash: "#/profile", is_edited: true, opens_at_span: true };
        assert_eq!(entry_of(now, "#/benchmark?model=nn"), (Entry::Stay, false));
    }

    #[test]
    fn the_first_span_of_a_timeline_is_no_entry_and_is_the_first_only_once() {
        let at = |opens_at_span| Now { hash: "#/profile?tool=trace", is_edited: false, opens_at_span };
        assert_eq!(entry_of(at(true), "#/profile?tool=trace&from=1&to=9"), (Entry::Replace, true));
        assert_eq!(entry_of(at(false), "#/profile?tool=trace&from=1&to=9"), (Entry::Push, false));
        // Going to a span in another tool is a jump, and ends the choice of the first span.
        assert_eq!(entry_of(at(true), "#/profile?tool=overview&from=1&to=9"), (Entry::Push, true));
        assert_eq!(entry_of(at(true), "#/benchmark?x=1&from=1"), (Entry::Push, true));
        assert_eq!(entry_of(at(true), "#/profile?tool=trace&q=a"), (Entry::Replace, false));
    }

    #[test]
    fn back_revisits_and_links_load() {
        assert_eq!(profile_follows(false, true, true), Following::Revisit);
        assert_eq!(profile_follows(true, true, true), Following::Load { wants_run: true });
        assert_eq!(profile_follows(false, false, false), Following::Load { wants_run: false });
    }

    #[test]
    fn a_lab_page_keeps_its_state_at_a_bare_address() {
        for (is_new, is_bare, expected) in
            [(true, true, true), (true, false, true), (false, true, false), (false, false, true)]
        {
            assert_eq!(lab_follows(is_new, is_bare), expected, "{is_new} {is_bare}");
        }
    }

    #[test]
    fn a_link_with_a_mistake_does_not_start_a_run() {
        let waits = |hash: &str| {
            let mut address = Address::read(hash);
            let page = address.page();
            drop(address.benchmark());
            waits_for_user(page, hash.contains("run_"), &address)
        };
        assert!(waits("#/benchmark?model=nn&seed=-1"));
        assert!(!waits("#/benchmark?model=nn&seed=1"));
        assert!(!waits("#/inspect?model=nn&seed=-1"));
        assert!(!waits("#/experiments?view=latest&v=none") && waits("#/experiments?run_repeat=4&v=none"));
    }
}
