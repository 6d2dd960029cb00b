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
}
