//! The result of a study, or a view of records, as a file: its document.

use super::live_address;
use crate::build_id;
use ns_forms::share::{ExperimentLink, Link, PageLink as _};
use ns_forms::studies::StudySpec;
use ns_view::document::Document;
use ns_view::page::{PageFile, figure};

/// A result as one HTML file, with a link to the study on the page at `base`; without a study, whose sources no link holds, without one.
pub fn study_page(study: Option<&StudySpec>, document: &Document, base: &str) -> String {
    let made = match study {
        Some(study) if study.is_measured() => "Measured",
        Some(_) => "Simulated",
        None => "Made",
    };
    let lead = format!("{made} by neuronscope {}. Press a column heading to sort by it.", build_id());
    let live = study.map(|study| live_address(base, &study.hash()));
    page(document, lead, live)
}

/// A view of records as one HTML file. `link` shows it on the page at `base`: with the records if they are small, else with the names of
/// their files.
pub fn records_page(link: &ExperimentLink, document: &Document, base: &str) -> String {
    let lead = format!("Made by neuronscope {}. Press a column heading to sort by it.", build_id());
    let link = Link::Experiments(Box::new(link.clone()));
    page(document, lead, Some(live_address(base, &link.print())))
}

fn page(document: &Document, lead: String, live: Option<String>) -> String {
    PageFile { document: document.clone(), lead, live, figure, data: None }.to_html()
}
