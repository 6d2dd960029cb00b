//! A finished result of a page that shows one at a time, as the item and the text that a shell keeps.
//!
//! The text is a message's bytes, compressed, one character per byte (U+0000 to U+00FF), as the rows of a benchmark are. A build
//! reads texts from builds with the same protocol.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::kept_sweep::{of_text, to_text};
use crate::PROTOCOL_VERSION;
use crate::studies::StudyResult;
use ns_forms::share::PageLink;
use ns_forms::shelf::{ItemKind, ShelfItem};
use ns_forms::studies::{FieldKind, FormField, StudyKind, StudySpec};

/// The level of compression: results have a few hundred kilobytes, and keeping one must not be noticed.
const LEVEL: u8 = 6;
/// Most bytes of a text that is read: a text that was tampered with must not fill the memory.
const MOST_UNPACKED: usize = 64 << 20;

/// A finished result with its request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptResult<S, R> {
    pub spec: S,
    pub result: R,
    /// When the run ended, milliseconds since 1970.
    pub when_ms: u64,
}

pub type KeptStudy = KeptResult<StudySpec, StudyResult>;

/// A request whose result can be kept.
pub trait Keepable: PageLink {
    fn item_kind(&self) -> ItemKind;
}

impl Keepable for StudySpec {
    fn item_kind(&self) -> ItemKind {
        study_item(self.kind())
    }
}

/// The kind whose lines have the path of the study's page.
pub fn study_item(kind: StudyKind) -> ItemKind {
    ItemKind::of_key(kind.path()).unwrap_or(ItemKind::Run)
}

impl KeptStudy {
    /// Its name in a list: the title of its document, and for several cases of the microbenchmark the lists that made them.
    pub fn title(&self) -> String {
        let title = self.result.document.title.clone();
        let is_swept = |field: &FormField| field.kind == FieldKind::Numbers && self.spec.text(field.key).contains(',');
        let swept = self.spec.kind().form().fields().filter(|field| is_swept(field));
        let swept: Vec<String> = swept.map(|field| format!("{} {}", field.label, self.spec.text(field.key))).collect();
        if self.spec.kind() != StudyKind::Matmult || swept.is_empty() {
            return title;
        }
        format!("{title}: {}", swept.join("; "))
    }
}

/// The item of a request's result: the same request always has the same item.
pub fn result_item<S: Keepable>(spec: &S, title: &str, when_ms: u64) -> ShelfItem {
    let item = ShelfItem::of_link(spec.item_kind(), title, &spec.hash(), when_ms);
    ShelfItem { rows: item.id(), ..item }
}

impl<S: Serialize, R: Serialize> KeptResult<S, R> {
    /// As text; `None` if it cannot be written.
    pub fn to_text(&self) -> Option<String> {
        let plain = postcard::to_allocvec(self).ok()?;
        to_text(&(PROTOCOL_VERSION, miniz_oxide::deflate::compress_to_vec_zlib(&plain, LEVEL)))
    }
}

impl<S: DeserializeOwned, R: DeserializeOwned> KeptResult<S, R> {
    /// From text; `None` when it is damaged, or from a build with another protocol.
    pub fn from_text(text: &str) -> Option<Self> {
        let (version, packed): (u32, Vec<u8>) = of_text(text)?;
        if version != PROTOCOL_VERSION {
            return None;
        }
        let plain = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&packed, MOST_UNPACKED).ok()?;
        postcard::from_bytes(&plain).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::StudyFile;
    use ns_view::document::Document;

    fn study(batch: &str) -> KeptStudy {
        let mut spec = StudySpec::new(StudyKind::Matmult);
        spec.set("batch_size", batch).unwrap();
        let document = Document { title: "A case".to_owned(), ..Document::default() };
        let text = "size,time\n1024,28.1\n".repeat(2_000);
        let file = StudyFile { label: "CSV".to_owned(), name: "a.csv".to_owned(), text, ..StudyFile::default() };
        KeptResult { spec, result: StudyResult { document, files: vec![file], ..StudyResult::default() }, when_ms: 7 }
    }

    #[test]
    fn a_result_is_read_back_whole_and_takes_little_room() {
        let kept = study("2");
        let text = kept.to_text().unwrap();
        assert_eq!(KeptStudy::from_text(&text), Some(kept.clone()));
        assert!(text.chars().count() < kept.result.files[0].text.len() / 10, "{}", text.len());
        assert!(text.chars().all(|c| u32::from(c) < 256));
    }

    #[test]
    fn a_text_that_is_damaged_or_of_another_build_is_no_result() {
        let text = study("2").to_text().unwrap();
        let half: String = text.chars().take(text.chars().count() / 2).collect();
        let of_before = to_text(&(PROTOCOL_VERSION - 1, vec![0_u8; 4])).unwrap();
        for text in ["", "x", "\u{20ac}", half.as_str(), of_before.as_str()] {
            assert_eq!(KeptStudy::from_text(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_request_has_one_item_whose_link_opens_it() {
        let (two, three) = (study("2"), study("3"));
        let item = |kept: &KeptStudy, when| result_item(&kept.spec, &kept.title(), when);
        assert_eq!(item(&two, 1).id(), item(&two, 9).id());
        assert_ne!(item(&two, 1).id(), item(&three, 1).id());
        assert_eq!((item(&two, 1).name, item(&two, 1).rows), ("A case".to_owned(), item(&two, 9).id()));
        assert!(item(&two, 1).link.starts_with("#/matmult?") && item(&two, 1).link.contains("batch_size=2"));
        let spec = StudySpec::new(StudyKind::Numerics);
        let line = result_item(&spec, "mlp on trn1.2xlarge", 1).to_text();
        let read = ShelfItem::from_text(&line).unwrap();
        assert_eq!((read.kind, read.link), (ItemKind::Numerics, spec.hash()));
        for kind in StudyKind::ALL {
            let (item, page) = (study_item(kind).title(), kind.form().title);
            // Kernels are one page, whose items are named by their language.
            assert!(kind.is_kernel() || page.starts_with(item), "{item} of {page}");
        }
        let mut several = study("2");
        several.spec.set("matrix_dim", "64,128").unwrap();
        assert_eq!(several.title(), "A case: Matrix size N 64,128");
    }
}
