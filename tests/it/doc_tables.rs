//! Tables in documents that tests write: `UPDATE_DOCS=1 cargo test --test it` writes them, every other run compares.

use std::sync::{Mutex, PoisonError};

/// Several tests write tables of one document.
static DOCUMENTS: Mutex<()> = Mutex::new(());

/// Asserts that a document holds `table` between the marks `<!-- begin: MARK -->` and `<!-- end: MARK -->`.
pub fn assert_written(document: &str, mark: &str, table: &str) {
    let (begin, end) = (format!("<!-- begin: {mark} -->\n"), format!("<!-- end: {mark} -->\n"));
    let _one_at_a_time = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let path = format!("{}/{document}", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("{document} has no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{document} has no {end}"));
    let printed = format!("{before}{begin}{table}{end}{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &printed).unwrap();
    }
    assert!(page == printed, "{document} does not hold the table of {mark}; run the test with UPDATE_DOCS=1");
}

/// Asserts that a file holds `text`.
pub fn assert_file(file: &str, text: &str) {
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    let held = std::fs::read_to_string(&path).unwrap_or_default();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert!(held == text, "{file} is not what is computed; run the test with UPDATE_DOCS=1");
}
