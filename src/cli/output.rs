//! Every file that a command writes. A whole file is written beside its place and then takes it: who reads it finds the old file or the
//! new one, never a part, also after a kill or on a full disk.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};

use crate::shell::Shell;
use ns_session::{Archive, WriteFormat};

/// Writes a file on disk or to the host, and creates its folder. Fails when it cannot be written; an old file is then as it was.
pub(super) fn write(shell: &Shell, path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    if shell.give(|host| host.write(path, content.as_ref())) == Some(true) {
        return Ok(());
    }
    let mut output = create(path)?;
    output.write_all(content.as_ref()).with_context(|| failed(path))?;
    output.finish()
}

/// Writes a profile: one file, or the folder that a format of folders has, unless the path names an archive of it. Fails when it
/// cannot be written.
pub(super) fn write_profile(shell: &Shell, path: &Path, content: Vec<u8>, format: WriteFormat) -> Result<()> {
    if !is_folder(path, format) {
        return write(shell, path, content);
    }
    if path.is_file() {
        bail!("{}: is a file; name a folder, or an archive that ends with .zip", path.display());
    }
    let archive = Archive::open(&content)?;
    archive
        .entries
        .iter()
        .try_for_each(|entry| write(shell, &path.join(&entry.name), archive.content(entry, u64::MAX)?))
}

/// Whether a profile of this format is written as a folder: the run folder or the log folder of the Neuron plugin, where the path does not
/// end with .zip.
pub(super) fn is_folder(path: &Path, format: WriteFormat) -> bool {
    let is_archive = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("zip"));
    matches!(format, WriteFormat::NeuronPlugin | WriteFormat::TensorBoard) && !is_archive
}

/// Begins a file whose content comes in parts, and creates its folder. Fails when it cannot be written.
pub(super) fn create(path: &Path) -> Result<Output> {
    create_folder(parent(path))?;
    Output::begin(path).with_context(|| failed(path))
}

/// Creates a folder, with those that hold it. Fails when it cannot be created.
pub(super) fn create_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot be created", folder.display()))
}

/// Adds lines to a file, which is created if it is not there. A line that a process left unfinished is ended first. Lines that do not fit
/// on the disk are taken back. Fails when they cannot be written.
pub(super) fn append(path: &Path, lines: &str) -> Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).with_context(|| failed(path))?;
    append_to(&mut file, lines).with_context(|| failed(path))
}

/// As [`append`], to an open file. Fails when the lines cannot be written.
pub(super) fn append_to(file: &mut File, lines: &str) -> io::Result<()> {
    let before = file.metadata()?.len();
    let mut last = [b'\n'];
    if before > 0 {
        file.seek(SeekFrom::Start(before - 1))?;
        file.read_exact(&mut last)?;
    }
    let end_of_last = if last == [b'\n'] { "" } else { "\n" };
    let done = file.write_all(format!("{end_of_last}{lines}").as_bytes());
    if done.is_err() {
        // The disk is full: a part of a line helps nobody.
        let _ = file.set_len(before);
    }
    done
}

/// Opens a file to which one process at a time adds; `other` names who else may. Fails when it cannot be written, or another
/// process has it open so.
pub(super) fn open_alone(path: &Path, other: &str) -> Result<File> {
    let file = OpenOptions::new().read(true).append(true).create(true).open(path).with_context(|| failed(path))?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        bail!("{}: {other} adds to it; wait until that has ended, or name another file", path.display());
    }
    Ok(file)
}

/// Lets one process at a time read, change and write files of the folder that holds `path`: waits for the others, and holds until the
/// result is dropped. A file system without locks gives none.
pub(super) fn lock_folder(path: &Path) -> Option<File> {
    let folder = File::open(parent(path)).ok()?;
    folder.lock().ok().map(|()| folder)
}

/// The folder that holds a path.
pub(super) fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn failed(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}

