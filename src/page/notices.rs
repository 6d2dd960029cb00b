//! What the page has to say: each notice goes by itself after a time that suits it, or when it is dismissed.

use std::rc::Rc;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Done as asked.
    Good,
    /// Worth knowing.
    Info,
    /// Something did not work.
    Bad,
}

/// One notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its number.
    pub id: u32,
    /// How much it matters.
    pub tone: Tone,
    /// What it says.
    pub text: Rc<str>,
}

/// All notices on the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    /// From old to new.
    pub list: Vec<Notice>,
    next: u32,
}

/// What happens to notices.
#[derive(Clone, Debug)]
pub enum NoticeAction {
    /// Say something.
    Say(Tone, String),
    /// Take one away.
    Dismiss(u32),
}

/// More at once are not read by anyone.
pub const MOST_NOTICES: usize = 4;

impl Notices {
    /// The notices after an action.
    #[must_use]
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
            NoticeAction::Dismiss(id) => next.list.retain(|n| n.id != id),
        }
        next
    }
}
