//! The recorder of NKI kernels: a Python package inside the program, which runs the author's file.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail};

use crate::file::read_text;
use crate::shell::Shell;
use ns_base::digest64;
use ns_nki::{List, Settings};
use ns_session::studies::{BuiltInKernel, LIST_HAS_ITS_OWN, NkiStudy, is_notebook, python_of};

/// The package, without what Python adds to it.
static PACKAGE: include_dir::Dir<'static> = include_dir::include_dir!("$NKI_RECORDER");

/// How a kernel is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// File and function, as they were given.
    pub kernel: String,
    /// Each as `NAME=VALUE`.
    pub settings: Settings,
    /// The recorder's command line, but for the settings.
    words: Vec<String>,
}

impl Call {
    /// A kernel as a study calls it, with settings; one of this program has its shapes. Fails when the instance runs no kernels.
    pub fn of(study: &NkiStudy, kernel: &str, settings: &Settings) -> Result<Self> {
        let mut study = study.clone();
        let mut target = kernel.to_owned();
        if let Some(built_in) = built_in_kernel(kernel) {
            if study.shapes.is_empty() {
                built_in.shapes.clone_into(&mut study.shapes);
            }
            target = target.replacen(built_in.name, &folder().join(built_in.file).display().to_string(), 1);
        }
        let words = study.words(&target, &Settings::new()).map_err(|e| anyhow!(e))?;
        Ok(Self { kernel: kernel.to_owned(), settings: settings.clone(), words })
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

    /// Writes the package if one of these kernels is Python. Fails when it cannot be written, or a kernel is no file and none of this program.
    pub fn prepare<'a>(&mut self, shell: &Shell, mut kernels: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        kernels.clone().try_for_each(|kernel| is_there(shell, kernel))?;
        if kernels.all(is_list) {
            return Ok(());
        }
        let folder = folder();
        for (path, content) in package() {
            let place = folder.join(path);
            if std::fs::read_to_string(&place).ok().as_deref() != Some(content) {
                crate::output::create_folder(&folder.join("nki_recorder"))?;
                std::fs::write(&place, content).with_context(|| format!("{} cannot be written", place.display()))?;
            }
        }
        self.folder = Some(folder);
        Ok(())
    }

    /// The list of a kernel. `python` records the next one too, if only its settings differ. Fails when the file cannot be read or recorded.
    pub fn list(&self, call: &Call, python: &mut Option<Python>) -> Result<String> {
        let Call { kernel, settings, words } = call;
        let Some(folder) = self.folder.as_ref().filter(|_| !is_list(kernel)) else {
            let is_of_call =
                |word: &String| ["--shapes", "--grid", "--check"].iter().any(|flag| word.starts_with(flag));
            if !settings.is_empty() || words.iter().any(is_of_call) {
                bail!("{kernel}: {LIST_HAS_ITS_OWN}");
            }
            return read_text(&Shell::default(), Path::new(kernel));
        };
        let base = Call { settings: Settings::new(), ..call.clone() };
        let mut running = match python.take().filter(|python| python.call == base) {
            Some(running) => running,
            None => Python::start(folder, base)?,
        };
        let text = running.list(settings)?;
        *python = Some(running);
        Ok(text)
    }

    /// The list of a kernel, read. Fails as [`Self::list`], and when it is no list.
    pub fn read(&self, call: &Call, python: &mut Option<Python>) -> Result<(String, List)> {
        let text = self.list(call, python)?;
        let list = List::read(&text).map_err(|error| error.within(|what| format!("{}: {what}", call.kernel)))?;
        Ok((text, list))
    }
}

/// A recorder that runs, for calls that differ in their settings only.
pub(super) struct Python {
    call: Call,
    child: Child,
    /// The last line that it said to stderr; the thread reads all, so that a file that prints much does not wait for ever.
    said: Option<thread::JoinHandle<String>>,
    out: BufReader<std::process::ChildStdout>,
}

impl Drop for Python {
    fn drop(&mut self) {
        // It ends by itself when its input does; one that is at work is no longer wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Python {
    fn start(folder: &Path, call: Call) -> Result<Self> {
        let Call { kernel, words, .. } = &call;
        let mut python = Command::new(PYTHON);
        python.args(["-m", "nki_recorder"]).args(words).arg("--each");
        // Of a notebook, its cells with code come first.
        let source = source_of_notebook(kernel)?;
        python.args(source.iter().map(|_| "--source"));
        python.env("PYTHONPATH", folder).env("PYTHONDONTWRITEBYTECODE", "1");
        let child = python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = match child {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
                "{kernel}: {PYTHON} is not installed, and it runs the kernel's file; install Python 3.9 or later, or give a list that \
                 --list wrote elsewhere"
            ),
            other => other.with_context(|| format!("{PYTHON} cannot be started"))?,
        };
        if let (Some(source), Some(to)) = (source, &mut child.stdin) {
            // Python that ended before it read has written why to stderr.
            let _ = writeln!(to, "{}", serde_json::to_string(&source)?);
        }
        let (out, errors) = (child.stdout.take(), child.stderr.take());
        let out = BufReader::new(out.context("the recorder has no output")?);
        let said = errors.map(|errors| thread::spawn(move || last_line(BufReader::new(errors))));
        Ok(Self { call, child, said, out })
    }

