//! The fields of a link to the page of experiments: every choice, and the files if they are small.

use super::Query;
use crate::{ExperimentField, ExperimentSpec};

/// State of the page of experiments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExperimentLink {
    pub spec: ExperimentSpec,
    /// The files, compressed; absent if they are too large for a link.
    pub data: Option<String>,
    /// Names of files that the link does not hold.
    pub files: Vec<String>,
}

/// Name of the field that holds files.
const DATA: &str = "data";
/// Name of the field that names files; it may come several times.
const FILES: &str = "files";
/// Separator of file names.
const BETWEEN: char = '|';

/// The names of the fields.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ExperimentField::ALL.iter().map(|field| field.key()).chain([DATA, FILES])
}

/// Reads a link. Choices that cannot be used are reported when the records are shown.
pub(super) fn read(query: &Query) -> ExperimentLink {
    let mut link = ExperimentLink::default();
    for field in ExperimentField::ALL {
        if let Some(text) = query.get(field.key()) {
            link.spec.set(*field, text);
        }
    }
    link.data = query.get(DATA).filter(|d| !d.is_empty()).map(str::to_owned);
    let names = query.get(FILES).unwrap_or_default().split(BETWEEN);
    link.files = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    link
}

/// Writes a link. Choices that were left open are not written, so that the link fits other records too.
pub(super) fn write(link: &ExperimentLink, query: &mut Query) {
    for field in ExperimentField::ALL {
        let text = link.spec.get(*field);
        if !text.is_empty() {
            query.set(field.key(), text);
        }
    }
    if !link.files.is_empty() {
        query.set(FILES, &link.files.join(&BETWEEN.to_string()));
    }
    if let Some(data) = &link.data {
        query.set(DATA, data);
    }
}
