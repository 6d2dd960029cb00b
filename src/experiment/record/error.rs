//! Errors of a line.

use ns_base::Refusal;
use thiserror::Error;

/// Why a line cannot be used. Readers that count lines leave blank ones out.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum LineError {
    #[error("the line is blank; each line must be a JSON object")]
    Blank,
    #[error(transparent)]
    Unusable(#[from] Refusal),
}

/// The first characters of a text.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST { text.to_owned() } else { text.chars().take(MOST).collect::<String>() + " ..." }
}
