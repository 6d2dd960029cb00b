//! Flags of commands whose result can be saved as a page.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::output::write;
use super::shell::Shell;
use ns_session::studies::StudySpec;
use ns_session::{LOCAL_PAGE, study_page};
use ns_view::document::Document;

#[derive(Debug, Args)]
pub(super) struct PageArgs {
    /// Also write the result as a page: one HTML file with its tables and plots, which opens without a network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Address of neuronscope, for the link in the page
    #[arg(long, value_name = "URL", default_value = LOCAL_PAGE, requires = "html")]
    pub live: String,
}

impl PageArgs {
    /// Writes the document of a study, if a file is named; the link opens the study.
    pub fn save(&self, shell: &Shell, study: Option<&StudySpec>, document: &Document) -> Result<()> {
        self.save_page(shell, || study_page(study, document, &self.live))
    }

    /// Writes a page, if a file is named.
    pub fn save_page(&self, shell: &Shell, page: impl FnOnce() -> String) -> Result<()> {
        let Some(path) = &self.html else { return Ok(()) };
        write(shell, path, page())?;
        shell.note(&format!("the page is in {}", path.display()));
        Ok(())
    }
}
