//! Several files as one: a zip archive of stored, uncompressed files. Shells make one from a folder without copying a
//! byte: they put the headers of this layout between the files, and a session reads it like any other archive.

use ns_base::Order;
use ns_container::zip::stored_header;
use ns_formats::is_plugin_file;
use ns_program::file::may_have_files_beside;

/// Most files taken from a folder; a larger folder is hardly what a user wants to open.
pub const MOST_FILES: usize = 1000;

/// The layout of a bundle: places of the headers and the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleLayout {
    parts: Vec<FilePlace>,
    len: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FilePlace {
    header: Vec<u8>,
    /// Offset of the header.
    start: u64,
    /// Bytes of the file after the header.
    len: u64,
}

/// The content at a place of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The rest of a header.
    Header(&'a [u8]),
    /// A part of a file.
    File {
        /// Its place in the list of files.
        index: usize,
        /// Offset in the file to read from.
        offset: u64,
        /// Bytes from there to its end.
        left: u64,
    },
    End,
}

impl BundleLayout {
    /// The layout for files with these names and sizes in bytes. Fails when a file is larger than the 4 GB limit of a bundle; the
    /// message names it.
    pub fn new(files: &[(String, u64)]) -> Result<Self, String> {
        let mut layout = Self::default();
        for (name, len) in files {
            let header = stored_header(name, *len).ok_or_else(|| {
                format!("{name}: is too large, or its name is too long, to be opened with other files; open it alone")
            })?;
            let start = layout.len;
            layout.len += header.len() as u64 + len;
            layout.parts.push(FilePlace { header, start, len: *len });
        }
        Ok(layout)
    }

    /// Size of the bundle in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the bundle holds no file.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The header bytes before each file.
    pub fn headers(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().map(|part| part.header.as_slice())
    }

    /// The content at a byte of the bundle.
    pub fn at(&self, offset: u64) -> Piece<'_> {
        let next = self.parts.partition_point(|part| part.start <= offset);
        let Some((index, part)) = next.checked_sub(1).and_then(|i| Some((i, self.parts.get(i)?))) else {
            return Piece::End;
        };
        let into = offset - part.start;
        let header_len = part.header.len() as u64;
        match usize::try_from(into).ok().filter(|_| into < header_len) {
            Some(into) => Piece::Header(&part.header[into..]),
            None if into - header_len < part.len => {
                Piece::File { index, offset: into - header_len, left: part.len - (into - header_len) }
            }
            None => Piece::End,
        }
    }
}

/// Which files of a folder are opened, by their paths in it: from a log directory those that hold profiles, from any other folder
/// all but hidden ones, models in ONNX first, in the order of their paths.
pub fn files_to_open(paths: &[String]) -> Vec<usize> {
    let is_hidden = |path: &str| path.split('/').any(|part| part.starts_with('.'));
    let is_log_directory = paths.iter().any(|path| is_plugin_file(path));
    let is_wanted = |path: &str| {
        if is_log_directory {
            is_plugin_file(path) || path.ends_with(".xplane.pb")
        } else {
            !path.contains(".tfevents.")
        }
    };
    let mut chosen: Vec<usize> = (0..paths.len()).filter(|i| !is_hidden(&paths[*i]) && is_wanted(&paths[*i])).collect();
    // A model comes before the files beside it, so that the archive is known for one.
    chosen.order_by(|a, b| {
        let key = |i: usize| (!may_have_files_beside(&paths[i]), &paths[i]);
        key(*a).cmp(&key(*b))
    });
    chosen.truncate(MOST_FILES);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_formats::{ChunkedReader, ProfileReader};

    fn bytes_of(layout: &BundleLayout, files: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        loop {
            match layout.at(out.len() as u64) {
                Piece::Header(bytes) => out.extend_from_slice(bytes),
                Piece::File { index, offset, left } => {
                    let part = &files[index][offset as usize..];
                    assert_eq!(part.len() as u64, left);
                    out.extend_from_slice(part);
                }
                Piece::End => return out,
            }
        }
    }

    #[test]
    fn a_bundle_reads_as_an_archive() {
        let trace = |name: &str| format!(r#"[{{"ph":"X","name":"{name}","pid":1,"tid":1,"ts":0,"dur":5}}]"#);
        let (a, b) = (trace("first"), trace("second"));
        let files: [&[u8]; 4] = [a.as_bytes(), b"", b"not a profile", b.as_bytes()];
        let names = ["d/a.json", "d/empty.json", "d/notes.txt", "d/b.json"];
        let listed: Vec<_> = names.iter().zip(files).map(|(n, f)| ((*n).to_owned(), f.len() as u64)).collect();
        let layout = BundleLayout::new(&listed).unwrap();
        let bytes = bytes_of(&layout, &files);
        assert_eq!(bytes.len() as u64, layout.len());
        for piece in [1, 5, bytes.len()] {
            let mut reader = ProfileReader::new("d");
            bytes.chunks(piece).for_each(|chunk| reader.push(chunk).unwrap());
            let profiles = reader.finish_all().unwrap();
            let titles: Vec<_> = profiles.iter().map(|p| p.meta().title.as_str()).collect();
            assert_eq!(titles, ["d/a.json", "d/b.json"]);
            assert_eq!(profiles[0].diagnostics().count("zip_other_file"), 2);
        }
    }

    #[test]
    fn a_file_that_does_not_fit_a_bundle_is_refused_by_name() {
        let error = BundleLayout::new(&[("big.json".to_owned(), 1 << 32)]).unwrap_err();
        assert!(error.starts_with("big.json: "), "{error}");
        assert_eq!(BundleLayout::default().at(0), Piece::End);
    }

    #[test]
    fn of_a_log_directory_only_profiles_are_opened() {
        let paths = |list: &[&str]| list.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
        let log = paths(&[
            "logs/plugins/neuron/r/neuron_trace.json",
            "logs/events.out.tfevents.1",
            "logs/checkpoint.bin",
            "logs/plugins/neuron/r/neuron_hlo_op.json",
            "logs/plugins/profile/r/host.xplane.pb",
        ]);
        assert_eq!(files_to_open(&log), [3, 0, 4]);
        assert_eq!(files_to_open(&paths(&["d/b.json", "d/.DS_Store", "d/a.json"])), [2, 0]);
    }
}
