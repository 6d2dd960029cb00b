//! A kept item, and the line of text that stores it.

use crate::share::Query;
use ns_base::{Digest, names};

/// Version of the lines that are written. A later page reads the lines of all earlier ones.
const VERSION: &str = "1";

names! {
    /// Kind of a kept item.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ItemKind {
        /// A file that was opened as a profile: its bytes are kept.
        Profile = "profile",
        /// A simulated run: its link is kept, which makes the same run again.
        Run = "run",
        /// Results of a benchmark: their rows are kept.
        Benchmark = "benchmark",
        /// Records of experiments: the bytes of their file are kept.
        Records = "records",
        /// Experiments that ran on the page: their records are kept as rows.
        Experiments = "experiments",
        /// A model file: its bytes are kept.
        Model = "model",
        /// A comparison of values: its result is kept.
        Numerics = "numerics",
        /// Figures of devices beside predictions: the result is kept.
        Fidelity = "fidelity",
        /// A study of the microbenchmark: its result is kept.
        Matmult = "matmult",
        /// A study of a custom operator: its result is kept.
        Customop = "customop",
        /// A study of an NKI kernel: its result is kept.
        Nki = "nki",
        /// A study of a language model: its result is kept.
        Llm = "llm",
    }

    /// Its name in lines.
    const fn key(self) -> &'static str;
    pub fn of_key(key: &str) -> Option<Self>;
}

