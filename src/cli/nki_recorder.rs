//! The recorder of NKI kernels: a Python package inside the program, which runs the author's file.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, anyhow, bail};

use crate::file::read_text;
use ns_base::digest64;
use ns_nki::{List, Settings};
use ns_session::studies::NkiStudy;

/// The package, without what Python adds to it.
static PACKAGE: include_dir::Dir<'static> = include_dir::include_dir!("$NKI_RECORDER");

/// How a kernel is called.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// File and function.
    pub kernel: String,
    /// Each as `NAME=VALUE`.
    pub settings: Settings,
    /// What the values are compared with.
    pub check: Option<String>,
    /// The recorder's command line.
    words: Vec<String>,
}

impl Call {
    /// A kernel as a study calls it, with settings. Fails when the instance runs no kernels.
    pub fn of(study: &NkiStudy, kernel: &str, settings: &Settings, check: Option<&String>) -> Result<Self> {
        let mut words = study.words(kernel, settings).map_err(|e| anyhow!(e))?;
        words.extend(check.into_iter().flat_map(|check| ["--check".to_owned(), check.clone()]));
        Ok(Self { kernel: kernel.to_owned(), settings: settings.clone(), check: check.cloned(), words })
    }
}

/// A recorder that is ready to run.
pub(super) struct Recorder {
    /// The folder that holds the package; `None` until a file needs it.
    folder: Option<PathBuf>,
}

impl Recorder {
    pub const fn new() -> Self {
        Self { folder: None }
    }

    /// Writes the package if one of these kernels is Python. Fails when it cannot be written.
    pub fn prepare<'a>(&mut self, mut kernels: impl Iterator<Item = &'a str>) -> Result<()> {
        if kernels.all(is_list) {
            return Ok(());
        }
        let files: Vec<(&Path, &str)> = PACKAGE
            .files()
            .filter(|file| file.path().extension().is_some_and(|extension| extension == "py"))
            .filter_map(|file| Some((file.path(), file.contents_utf8()?)))
            .collect();
        let all: String = files.iter().map(|(_, content)| *content).collect();
        // A folder for each version; who else writes it writes the same.
        let folder = std::env::temp_dir().join(format!("neuronscope-nki-{:016x}", digest64(&all)));
        for (path, content) in files {
            let place = folder.join("nki_recorder").join(path);
            if std::fs::read_to_string(&place).ok().as_deref() != Some(content) {
                crate::output::create_folder(&folder.join("nki_recorder"))?;
                std::fs::write(&place, content).with_context(|| format!("{} cannot be written", place.display()))?;
            }
        }
        self.folder = Some(folder);
        Ok(())
    }

    /// The list of a kernel. Fails when the file cannot be read or recorded.
    pub fn list(&self, call: &Call) -> Result<String> {
        let Call { kernel, settings, check, words } = call;
        let Some(folder) = self.folder.as_ref().filter(|_| !is_list(kernel)) else {
            if !settings.is_empty() || check.is_some() {
                bail!("{kernel}: a recorded list has its settings; --set and --check need the Python file");
            }
            return read_text(Path::new(kernel));
        };
        let mut python = Command::new(PYTHON);
        python.args(["-m", "nki_recorder"]).args(words);
        python.env("PYTHONPATH", folder).env("PYTHONDONTWRITEBYTECODE", "1");
        let output = python.stdin(Stdio::null()).output();
        let output = match output {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
                "{kernel}: {PYTHON} is not installed, and it runs the kernel's file; install Python 3.9 or later, or give a list that \
                 --list wrote elsewhere"
            ),
            other => other.with_context(|| format!("{PYTHON} cannot be started"))?,
        };
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
            bail!("{kernel}: {}", last.trim().trim_start_matches("error: "));
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The list of a kernel, read. Fails as [`Self::list`], and when it is no list.
    pub fn read(&self, call: &Call) -> Result<(String, List)> {
        let text = self.list(call)?;
        let list = List::read(&text).map_err(|error| error.within(|what| format!("{}: {what}", call.kernel)))?;
        Ok((text, list))
    }
}

/// The program that runs the author's file.
const PYTHON: &str = "python3";

/// Whether a kernel is a recorded list.
fn is_list(kernel: &str) -> bool {
    Path::new(kernel).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}
