//! Notes about lines: counted, with the first of each kind by file and line.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteKind {
    /// Its text, which follows a count: `lines are not records`.
    pub what: &'static str,
    pub count: u64,
    /// The first examples: `file:line: reason`.
    pub examples: Vec<String>,
}

/// All notes, in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineNotes {
    kinds: Vec<NoteKind>,
}

/// Most examples of a kind that are kept.
const MOST_EXAMPLES: usize = 20;

impl LineNotes {
    /// Counts one more.
    pub fn add(&mut self, what: &'static str, example: impl FnOnce() -> String) {
        let at = self.kinds.iter().position(|k| k.what == what).unwrap_or_else(|| {
            self.kinds.push(NoteKind { what, count: 0, examples: Vec::new() });
            self.kinds.len() - 1
        });
        if let Some(kind) = self.kinds.get_mut(at) {
            kind.count += 1;
            if kind.examples.len() < MOST_EXAMPLES {
                kind.examples.push(example());
            }
        }
    }

    pub fn kinds(&self) -> &[NoteKind] {
        &self.kinds
    }

    /// The count of a kind.
    pub fn count(&self, what: &str) -> u64 {
        self.kinds.iter().find(|k| k.what == what).map_or(0, |k| k.count)
    }

    /// The notes as lines of text: each kind with its count, then its examples.
    pub fn describe(&self) -> String {
        Self::text(self.kinds.iter())
    }

    /// The same for one kind.
    pub fn describe_only(&self, what: &str) -> String {
        Self::text(self.kinds.iter().filter(|k| k.what == what))
    }

    fn text<'a>(kinds: impl Iterator<Item = &'a NoteKind>) -> String {
        let mut out = String::new();
        for kind in kinds {
            out.push_str(&format!("note: {} {}\n", kind.count, kind.what));
            for example in &kind.examples {
                out.push_str(&format!("note:   {example}\n"));
            }
            if kind.count > kind.examples.len() as u64 {
                out.push_str(&format!("note:   ... and {} more\n", kind.count - kind.examples.len() as u64));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_some_are_named() {
        let mut notes = LineNotes::default();
        for line in 1..=25 {
            notes.add("lines", || format!("a.jsonl:{line}"));
        }
        assert_eq!(notes.count("lines"), 25);
        assert_eq!(notes.describe_only("files"), "");
        assert_eq!(notes.describe_only("lines"), notes.describe());
        let text = notes.describe();
        assert!(
            text.starts_with("note: 25 lines\nnote:   a.jsonl:1\n") && text.ends_with("... and 5 more\n"),
            "{text}"
        );
    }
}
