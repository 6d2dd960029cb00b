//! Results that the browser kept: what a page that shows one result does with an address, and what it says about a kept result.

use ns_session::share::Address;

/// What an address asks of its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkIntent {
    /// To show the result of what it names.
    Result,
    /// To show the page, without anything in particular.
    Page,
    /// To fill in the form: a part of the address could not be used, or it names nothing.
    Form,
}

impl LinkIntent {
    /// What an address asks for. Read the page's fields first: reading finds what is wrong.
    #[must_use]
    pub fn of(address: &Address) -> Self {
        if address.runs_by_itself() {
            Self::Result
        } else if address.is_bare() {
            Self::Page
        } else {
            Self::Form
        }
    }
}

/// What a page does with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It shows the kept result.
    Restore,
    /// It runs.
    Run,
    /// It waits for Run.
    Wait,
}

/// What a page does with an address. A kept result is as good as a new run: a simulation gives the same numbers each time. A
/// measurement of this processor runs only when the user wants it; a page that is busy goes on with its run.
#[must_use]
pub const fn opening_of(intent: LinkIntent, is_kept: bool, is_measured: bool, is_busy: bool) -> Opening {
    match intent {
        LinkIntent::Result | LinkIntent::Page if is_kept && !is_busy => Opening::Restore,
        LinkIntent::Result if !is_measured && !is_busy => Opening::Run,
        LinkIntent::Result | LinkIntent::Page | LinkIntent::Form => Opening::Wait,
    }
}

/// A kept result that is shown: its request, and when its run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptResult<S> {
    pub spec: S,
    /// When the run ended, milliseconds since 1970.
    pub when_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_session::studies::StudyKind;

    #[test]
    fn an_address_asks_for_what_it_names() {
        let intent = |hash: &str| {
            let mut address = Address::read(hash);
            let _ = address.study(StudyKind::Numerics);
            LinkIntent::of(&address)
        };
        assert_eq!(intent("#/numerics?v=1&model=mlp"), LinkIntent::Result);
        assert_eq!(intent("#/numerics"), LinkIntent::Page);
        assert_eq!(intent("#/numerics?v=1"), LinkIntent::Form);
        assert_eq!(intent("#/numerics?v=1&model=mlp&seed=-1"), LinkIntent::Form);
    }

    #[test]
    fn a_kept_result_comes_before_a_run() {
        for is_measured in [false, true] {
            assert_eq!(opening_of(LinkIntent::Result, true, is_measured, false), Opening::Restore);
            assert_eq!(opening_of(LinkIntent::Page, true, is_measured, false), Opening::Restore);
            assert_eq!(opening_of(LinkIntent::Page, false, is_measured, false), Opening::Wait);
            assert_eq!(opening_of(LinkIntent::Form, true, is_measured, false), Opening::Wait);
        }
        assert_eq!(opening_of(LinkIntent::Result, false, false, false), Opening::Run);
        assert_eq!(opening_of(LinkIntent::Result, false, true, false), Opening::Wait, "a measurement waits for Run");
        for (intent, is_kept) in [(LinkIntent::Result, true), (LinkIntent::Result, false), (LinkIntent::Page, true)] {
            assert_eq!(opening_of(intent, is_kept, false, true), Opening::Wait, "the run goes on");
        }
    }
}