    fn list(&mut self, settings: &[String]) -> Result<String> {
        let mut text = String::new();
        let line = serde_json::to_string(settings)? + "\n";
        // Python that ended before it read the line has written why to stderr.
        let sent = self.child.stdin.as_mut().map(|to| to.write_all(line.as_bytes()).and_then(|()| to.flush()));
        if matches!(sent, Some(Ok(()))) {
            self.out.read_line(&mut text)?;
        }
        if text.ends_with('\n') {
            return Ok(text);
        }
        let said = self.said.take().and_then(|said| said.join().ok()).filter(|line| !line.is_empty());
        let said = said.as_deref().unwrap_or("it said nothing");
        let said =
            said.trim_start_matches("nki_recorder: ").trim_start_matches("error: ").trim_start_matches("argument ");
        bail!("{}: {said}", self.call.kernel)
    }
}

/// The files of the package, and the kernels of this program beside it.
fn package() -> impl Iterator<Item = (PathBuf, &'static str)> {
    let files = PACKAGE.files().filter(|file| file.path().extension().is_some_and(|extension| extension == "py"));
    let files = files.filter_map(|file| Some((Path::new("nki_recorder").join(file.path()), file.contents_utf8()?)));
    files.chain(BuiltInKernel::ALL.iter().map(|kernel| (PathBuf::from(kernel.file), kernel.source)))
}

/// Where the package is written: a folder for each version; who else writes it writes the same.
fn folder() -> PathBuf {
    let all: String = package().map(|(_, content)| content).collect();
    std::env::temp_dir().join(format!("neuronscope-nki-{:016x}", digest64(&all)))
}

/// The file of a kernel, without its function.
fn file_of(kernel: &str) -> &str {
    kernel.split_once("::").map_or(kernel, |(file, _)| file)
}

/// The kernel of this program that a name means; a file of that name is meant first.
fn built_in_kernel(kernel: &str) -> Option<&'static BuiltInKernel> {
    BuiltInKernel::named(file_of(kernel)).filter(|kernel| !Path::new(kernel.name).is_file())
}

fn is_there(shell: &Shell, kernel: &str) -> Result<()> {
    let file = file_of(kernel);
    let path = Path::new(file);
    if path.is_dir() && built_in_kernel(kernel).is_none() {
        bail!("{file}: this is a folder; name a file in it, such as {}", path.join("kernel.py").display());
    }
    if built_in_kernel(kernel).is_some() || path.exists() || shell.file(path).is_some() {
        return Ok(());
    }
    if let Some((before, function)) = file.rsplit_once(':').filter(|(before, _)| Path::new(before).is_file()) {
        bail!("{file}: there is no such file; write {before}::{function} for a function of {before}");
    }
    bail!(
        "{file}: there is no such file, and no kernel of that name in this program; it has {}",
        BuiltInKernel::names()
    )
}

/// The name of a kernel's file, without its folder.
pub(super) fn name_of(kernel: &str) -> String {
    let file = built_in_kernel(kernel).map_or(file_of(kernel), |built_in| built_in.file);
    Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The text of a kernel's file. Fails when it cannot be read.
pub(super) fn text_of(shell: &Shell, kernel: &str) -> Result<String> {
    built_in_kernel(kernel)
        .map_or_else(|| read_text(shell, Path::new(file_of(kernel))), |built_in| Ok(built_in.source.to_owned()))
}

/// The Python of a kernel's file, if that is a notebook. Fails when it cannot be read.
fn source_of_notebook(kernel: &str) -> Result<Option<String>> {
    let read = |file| Ok(python_of(file, &read_text(&Shell::default(), Path::new(file))?)?.1);
    Some(file_of(kernel)).filter(|file| is_notebook(file)).map(read).transpose()
}

/// The last line of a text that is not empty.
fn last_line(mut text: impl std::io::BufRead) -> String {
    let (mut last, mut line) = (String::new(), Vec::new());
    while text.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let said = String::from_utf8_lossy(&line);
        if !said.trim().is_empty() {
            said.trim().clone_into(&mut last);
        }
        line.clear();
    }
    last
}

/// The program that runs the author's file.
const PYTHON: &str = "python3";

/// Whether a kernel is a recorded list.
fn is_list(kernel: &str) -> bool {
    Path::new(kernel).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}
