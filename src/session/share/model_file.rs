//! The field of a link that holds a small model file, in addition to the fields of any page that runs models.

use serde::{Deserialize, Serialize};

use super::packed_files::{MOST_PACKED_BYTES, pack};
use crate::ByteSource;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_bytes, format_count};
use ns_container::exactly;

pub(super) const MODEL_FILE: &str = "model_file";

/// An open model file in links, which hold the file if it is small.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedFile {
    /// The size of the file in bytes.
    pub size: u64,
    /// Its name and content, encoded for a link; absent if it is too large for a link.
    pub packed: Option<String>,
}

impl LinkedFile {
    /// Packs a file, if it is small.
    pub(crate) fn of(name: &str, source: &dyn ByteSource) -> Self {
        let size = source.size();
        let whole = (size <= MOST_PACKED_BYTES).then(|| exactly(source, 0, size).ok()).flatten();
        let packed = whole.and_then(|bytes| pack(&[(name.to_owned(), bytes)]));
        Self { size, packed }
    }

    /// A sentence on what a link holds. `label` is the file's name for the user, `digest` identifies its content.
    #[must_use]
    pub fn sentence(&self, label: &str, digest: &str) -> String {
        let size = format_bytes(u64_to_f64(self.size));
        match &self.packed {
            Some(packed) => {
                format!("The link holds {label} ({size}, as {} letters).", format_count(packed.len() as u64))
            }
            None => format!(
                "The link names {label} (content {digest}) but does not hold it, because it is too large ({size}): send the file along."
            ),
        }
    }
}

/// The hash of a page with a model file in it.
#[must_use]
pub fn with_model_file(hash: &str, packed: &str) -> String {
    let between = if hash.contains('?') { '&' } else { '?' };
    format!("{hash}{between}{MODEL_FILE}={packed}")
}

#[cfg(test)]
mod tests {
    use super::super::{Address, unpack};
    use super::*;
    #[test]
    fn a_small_file_travels_in_the_link_of_any_page() {
        let bytes = b"HloModule two".to_vec();
        let linked = LinkedFile::of("two.hlo", &bytes.clone());
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
    fn a_large_file_is_named_and_not_read() {
        let large = vec![0; MOST_PACKED_BYTES as usize + 1];
        let linked = LinkedFile::of("large.onnx", &large);
        assert_eq!(linked.packed, None);
        let said = linked.sentence("large.onnx", "k3x9q2ab");
        assert!(said.contains("names large.onnx (content k3x9q2ab) but does not hold it"), "{said}");
    }
}
