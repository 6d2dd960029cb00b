//! The field of a link that holds a model file, or its graph without the weights, in addition to the fields of any page that runs models.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::packed_files::{MOST_LETTERS, MOST_PACKED_BYTES, pack, unpack};
use ns_base::Refusal;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_bytes, format_count};
use ns_container::{ByteSource, FilePart, RecordingSource, exactly};
use ns_device::{ModelFileSettings, ModelLibrary, OpenedModel, content_name};

pub(super) const MODEL_FILE: &str = "model_file";

/// Most bytes of a graph that are packed.
const MOST_GRAPH_BYTES: u64 = 8 << 20;
/// The name of the second packed file, which says where the bytes of the first one are in the model file.
const PLACES: &str = "~places";

/// An open model file in links, which hold the file if it is small, or else its graph if that is small.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedFile {
    /// The size of the file in bytes.
    pub size: u64,
    /// Its name and content, encoded for a link; absent if it is too large for a link.
    pub packed: Option<String>,
    /// Whether it is packed without its weights.
    pub is_graph: bool,
    /// The size of its graph in bytes, with the arrays that belong to it.
    pub graph_size: u64,
}

/// The places of a graph in its file: the size of the file, its digest, and start and length of each range.
type Places = (u64, String, Vec<(u64, u64)>);

impl LinkedFile {
    /// Packs a file whose graph was read: whole if it is small, or else what was read of it. `digest` identifies the content.
    fn of(name: &str, digest: &str, source: &RecordingSource) -> Self {
        let (size, graph_size) = (source.size(), source.read_bytes());
        let whole = (size <= MOST_PACKED_BYTES).then(|| exactly(source, 0, size).ok()).flatten();
        if let Some(packed) = whole.and_then(|bytes| pack(&[(name.to_owned(), bytes)])) {
            return Self { size, packed: Some(packed), is_graph: false, graph_size };
        }
        let packed = source.part(MOST_GRAPH_BYTES).and_then(|part| {
            let ranges = part.ranges.iter().map(|(start, bytes)| (*start, bytes.len() as u64)).collect();
            let places: Places = (size, digest.to_owned(), ranges);
            let bytes = part.ranges.into_iter().flat_map(|(_, bytes)| bytes).collect();
            pack(&[(name.to_owned(), bytes), (PLACES.to_owned(), postcard::to_allocvec(&places).ok()?)])
        });
        Self { size, is_graph: packed.is_some(), packed, graph_size }
    }

    /// A sentence on what a link holds. `label` is the file's name for the user, `digest` identifies its content.
    pub fn sentence(&self, label: &str, digest: &str) -> String {
        let size = format_bytes(u64_to_f64(self.size));
        match &self.packed {
            Some(packed) if self.is_graph => format!(
                "The link holds the graph of {label} without its weights (as {} letters): times need no more.{}",
                format_count(packed.len() as u64),
                too_long_for(packed.len())
            ),
            Some(packed) => {
                let letters = packed.len();
                format!(
                    "The link holds {label} ({size}, as {} letters).{}",
                    format_count(letters as u64),
                    too_long_for(letters)
                )
            }
            None => format!(
                "The link names {label} (content {digest}) but does not hold it, because it is too large: of {size}, {} are its graph with the arrays that belong to it, and a link has room for {} letters. Send the file along.",
                format_bytes(u64_to_f64(self.graph_size)),
                format_count(MOST_LETTERS as u64)
            ),
        }
    }
}

/// Letters that a message of a chat program holds: Discord's and Slack's documentation; Teams takes about 28 KB of UTF-16.
const CHATS: [(&str, usize); 3] = [("Discord", 2_000), ("Teams", 14_000), ("Slack", 40_000)];

/// The chat programs whose messages cut a link of so many letters off, as a sentence; empty if none does.
fn too_long_for(letters: usize) -> String {
    let cut: Vec<&str> = CHATS.iter().filter(|(_, most)| letters > *most).map(|(name, _)| *name).collect();
    match cut.as_slice() {
        [] => String::new(),
        [one] => format!(" A message in {one} cuts it off: send it by mail."),
        [first @ .., last] => {
            format!(" A message in {} or {last} cuts it off: send it by mail.", first.join(", "))
        }
    }
}

/// Opens a model file. What is read of it meanwhile is what a link needs of it. Fails when the file is not a supported model file,
/// or cannot be read.
pub fn open_for_links(
    models: &ModelLibrary,
    name: &str,
    source: Box<dyn ByteSource>,
    settings: ModelFileSettings,
) -> Result<(OpenedModel, LinkedFile), Refusal> {
    let digest = content_name(name, &*source)?;
    let recorded = Rc::new(RecordingSource::new(Rc::from(source)));
    let opened = models.open_as(name, &digest, recorded.clone(), settings)?;
    let linked = LinkedFile::of(name, &digest, &recorded);
    Ok((opened, linked))
}

pub struct UnpackedModel {
    pub name: String,
    pub source: Box<dyn ByteSource>,
    /// The digest of the whole file, if the link holds only its graph.
    pub digest: Option<String>,
}

