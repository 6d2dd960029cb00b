//! Where the files of the page come from.

use std::borrow::Cow;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Result, bail};

/// The built page, if this program was built with it.
#[cfg(feature = "embed")]
static EMBEDDED: include_dir::Dir<'static> = include_dir::include_dir!("$CARGO_MANIFEST_DIR/../../dist");

/// The files of a page.
#[derive(Debug)]
pub(crate) enum Site {
    /// The files in this program.
    #[cfg(feature = "embed")]
    Embedded,
    /// The files of a folder.
    Folder(PathBuf),
}

impl Site {
    /// The page of a folder, or the one in this program. Fails when the folder holds no page, or this program was built without
    /// one; says how to build it.
    pub fn of(folder: Option<&Path>) -> Result<Self> {
        if let Some(folder) = folder {
            if !folder.join("index.html").is_file() {
                bail!(
                    "{}: the folder has no index.html, so it is not a built page. Build the page with ./x build, then name its folder: --dir dist",
                    folder.display()
                );
            }
            return Ok(Self::Folder(folder.to_owned()));
        }
        Self::own()
    }

    #[cfg(feature = "embed")]
    fn own() -> Result<Self> {
        if EMBEDDED.get_file("index.html").is_none() {
            bail!("This program was built before the page. Build both with ./x build --binary");
        }
        Ok(Self::Embedded)
    }

    #[cfg(not(feature = "embed"))]
    fn own() -> Result<Self> {
        bail!(
            "This program was built without the page. Include the page with ./x build --binary, or serve a built page: neuronscope serve --dir dist"
        );
    }

    /// A file by its path below the page's folder, as in `worker.js`. A path outside that folder gives no file.
    pub fn file(&self, path: &str) -> Option<Cow<'static, [u8]>> {
        let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        // On Windows a path may hold other separators and drives.
        if !is_inside || path.contains(['\\', ':', '\0']) {
            return None;
        }
        match self {
            #[cfg(feature = "embed")]
            Self::Embedded => EMBEDDED.get_file(path).map(|file| Cow::Borrowed(file.contents())),
            Self::Folder(folder) => {
                let file = folder.join(path);
                // A link in the folder may lead out of it.
                let (whole, root) = (file.canonicalize().ok()?, folder.canonicalize().ok()?);
                (whole.starts_with(root) && whole.is_file()).then(|| fs::read(whole).ok().map(Cow::Owned)).flatten()
            }
        }
    }
}