/// A file while it is written. Without [`Self::finish`] the old file stays.
pub(super) struct Output {
    file: File,
    /// As messages name it.
    path: PathBuf,
    /// Where the bytes are until they are all there, and the place that they take. A pipe or a device has them at once.
    beside: Option<(PathBuf, PathBuf)>,
    /// Why bytes could not be written.
    failure: Option<String>,
}

impl Output {
    fn begin(path: &Path) -> io::Result<Self> {
        let output = |file, beside| Self { file, path: path.to_owned(), beside, failure: None };
        let in_place = |file| output(file, None);
        let old = fs::metadata(path);
        if is_stream(path) || old.as_ref().is_ok_and(|old| !old.is_file() && !old.is_dir()) {
            // What stdout is redirected to may hold something already.
            return OpenOptions::new().append(true).open(path).map(in_place);
        }
        let Ok(old) = old else {
            if fs::symlink_metadata(path).is_ok() {
                // A link to a file that is not there yet.
                return File::create(path).map(in_place);
            }
            let (file, part) = part_beside(path)?;
            return Ok(output(file, Some((part, path.to_owned()))));
        };
        // Who may not write the old file may not replace it. A link stays, and the file that it names is replaced.
        OpenOptions::new().write(true).open(path)?;
        let place = fs::canonicalize(path)?;
        match part_beside(&place) {
            Ok((file, part)) => {
                let output = output(file, Some((part, place)));
                output.file.set_permissions(old.permissions())?;
                Ok(output)
            }
            // A folder that takes no new file may hold one that can be written.
            Err(e) if e.kind() == ErrorKind::PermissionDenied => File::create(path).map(in_place),
            Err(e) => Err(e),
        }
    }

    /// Gives the file its place. Fails when the bytes cannot be kept, or the place cannot be taken.
    pub fn finish(mut self) -> Result<()> {
        self.put_in_place().with_context(|| failed(&self.path))
    }

    /// As messages name it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error of a writer of parts: where this file took none, with its name instead of the writer's words.
    pub fn reason(&self, error: Error) -> Error {
        match &self.failure {
            Some(failure) => anyhow!("{}: {failure}", failed(&self.path)),
            None => error,
        }
    }

    fn put_in_place(&mut self) -> io::Result<()> {
        self.file.flush()?;
        if let Some((part, place)) = &self.beside {
            self.file.sync_all()?;
            fs::rename(part, place)?;
            self.beside = None;
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).inspect_err(|e| self.failure = Some(e.to_string()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((part, _)) = self.beside.take() {
            let _ = fs::remove_file(part);
        }
    }
}

/// Whether a path names what this process has open already.
fn is_stream(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|stream| path.starts_with(stream))
}

/// How names of files begin and end that are not all there yet.
const PART_PREFIX: &str = ".neuronscope-";
const PART_SUFFIX: &str = ".part";
/// A part that young may not be locked yet.
const YOUNG_PART: Duration = Duration::from_secs(2);

/// Removes the parts of processes that were killed: those that no process holds.
fn remove_left_parts(folder: &Path) {
    let is_part = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| name.starts_with(PART_PREFIX) && name.ends_with(PART_SUFFIX))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_part) {
        let age = entry.metadata().ok().and_then(|m| m.modified().ok()).and_then(|at| at.elapsed().ok());
        let Ok(part) = OpenOptions::new().write(true).open(entry.path()) else { continue };
        if part.try_lock().is_ok() && age.is_some_and(|age| age > YOUNG_PART) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A new file in the folder of `place`, with a name that no other process and no other output of this one has.
fn part_beside(place: &Path) -> io::Result<(File, PathBuf)> {
    static OUTPUTS: AtomicU32 = AtomicU32::new(0);
    remove_left_parts(parent(place));
    loop {
        let number = OUTPUTS.fetch_add(1, Ordering::Relaxed);
        let part = parent(place).join(format!("{PART_PREFIX}{}-{number}{PART_SUFFIX}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&part) {
            // Held until the part takes its place, so that others see that its process lives.
            Ok(file) => {
                let _ = file.lock();
                return Ok((file, part));
            }
            // An earlier process of this number was killed.
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
}
