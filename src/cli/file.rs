//! A file on disk as a session reads it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use super::host;
use ns_base::Refusal;
use ns_session::ByteSource;

/// Most bytes that are read of a pipe, which is kept in memory: 2 GiB.
const MOST_OF_A_PIPE: u64 = 2 << 30;

/// An open file: on disk, or in memory, because it is the host's or a pipe.
pub(super) enum FileSource {
    Disk { file: File, len: u64 },
    Memory(Arc<Vec<u8>>),
}

/// The bytes of a file, on disk or of the host.
///
/// # Errors
/// When it cannot be read.
pub(super) fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    match host::file(path) {
        Some(bytes) => Ok(Arc::unwrap_or_clone(bytes)),
        None => std::fs::read(path),
    }
}

/// Writes a file, on disk or to the host.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> std::io::Result<()> {
    match host::give(|host| host.write(path, content.as_ref())) {
        Some(true) => Ok(()),
        _ => std::fs::write(path, content),
    }
}

impl FileSource {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be opened, or is a folder.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(bytes) = host::file(path) {
            return Ok(Self::Memory(bytes));
        }
        if path == Path::new("-") {
            return Self::of_pipe(std::io::stdin().lock(), "-");
        }
        let shown = path.display();
        let file = File::open(path).with_context(|| format!("{shown}: cannot be opened"))?;
        let metadata = file.metadata().with_context(|| format!("{shown}: cannot be read"))?;
        if metadata.is_dir() {
            bail!("{shown}: is a folder, where a file is needed");
        }
        if !metadata.is_file() {
            return Self::of_pipe(file, &shown.to_string());
        }
        Ok(Self::Disk { file, len: metadata.len() })
    }

    fn of_pipe(pipe: impl Read, shown: &str) -> Result<Self> {
        let mut bytes = Vec::new();
        let read = pipe.take(MOST_OF_A_PIPE + 1).read_to_end(&mut bytes);
        if read.with_context(|| format!("{shown}: cannot be read"))? as u64 > MOST_OF_A_PIPE {
            bail!("{shown}: gives more than 2 GiB, which are not read from a pipe; write it to a file and open that");
        }
        Ok(Self::Memory(Arc::new(bytes)))
    }
}

impl ByteSource for FileSource {
    fn size(&self) -> u64 {
        match self {
            Self::Disk { len, .. } => *len,
            Self::Memory(bytes) => bytes.size(),
        }
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> std::result::Result<usize, Refusal> {
        let say = |e: std::io::Error| Refusal::new(e.to_string());
        let mut file = match self {
            Self::Disk { file, .. } => file,
            Self::Memory(bytes) => return bytes.read(offset, buf),
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
