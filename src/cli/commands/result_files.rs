//! Files of reports and timers, with NeuronPerf's names where none is given.

#![allow(clippy::disallowed_methods, reason = "the name holds the date, as NeuronPerf's does")]

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};

use crate::file;
use crate::shell::Shell;
use ns_bench::{ModelIndex, Report, results_file_name};

/// The file for a flag: the named one, or `{model_name}.results-{date}-{time}.{extension}`.
pub(super) fn path_of(named: &Option<PathBuf>, reports: &[Report], extension: &str) -> PathBuf {
    if let Some(path) = named {
        return path.clone();
    }
    let secs = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    PathBuf::from(results_file_name(reports, secs, extension))
}

/// Refuses to overwrite a model index: it was meant as the index to run, but a flag before it took it as its value. Fails when the
/// file exists and is an index.
pub(super) fn refuse_index(shell: &Shell, flag: &str, path: Option<&Path>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    let is_index = path.is_file() && file::read_text(shell, path).is_ok_and(|text| ModelIndex::read(&text).is_ok());
    if is_index {
        let place = path.display();
        bail!(
            "{flag}: {place} is a model index and would be overwritten; put the index before the flag: bench {place} {flag}"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_neuronperfs_and_fit_a_folder() {
        let report = Report { model_name: "google/vit:a=1".into(), ..Report::default() };
        let name = path_of(&None, &[report], "csv").display().to_string();
        assert!(name.starts_with("google_vit_a=1.results-20") && name.ends_with(".csv"), "{name}");
        assert_eq!(name.len(), "google_vit_a=1.results-20211111-062818.csv".len());
        assert_eq!(path_of(&Some("a/b.csv".into()), &[], "csv"), Path::new("a/b.csv"));
    }
}
