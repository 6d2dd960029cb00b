//! Notices of the page: each disappears after a time that depends on its importance, or when it is dismissed.

use std::rc::Rc;

/// Importance of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Done as asked.
    Good,
    /// Worth knowing.
    Info,
    /// Something did not work.
    Bad,
}

impl Tone {
    /// How long a notice stays while the pointer is not over it: bad news needs time to be read.
    pub const fn stay_ms(self) -> u32 {
        match self {
            Self::Good => 6_000,
            Self::Info => 12_000,
            Self::Bad => 30_000,
        }
    }

    /// Its name in the style sheet.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Info => "info",
            Self::Bad => "bad",
        }
    }

    /// Whether it interrupts a screen reader.
    pub const fn is_alert(self) -> bool {
        matches!(self, Self::Bad)
    }
}

/// One notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub id: u32,
    pub tone: Tone,
    pub text: Rc<str>,
}

/// All notices on the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    /// From old to new.
    pub list: Vec<Notice>,
    next: u32,
}

#[derive(Clone, Debug)]
pub enum NoticeAction {
    /// Adds a notice.
    Say(Tone, String),
    /// Removes a notice.
    Dismiss(u32),
    /// Removes the errors: what they were about was done again.
    DismissBad,
    /// Removes all: something else was asked for.
    Leave,
}

/// The most notices at once: nobody would read more.
pub const MOST_NOTICES: usize = 4;

impl Notices {
    pub fn after(&self, action: NoticeAction) -> Self {
        let mut next = self.clone();
        match action {
            NoticeAction::Say(tone, text) => {
                next.list.retain(|n| *n.text != *text);
                next.list.push(Notice { id: next.next, tone, text: text.into() });
                next.next += 1;
                if next.list.len() > MOST_NOTICES {
                    next.list.remove(0);
                }
            }
            NoticeAction::DismissBad => next.list.retain(|n| n.tone != Tone::Bad),
            NoticeAction::Leave => next.list.clear(),
            NoticeAction::Dismiss(id) => next.list.retain(|n| n.id != id),
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn say(tone: Tone, text: &str) -> NoticeAction {
        NoticeAction::Say(tone, text.to_owned())
    }

    fn after(actions: impl IntoIterator<Item = NoticeAction>) -> Notices {
        actions.into_iter().fold(Notices::default(), |notices, action| notices.after(action))
    }

    #[test]
    fn errors_go_when_what_they_were_about_is_done_again() {
        let notices =
            after([say(Tone::Good, "saved"), say(Tone::Bad, "1,MAX is not a list"), NoticeAction::DismissBad]);
        assert_eq!(notices.list.iter().map(|n| n.text.to_string()).collect::<Vec<_>>(), ["saved"]);
    }

    /// The notices as the list shows them: number, style, whether it interrupts, text.
    fn lines_of(notices: &Notices) -> Vec<String> {
        let line =
            |n: &Notice| format!("{} {}{} {}", n.id, n.tone.name(), if n.tone.is_alert() { "!" } else { "" }, n.text);
        notices.list.iter().map(line).collect()
    }

    #[test]
    fn actions_change_the_list() {
        let rows = [
            (vec![], vec![]),
            (vec![say(Tone::Good, "Done."), say(Tone::Bad, "No.")], vec!["0 good Done.", "1 bad! No."]),
            // A repeated notice becomes the newest.
            (vec![say(Tone::Info, "a"), say(Tone::Info, "b"), say(Tone::Bad, "a")], vec!["1 info b", "2 bad! a"]),
            (vec![say(Tone::Info, "a"), say(Tone::Info, "b"), NoticeAction::Dismiss(0)], vec!["1 info b"]),
            (vec![say(Tone::Info, "a"), NoticeAction::Dismiss(7)], vec!["0 info a"]),
        ];
        for (actions, expected) in rows {
            assert_eq!(lines_of(&after(actions.clone())), expected, "{actions:?}");
        }
        let many = after((0..9).map(|i| say(Tone::Info, &i.to_string())));
        assert_eq!(lines_of(&many), ["5 info 5", "6 info 6", "7 info 7", "8 info 8"]);
    }

    #[test]
    fn worse_notices_stay_longer() {
        assert!(Tone::Good.stay_ms() < Tone::Info.stay_ms() && Tone::Info.stay_ms() < Tone::Bad.stay_ms());
    }

    fn actions() -> impl Strategy<Value = NoticeAction> {
        let tones = prop_oneof![Just(Tone::Good), Just(Tone::Info), Just(Tone::Bad)];
        prop_oneof![
            3 => (tones, "[a-f]").prop_map(|(tone, text)| NoticeAction::Say(tone, text)),
            1 => (0_u32..20).prop_map(NoticeAction::Dismiss),
        ]
    }

    proptest! {
        #[test]
        fn notices_are_bounded_and_unique(actions in prop::collection::vec(actions(), 0..40)) {
            let notices = after(actions);
            prop_assert!(notices.list.len() <= MOST_NOTICES);
            for (i, notice) in notices.list.iter().enumerate() {
                for later in &notices.list[i + 1..] {
                    prop_assert!(notice.id < later.id && notice.text != later.text);
                }
            }
        }
    }
}
