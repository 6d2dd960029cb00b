//! Folders and sets of files on disk, which a session reads as one archive.

use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use super::file::{FileSource, metadata};
use super::shell::Shell;
use ns_base::{Refusal, refuse};
use ns_session::{BundleLayout, ByteSource, Piece, files_to_open};

/// Depth to which nested folders are searched.
const DEEPEST: usize = 16;
/// Most paths listed in a folder; a folder with more is taken to be the wrong one.
const MOST_PATHS: usize = 100_000;

/// Files that are read one after another, with one open at a time.
pub(super) struct FolderSource {
    files: Vec<PathBuf>,
    layout: BundleLayout,
    open: RefCell<Option<(usize, FileSource)>>,
}

impl FolderSource {
    /// Collects the given files and the files of the given folders. Fails when a path cannot be read, or there is nothing to open.
    pub fn open(paths: &[PathBuf]) -> Result<Self> {
        let mut found: Vec<(String, PathBuf)> = Vec::new();
        let is_alone = paths.len() == 1;
        for path in paths {
            let metadata = metadata(path)?;
            let name = name_in_bundle(path);
            if !metadata.is_dir() {
                found.push((name, path.clone()));
            } else {
                let last = name.rsplit('/').next().unwrap_or_default();
                walk(path, if is_alone { last } else { &name }, DEEPEST, &mut found)?;
            }
        }
        let names: Vec<String> = found.iter().map(|(name, _)| name.clone()).collect();
        let chosen = files_to_open(&names);
        if chosen.is_empty() {
            let place: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
            bail!("{}: the folder has no file to open", place.join(", "));
        }
        let mut sized = Vec::new();
        for &at in &chosen {
            let (name, path) = &found[at];
            let place = path.display();
            let metadata = std::fs::metadata(path).with_context(|| format!("{place}: cannot be read"))?;
            sized.push((name.clone(), metadata.len()));
        }
        let layout = BundleLayout::new(&sized).map_err(|e| anyhow!(e))?;
        let files = chosen.into_iter().map(|at| found[at].1.clone()).collect();
        Ok(Self { files, layout, open: RefCell::new(None) })
    }

    fn read_file(&self, index: usize, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal> {
        let path = self.files.get(index).ok_or_else(|| refuse!("the folder has no such file"))?;
        let mut open = self.open.borrow_mut();
        if open.as_ref().is_none_or(|(known, _)| *known != index) {
            *open = Some((index, FileSource::open(&Shell::default(), path).map_err(|e| Refusal::new(e.to_string()))?));
        }
        let Some((_, file)) = &*open else { return Ok(0) };
        match file.read(offset, buf)? {
            0 => Err(refuse!("{} became shorter while it was read; open the folder again", path.display())),
            n => Ok(n),
        }
    }
}

impl ByteSource for FolderSource {
    fn size(&self) -> u64 {
        self.layout.len()
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal> {
        let mut filled = 0;
        while filled < buf.len() {
            let (at, rest) = (offset + filled as u64, &mut buf[filled..]);
            let n = match self.layout.at(at) {
                Piece::End => break,
                Piece::Header(header) => {
                    let n = header.len().min(rest.len());
                    rest[..n].copy_from_slice(&header[..n]);
                    n
                }
                Piece::File { index, offset, left } => {
                    let most = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    self.read_file(index, offset, &mut rest[..most])?
                }
            };
            filled += n;
        }
        Ok(filled)
    }
}

/// The name of a folder or file that prefixes the files below it: its path without `.` and `..`.
fn name_in_bundle(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy()),
            _ => None,
        })
        .collect();
    parts.join("/")
}

/// Lists the files below a folder. Links to folders are not followed, because they may form a cycle.
fn walk(folder: &Path, name: &str, depth: usize, found: &mut Vec<(String, PathBuf)>) -> Result<()> {
    let place = folder.display();
    let entries = std::fs::read_dir(folder).with_context(|| format!("{place}: cannot be read"))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("{place}: cannot be read"))?;
        let (path, kind) = (entry.path(), entry.file_type().with_context(|| format!("{place}: cannot be read"))?);
        let below = entry.file_name().to_string_lossy().into_owned();
        let below = if name.is_empty() { below } else { format!("{name}/{below}") };
        if found.len() >= MOST_PATHS {
            bail!("{place}: has more than {MOST_PATHS} files; name the folder of the runs");
        }
        if kind.is_dir() {
            if depth > 0 {
                walk(&path, &below, depth - 1, found)?;
            }
        } else if path.is_file() {
            found.push((below, path));
        }
    }
    Ok(())
}
