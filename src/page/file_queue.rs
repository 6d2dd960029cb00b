//! Files that the user gave to the page, until their first bytes say which page reads them.

use crate::RunState;

/// Files that are not recognised yet. The page says from the first moment that it reads them: a slow disk may take long to give a byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileQueue {
    /// A label for the files of each action of the user, the oldest first.
    waiting: Vec<String>,
}

pub enum FileQueueAction {
    /// The user gave files with these names together.
    Add(Vec<String>),
    /// The page knows what these files are, and whoever reads them has them.
    Remove(Vec<String>),
}

impl FileQueue {
    pub fn after(&self, action: FileQueueAction) -> Self {
        let mut next = self.clone();
        match action {
            FileQueueAction::Add(names) => next.waiting.extend(label_of(&names)),
            FileQueueAction::Remove(names) => {
                if let Some(at) = label_of(&names).and_then(|label| next.waiting.iter().position(|l| *l == label)) {
                    next.waiting.remove(at);
                }
            }
        }
        next
    }

    pub const fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What a page shows whose own run is `run`: a run that goes on has its progress, else a file that waits is read.
    pub fn beside(&self, run: &RunState) -> RunState {
        match self.waiting.first() {
            Some(label) if !run.is_running() => RunState::started(label),
            _ => run.clone(),
        }
    }
}

/// What the page says while it reads files; nothing if there are none.
fn label_of(names: &[String]) -> Option<String> {
    let (first, others) = names.split_first()?;
    Some(match others.len() {
        0 => reading_label(first),
        1 => format!("{} and another file", reading_label(first)),
        n => format!("{} and {n} other files", reading_label(first)),
    })
}

/// What the page says while it reads a file.
pub fn reading_label(name: &str) -> String {
    format!("Reading {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    fn queue(list: &[&str]) -> FileQueue {
        FileQueue::default().after(FileQueueAction::Add(names(list)))
    }

    #[test]
    fn a_file_is_read_from_the_moment_it_is_given() {
        let files = queue(&["a.json"]);
        assert!(files.is_waiting());
        assert_eq!(files.beside(&RunState::Idle), RunState::started("Reading a.json"));
        assert_eq!(files.beside(&RunState::Failed("x".to_owned())), RunState::started("Reading a.json"));
        assert_eq!(queue(&["a", "b"]).beside(&RunState::Done), RunState::started("Reading a and another file"));
        assert_eq!(queue(&["a", "b", "c"]).beside(&RunState::Done), RunState::started("Reading a and 2 other files"));
        assert_eq!(queue(&[]), FileQueue::default());
    }

    #[test]
    fn a_run_that_goes_on_keeps_its_progress() {
        let half = RunState::Running { done: 1, total: 2, label: "Simulating".to_owned() };
        assert_eq!(queue(&["a.json"]).beside(&half), half);
    }

    #[test]
    fn a_recognised_file_leaves_the_run_that_was_there() {
        let files = queue(&["a.json"]).after(FileQueueAction::Remove(names(&["a.json"])));
        assert_eq!(files, FileQueue::default());
        for run in [RunState::Idle, RunState::Done, RunState::Cancelled, RunState::Failed("x".to_owned())] {
            assert_eq!(files.beside(&run), run);
        }
    }

    #[test]
    fn files_that_are_given_twice_wait_twice() {
        let both = queue(&["a.json"])
            .after(FileQueueAction::Add(names(&["b.json"])))
            .after(FileQueueAction::Add(names(&["a.json"])));
        let one_read = both.after(FileQueueAction::Remove(names(&["a.json"])));
        assert_eq!(one_read.beside(&RunState::Idle), RunState::started("Reading b.json"));
        let none_of_these = one_read.after(FileQueueAction::Remove(names(&["c.json"])));
        assert_eq!(none_of_these, one_read);
        let last = one_read.after(FileQueueAction::Remove(names(&["b.json"])));
        assert_eq!(last, queue(&["a.json"]));
    }
}
