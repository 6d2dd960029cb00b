//! Model files on disk.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::import::{ImportOptions, Imported, ModelBytes, read_model};

/// A file that is read by slices: weights beside a graph stay on disk.
pub(super) struct DiskModel {
    file: RefCell<File>,
    size: u64,
}

impl DiskModel {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self> {
        let named = || path.display().to_string();
        let file = File::open(path).with_context(named)?;
        let metadata = file.metadata().with_context(named)?;
        if metadata.is_dir() {
            bail!("{}: is a folder; name the model file in it", path.display());
        }
        Ok(Self { file: RefCell::new(file), size: metadata.len() })
    }
}

impl ModelBytes for DiskModel {
    fn size(&self) -> u64 {
        self.size
    }

    fn slice(&self, offset: u64, len: usize) -> Result<Vec<u8>, String> {
        let len = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX).min(len);
        let mut bytes = vec![0; len];
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(offset)).map_err(|e| e.to_string())?;
        file.read_exact(&mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes)
    }
}

/// The model in a file.
pub(super) fn read(path: &Path, dims: &[String]) -> Result<(Imported, DiskModel)> {
    let bytes = DiskModel::open(path)?;
    let options = ImportOptions { dims: dims_of(dims)? };
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let imported = read_model(&name, &bytes, &options).with_context(|| path.display().to_string())?;
    Ok((imported, bytes))
}

/// Sizes of open dimensions: `batch=8`, several with commas between.
fn dims_of(texts: &[String]) -> Result<BTreeMap<String, u64>> {
    let pairs = texts.iter().flat_map(|t| t.split(',')).map(str::trim).filter(|t| !t.is_empty());
    pairs
        .map(|pair| {
            let (name, size) = pair.split_once('=').with_context(|| format!("--dim {pair}: write NAME=SIZE"))?;
            let size = size.trim().parse().with_context(|| format!("--dim {pair}: the size is a whole number"))?;
            Ok((name.trim().to_owned(), size))
        })
        .collect()
}
