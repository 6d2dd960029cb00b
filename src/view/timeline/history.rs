//! The history of the view: undo and redo of zooming and panning.

/// The most steps back in the history.
const MOST: usize = 200;

/// The history, with steps back and forward between views.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewHistory<V> {
    past: Vec<V>,
    now: Option<V>,
    future: Vec<V>,
}

impl<V> Default for ViewHistory<V> {
    fn default() -> Self {
        Self { past: Vec::new(), now: None, future: Vec::new() }
    }
}

impl<V: Copy + PartialEq> ViewHistory<V> {
    /// Notes that the view came to rest here. Undone views can no longer be redone.
    pub fn record(&mut self, view: V) {
        if self.now == Some(view) {
            return;
        }
        if let Some(before) = self.now.replace(view) {
            self.past.push(before);
            if self.past.len() > MOST {
                self.past.remove(0);
            }
        }
        self.future.clear();
    }

    /// The view before this one.
    pub fn undo(&mut self) -> Option<V> {
        let to = self.past.pop()?;
        self.future.extend(self.now.replace(to));
        Some(to)
    }

    /// The view that was undone last.
    pub fn redo(&mut self) -> Option<V> {
        let to = self.future.pop()?;
        self.past.extend(self.now.replace(to));
        Some(to)
    }

    /// Whether there is a view before this one, and one after it.
    pub fn can(&self) -> (bool, bool) {
        (!self.past.is_empty(), !self.future.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undo_goes_back_and_redo_forth_until_something_new_happens() {
        let mut h = ViewHistory::default();
        for view in [1, 2, 2, 3] {
            h.record(view);
        }
        assert_eq!((h.undo(), h.undo(), h.undo()), (Some(2), Some(1), None));
        assert_eq!((h.redo(), h.can()), (Some(2), (true, true)));
        // A view that is already the current entry does not add a step.
        h.record(2);
        assert_eq!(h.can(), (true, true));
        h.record(9);
        assert_eq!((h.redo(), h.undo(), h.undo()), (None, Some(2), Some(1)));
    }
}
