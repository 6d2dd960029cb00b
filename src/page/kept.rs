//! Results that the browser kept: what a page that shows one result does with an address, and what it says about a kept result.

use ns_session::share::Address;

/// What an address asks of its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// To show the result of what it names.
    Result,
    /// To show the page, without anything in particular.
    Page,
    /// To fill in the form: a part of the address could not be used, or it names nothing.
    Form,
}

impl Asking {
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
pub const fn opening_of(asking: Asking, is_kept: bool, is_measured: bool, is_busy: bool) -> Opening {
    match asking {
        Asking::Result | Asking::Page if is_kept && !is_busy => Opening::Restore,
        Asking::Result if !is_measured && !is_busy => Opening::Run,
        Asking::Result | Asking::Page | Asking::Form => Opening::Wait,
    }
}

/// A kept result that is shown: its request, and when its run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored<S> {
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
        let asking = |hash: &str| {
            let mut address = Address::read(hash);
            let _ = address.study(StudyKind::Numerics);
            Asking::of(&address)
        };
        assert_eq!(asking("#/numerics?v=1&model=mlp"), Asking::Result);
        assert_eq!(asking("#/numerics"), Asking::Page);
        assert_eq!(asking("#/numerics?v=1"), Asking::Form);
        assert_eq!(asking("#/numerics?v=1&model=mlp&seed=-1"), Asking::Form);
    }

    #[test]
    fn a_kept_result_comes_before_a_run() {
        for is_measured in [false, true] {
            assert_eq!(opening_of(Asking::Result, true, is_measured, false), Opening::Restore);
            assert_eq!(opening_of(Asking::Page, true, is_measured, false), Opening::Restore);
            assert_eq!(opening_of(Asking::Page, false, is_measured, false), Opening::Wait);
            assert_eq!(opening_of(Asking::Form, true, is_measured, false), Opening::Wait);
        }
        assert_eq!(opening_of(Asking::Result, false, false, false), Opening::Run);
        assert_eq!(opening_of(Asking::Result, false, true, false), Opening::Wait, "a measurement waits for Run");
        for (asking, is_kept) in [(Asking::Result, true), (Asking::Result, false), (Asking::Page, true)] {
            assert_eq!(opening_of(asking, is_kept, false, true), Opening::Wait, "the run goes on");
        }
    }
}