impl ItemKind {
    pub const fn title(self) -> &'static str {
        match self {
            Self::Profile => "File",
            Self::Run => "Simulated run",
            Self::Benchmark => "Benchmark",
            Self::Records => "Records",
            Self::Experiments => "Experiments",
            Self::Model => "Model file",
            Self::Numerics => "Numerics",
            Self::Fidelity => "Fidelity",
            Self::Matmult => "Microbenchmark",
            Self::Customop => "Custom operator",
            Self::Nki => "NKI",
            Self::Llm => "LLM",
        }
    }

    /// Whether the bytes of a file are kept with the item.
    pub const fn has_bytes(self) -> bool {
        matches!(self, Self::Profile | Self::Records | Self::Model)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShelfItem {
    pub kind: ItemKind,
    /// Its name, which the user can change; at first the name of the file or of the run.
    pub name: String,
    /// The name that its file was opened under; empty for items without a file.
    pub file: String,
    /// The hash that shows it.
    pub link: String,
    /// The key of its rows, for a benchmark, or of its result; empty for the others.
    pub rows: String,
    /// Bytes of its file.
    pub bytes: u64,
    /// When it was opened last, milliseconds since 1970.
    pub when_ms: u64,
    /// Whether it is pinned: kept until it is removed by hand.
    pub is_pinned: bool,
    /// Whether its bytes have been written completely.
    pub is_whole: bool,
}

impl ShelfItem {
    /// An item that is shown by its link alone.
    pub fn of_link(kind: ItemKind, name: &str, link: &str, when_ms: u64) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            file: String::new(),
            link: link.to_owned(),
            rows: String::new(),
            bytes: 0,
            when_ms,
            is_pinned: false,
            is_whole: true,
        }
    }

    /// A file whose bytes are about to be written.
    pub fn of_file(kind: ItemKind, file: &str, link: &str, bytes: u64, when_ms: u64) -> Self {
        let file = file.to_owned();
        Self { file, bytes, is_whole: false, ..Self::of_link(kind, "", link, when_ms) }.with_file_name()
    }

    fn with_file_name(mut self) -> Self {
        self.name.clone_from(&self.file);
        self
    }

    /// The name that it is stored under. The same item always has the same name, so that two tabs that keep it
    /// write one line: a file is known by its name and size, anything else by its link. A model file's link names its content.
    pub fn id(&self) -> String {
        let digest = Digest::default().text(self.kind.key());
        let digest = match self.kind {
            ItemKind::Profile | ItemKind::Records => digest.text(&self.file).number(self.bytes),
            _ => digest.text(&self.link),
        };
        format!("{:016x}", digest.finish())
    }

    /// This item, opened again: the user's changes to the kept item stay.
    pub fn after(mut self, before: &Self) -> Self {
        self.name.clone_from(&before.name);
        self.is_pinned = before.is_pinned;
        self
    }

    /// Writes the item as a line.
    pub fn to_text(&self) -> String {
        let mut query = Query::default();
        let flag = |is: bool| if is { "1" } else { "0" };
        for (key, value) in [
            ("v", VERSION),
            ("kind", self.kind.key()),
            ("name", &self.name),
            ("file", &self.file),
            ("link", &self.link),
            ("rows", &self.rows),
            ("bytes", &self.bytes.to_string()),
            ("when", &self.when_ms.to_string()),
            ("pinned", flag(self.is_pinned)),
            ("whole", flag(self.is_whole)),
        ] {
            query.set(key, value);
        }
        query.print()
    }

    /// Reads an item from a line; `None` for an unknown kind and for a malformed line.
    pub fn from_text(text: &str) -> Option<Self> {
        let query = Query::parse(text);
        let get = |key: &str| query.get(key).unwrap_or_default().to_owned();
        let kind = ItemKind::of_key(query.get("kind")?)?;
        let link = get("link");
        // The text becomes an address of this page, so other addresses are not allowed.
        if !link.starts_with("#/") {
            return None;
        }
        Some(Self {
            kind,
            name: get("name"),
            file: get("file"),
            link,
            rows: get("rows"),
            bytes: get("bytes").parse().ok()?,
            when_ms: get("when").parse().ok()?,
            is_pinned: get("pinned") == "1",
            is_whole: get("whole") == "1",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_item_has_one_id_however_often_it_is_saved() {
        let file = |name: &str, bytes| ShelfItem::of_file(ItemKind::Profile, name, "#/profile", bytes, 1);
        let renamed = ShelfItem { name: "mine".into(), when_ms: 9, is_pinned: true, ..file("a.json", 5) };
        assert_eq!(file("a.json", 5).id(), renamed.id());
        assert_ne!(file("a.json", 5).id(), file("a.json", 6).id());
        assert_ne!(file("a.json", 5).id(), file("b.json", 5).id());
        let run = |link: &str| ShelfItem::of_link(ItemKind::Run, "nn", link, 1);
        assert_ne!(run("#/profile?model=nn").id(), run("#/profile?model=mlp").id());
    }

    #[test]
    fn an_item_opened_again_keeps_its_name_and_pin() {
        let before = ShelfItem { name: "mine".into(), is_pinned: true, ..run(3) };
        let again = run(8).after(&before);
        assert_eq!((again.name.as_str(), again.is_pinned, again.when_ms), ("mine", true, 8));
    }

    fn run(when_ms: u64) -> ShelfItem {
        ShelfItem::of_link(ItemKind::Run, "nn", "#/profile?model=nn", when_ms)
    }

    #[test]
    fn edited_lines_are_not_items() {
        for text in [
            "",
            "kind=run",
            "kind=other&link=#/&bytes=0&when=0",
            "kind=run&link=javascript:alert(1)&bytes=0&when=0",
            "kind=run&link=%23/profile&bytes=-1&when=0",
        ] {
            assert_eq!(ShelfItem::from_text(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn lines_are_read_back(name in "\\PC{0,30}", file in "\\PC{0,30}", bytes in any::<u64>(), when in any::<u64>(), pinned in any::<bool>()) {
            let mut item = ShelfItem::of_file(ItemKind::Records, &file, "#/experiments?v=1", bytes, when);
            (item.name, item.is_pinned, item.rows) = (name, pinned, "00-1".to_owned());
            prop_assert_eq!(ShelfItem::from_text(&item.to_text()), Some(item));
        }
    }
}
