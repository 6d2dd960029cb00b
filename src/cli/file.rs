//! A file on disk as a session reads it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use crate::shell::Shell;
use ns_base::Refusal;
use ns_base::convert::u64_to_f64;
use ns_base::units::format_bytes;
use ns_session::ByteSource;

/// Most bytes that are read of a pipe, which is kept in memory: 2 GiB.
const MOST_OF_A_PIPE: u64 = 2 << 30;

/// An open file, and the folder that it is in.
pub(super) struct FileSource {
    content: Content,
    folder: PathBuf,
}

/// On disk, or in memory, because it is the host's or came through a pipe.
enum Content {
    Disk { file: File, len: u64 },
    Memory(Arc<Vec<u8>>),
}

/// Most bytes of a text that is read as a whole, such as a file of reports. The text and its rows then take at most 300 MB of memory.
const MOST_TEXT_BYTES: u64 = 96 << 20;
/// Most bytes of a line of a file that is read line by line.
const MOST_LINE_BYTES: u64 = 64 << 20;
/// Bytes that are read at once.
const CHUNK_BYTES: usize = 1 << 16;

/// The bytes of a text, on disk or of the host. Fails when it cannot be read, is too large, or is a stretch of zeros: a hole in a
/// file, or a device without an end.
pub(super) fn read(shell: &Shell, path: &Path) -> Result<Vec<u8>> {
    read_within(shell, path, MOST_TEXT_BYTES, |chunk| {
        if chunk.len() == CHUNK_BYTES && chunk.iter().all(|byte| *byte == 0) {
            bail!("it holds zeros, not text")
        }
        Ok(())
    })
}

/// As [`read`], for a text in UTF-8. Fails as [`read`], and when the text is not UTF-8.
pub(super) fn read_text(shell: &Shell, path: &Path) -> Result<String> {
    String::from_utf8(read(shell, path)?)
        .with_context(|| format!("{}: cannot be read: it is not text in UTF-8", path.display()))
}

/// The bytes of a file that has at most `most`; `check` may refuse a chunk. Fails when it cannot be read, has more bytes, or is
/// refused.
pub(super) fn read_within(
    shell: &Shell,
    path: &Path,
    most: u64,
    check: impl Fn(&[u8]) -> Result<()>,
) -> Result<Vec<u8>> {
    if let Some(bytes) = shell.file(path) {
        return Ok(Arc::unwrap_or_clone(bytes));
    }
    let read = || {
        let mut file = File::open(path)?;
        let mut bytes = Vec::new();
        let mut has = file.metadata()?.len();
        // A buffer that grows takes three times its size while it does. A file in /proc says that it has none.
        bytes.try_reserve_exact(usize::try_from(has.min(most))? + CHUNK_BYTES)?;
        while has <= most {
            let before = bytes.len();
            if (&mut file).take(CHUNK_BYTES as u64).read_to_end(&mut bytes)? == 0 {
                return Ok(bytes);
            }
            check(&bytes[before..])?;
            has = bytes.size();
        }
        bail!("it has more than {}, the most that is read as a whole", format_bytes(u64_to_f64(most)))
    };
    read().with_context(|| format!("{}: cannot be read", path.display()))
}

/// A file that is read line by line.
pub(super) struct Lines {
    reader: BufReader<File>,
    place: String,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    /// Opens a file. Fails when it cannot be opened.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let reader = BufReader::with_capacity(CHUNK_BYTES, File::open(path)?);
        Ok(Self { reader, place: path.display().to_string(), line: Vec::new(), number: 0 })
    }

    /// The next line with its end, and its number from 1; `None` at the end of the file. Fails when the file cannot be read, or the
    /// line is too long.
    pub fn read(&mut self) -> Result<Option<(u64, &[u8])>> {
        self.line.clear();
        let mut reader = self.reader.by_ref().take(MOST_LINE_BYTES);
        reader.read_until(b'\n', &mut self.line).with_context(|| format!("{}: cannot be read", self.place))?;
        if self.line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if self.line.size() == MOST_LINE_BYTES {
            let (place, number, most) = (&self.place, self.number, format_bytes(u64_to_f64(MOST_LINE_BYTES)));
            bail!("{place}: line {number} has {most} or more; it is not a file of records, of which each has a line");
        }
        Ok(Some((self.number, &self.line)))
    }
}

/// Whether reading ends when another program closes its side.
#[cfg(unix)]
fn is_pipe(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    metadata.file_type().is_fifo() || metadata.file_type().is_socket()
}

#[cfg(not(unix))]
const fn is_pipe(_: &std::fs::Metadata) -> bool {
    true
}

/// What the system says of a file or folder. Fails when there is none of this name.
pub(super) fn metadata(path: &Path) -> Result<std::fs::Metadata> {
    let place = path.display().to_string();
    let metadata = std::fs::metadata(path);
    if metadata.is_err() && place.contains("://") {
        bail!("{place}: is an address, and nothing is fetched: download the file and name it here");
    }
    if metadata.is_err() && place.contains('*') {
        bail!("{place}: no file has a name like this");
    }
    metadata.with_context(|| format!("{place}: cannot be opened"))
}

impl FileSource {
    /// Opens a file. Fails when it cannot be opened, or is a folder or a device.
    pub fn open(shell: &Shell, path: &Path) -> Result<Self> {
        let folder = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
        if let Some(bytes) = shell.file(path) {
            return Ok(Self { content: Content::Memory(bytes), folder });
        }
        if path == Path::new("-") {
            return Self::of_pipe(std::io::stdin().lock(), "-", folder);
        }
        let place = path.display();
        let metadata = metadata(path)?;
        if metadata.is_dir() {
            bail!("{place}: is a folder, where a file is needed");
        }
        if !metadata.is_file() && !is_pipe(&metadata) {
            bail!("{place}: is a device, which has no end; write what you need of it to a file first");
        }
        let file = File::open(path).with_context(|| format!("{place}: cannot be opened"))?;
        if metadata.is_file() {
            return Ok(Self { content: Content::Disk { file, len: metadata.len() }, folder });
        }
        Self::of_pipe(file, &place.to_string(), folder)
    }

    fn of_pipe(pipe: impl Read, place: &str, folder: PathBuf) -> Result<Self> {
        let mut bytes = Vec::new();
        let read = pipe.take(MOST_OF_A_PIPE + 1).read_to_end(&mut bytes);
        if read.with_context(|| format!("{place}: cannot be read"))? as u64 > MOST_OF_A_PIPE {
            bail!("{place}: gives more than 2 GiB, which are not read from a pipe; write it to a file and open that");
        }
        Ok(Self { content: Content::Memory(Arc::new(bytes)), folder })
    }
}

impl ByteSource for FileSource {
    fn size(&self) -> u64 {
        match &self.content {
            Content::Disk { len, .. } => *len,
            Content::Memory(bytes) => bytes.size(),
        }
    }

    fn beside(&self, path: &str) -> Option<Box<dyn ByteSource + '_>> {
        Some(Box::new(Self::open(&Shell::default(), &self.folder.join(path)).ok()?))
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> std::result::Result<usize, Refusal> {
        let say = |e: std::io::Error| Refusal::new(e.to_string());
        let mut file = match &self.content {
            Content::Disk { file, .. } => file,
            Content::Memory(bytes) => return bytes.read(offset, buf),
        };
        file.seek(SeekFrom::Start(offset)).map_err(say)?;
        let mut filled = 0;
        while filled < buf.len() {
            match file.read(&mut buf[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(say(e)),
            }
        }
        Ok(filled)
    }
}
