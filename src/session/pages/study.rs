//! The result of a study as a file: its document.

use super::live_address;
use crate::protocol::build_id;
use crate::share::PageLink as _;
use crate::studies::StudySpec;
use ns_view::document::Document;
use ns_view::page::PageFile;

/// A result as one HTML file, with a link to the study on the page at `base`.
pub fn study_page(study: &StudySpec, document: &Document, base: &str) -> String {
    let made = if study.is_measured() { "Measured" } else { "Simulated" };
    let lead = format!("{made} by neuronscope {}. Press a column heading to sort by it.", build_id());
    let live = Some(live_address(base, &study.hash()));
    PageFile { document: document.clone(), lead, live, data: None }.to_html()
}