/// The model file that a link holds. Fails when the link is cut off, or holds no file.
pub fn unpack_model(packed: &str) -> Result<UnpackedModel, String> {
    let mut files = unpack(packed)?.into_iter();
    let (name, bytes) = files.next().ok_or("the link holds no model file; ask its sender for the file")?;
    let Some((_, places)) = files.find(|(name, _)| name == PLACES) else {
        return Ok(UnpackedModel { name, source: Box::new(bytes), digest: None });
    };
    let damaged =
        || "the graph in the link cannot be read; ask its sender for the link again, or for the file".to_owned();
    let (size, digest, ranges): Places = postcard::from_bytes(&places).map_err(|_| damaged())?;
    let mut rest = bytes.as_slice();
    let mut part = FilePart { size, ranges: Vec::with_capacity(ranges.len()) };
    for (start, len) in ranges {
        let (range, after) =
            usize::try_from(len).ok().and_then(|len| rest.split_at_checked(len)).ok_or_else(damaged)?;
        let is_behind = part.ranges.last().is_none_or(|(last, bytes)| last + bytes.len() as u64 <= start);
        if !is_behind || start.checked_add(len).is_none_or(|end| end > size) {
            return Err(damaged());
        }
        part.ranges.push((start, range.to_vec()));
        rest = after;
    }
    Ok(UnpackedModel { name, source: Box::new(part), digest: Some(digest) })
}

/// The hash of a page with a model file in it.
pub fn with_model_file(hash: &str, packed: &str) -> String {
    let between = if hash.contains('?') { '&' } else { '?' };
    format!("{hash}{between}{MODEL_FILE}={packed}")
}

#[cfg(test)]
mod tests {
    use super::super::Address;
    use super::*;

    #[test]
    fn a_long_link_names_the_messages_that_cut_it_off() {
        let said = |letters: usize| {
            let packed = Some("a".repeat(letters));
            LinkedFile { size: 10, packed, is_graph: false, graph_size: 10 }.sentence("a.onnx", "x")
        };
        assert!(said(2_000).ends_with("as 2,000 letters)."), "{}", said(2_000));
        assert!(said(2_001).ends_with(" A message in Discord cuts it off: send it by mail."));
        assert!(said(50_348).ends_with(" A message in Discord, Teams or Slack cuts it off: send it by mail."));
    }

    #[test]
    fn a_small_file_travels_in_the_link_of_any_page() {
        let bytes = b"HloModule two".to_vec();
        let linked = LinkedFile::of("two.hlo", "12345678", &RecordingSource::new(Rc::new(bytes.clone())));
        let packed = linked.packed.clone().unwrap();
        for page in ["#/inspect?v=1&model=file:two.hlo@12345678", "#/benchmark?v=1&model=file:two.hlo@12345678&seed=1"]
        {
            let address = Address::read(&with_model_file(page, &packed));
            assert_eq!(unpack(address.model_file().unwrap()), Ok(vec![("two.hlo".to_owned(), bytes.clone())]));
            assert_eq!(Address::read(page).model_file(), None);
        }
        let said = linked.sentence("two.hlo", "12345678");
        assert!(said.starts_with("The link holds two.hlo (13 B, as "), "{said}");
    }

    #[test]
    fn of_a_large_file_the_graph_travels() {
        let mut seed = 1_u32;
        let noise = |_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        let large: Vec<u8> = (0..1 << 20).map(noise).collect();
        let source = RecordingSource::new(Rc::new(large.clone()));
        source.slice(0, 900).unwrap();
        source.slice((1 << 20) - 100, 100).unwrap();
        let linked = LinkedFile::of("large.onnx", "k3x9q2ab", &source);
        let said = linked.sentence("large.onnx", "k3x9q2ab");
        assert!(said.starts_with("The link holds the graph of large.onnx without its weights (as 1,"), "{said}");
        let packed = linked.packed.unwrap();
        let UnpackedModel { name, source, digest } = unpack_model(&packed).unwrap();
        assert_eq!((name.as_str(), digest.as_deref(), source.size()), ("large.onnx", Some("k3x9q2ab"), 1 << 20));
        assert_eq!(source.slice(200, 300).unwrap(), large[200..500]);
        assert!(source.slice(5_000, 10).unwrap_err().to_string().contains("without the weights"));
        assert!(unpack_model(&packed[..packed.len() / 2]).is_err());
    }

    #[test]
    fn a_large_file_whose_graph_is_large_is_named() {
        let source = RecordingSource::new(Rc::new(vec![0; MOST_GRAPH_BYTES as usize + 1]));
        source.slice(0, MOST_GRAPH_BYTES as usize + 1).unwrap();
        let linked = LinkedFile::of("large.onnx", "k3x9q2ab", &source);
        assert_eq!((linked.packed.clone(), linked.is_graph), (None, false));
        let said = linked.sentence("large.onnx", "k3x9q2ab");
        let why = "but does not hold it, because it is too large: of 8.00 MiB, 8.00 MiB are its graph";
        assert!(said.contains("names large.onnx (content k3x9q2ab)") && said.contains(why), "{said}");
    }
}
