//! A file on disk as a session reads it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, Result, bail};

use ns_base::Refusal;
use ns_session::ByteSource;

/// An open file.
pub(super) struct FileSource {
    file: File,
    len: u64,
}

impl FileSource {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be opened, or is a folder.
    pub fn open(path: &Path) -> Result<Self> {
        let shown = path.display();
        let file = File::open(path).with_context(|| format!("{shown}: cannot be opened"))?;
        let metadata = file.metadata().with_context(|| format!("{shown}: cannot be read"))?;
        if metadata.is_dir() {
            bail!("{shown}: is a folder, where a file is needed");
        }
        Ok(Self { file, len: metadata.len() })
    }
}

impl ByteSource for FileSource {
    fn size(&self) -> u64 {
        self.len
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> std::result::Result<usize, Refusal> {
        let say = |e: std::io::Error| Refusal::new(e.to_string());
        let mut file = &self.file;
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
