//! A file on disk as a session reads it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use super::host;
use ns_base::Refusal;
use ns_session::ByteSource;

/// An open file, and the folder that it is in.
pub(super) struct FileSource {
    content: Content,
    folder: PathBuf,
}

/// On disk, or in the memory of the host.
enum Content {
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
        let folder = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
        if let Some(bytes) = host::file(path) {
            return Ok(Self { content: Content::Memory(bytes), folder });
        }
        let shown = path.display();
        let file = File::open(path).with_context(|| format!("{shown}: cannot be opened"))?;
        let metadata = file.metadata().with_context(|| format!("{shown}: cannot be read"))?;
        if metadata.is_dir() {
            bail!("{shown}: is a folder, where a file is needed");
        }
        Ok(Self { content: Content::Disk { file, len: metadata.len() }, folder })
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
        Some(Box::new(Self::open(&self.folder.join(path)).ok()?))
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
