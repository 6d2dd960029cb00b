//! A kernel's source in a link: its size in bytes, and the source packed.

use crate::kernel::NamedKernel;

/// `1234~PACKED` for a source of 1,234 bytes.
pub(super) fn pack(source: &str) -> String {
    NamedKernel::own(&source.len().to_string(), source, false).to_string()
}

/// The source of a packed text; `None` for a text that is not packed.
///
/// # Errors
/// When it is packed and damaged.
pub(super) fn unpack(text: &str) -> Option<Result<String, String>> {
    let (size, packed) = text.split_once('~')?;
    let size: usize = size.parse().ok()?;
    let is_packed = !packed.is_empty() && packed.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let damaged = || "source: the kernel in the link is damaged; copy all of the link again".to_owned();
    let read = || text.parse::<NamedKernel>().ok().map(|k| k.source.into_owned()).filter(|s| s.len() == size);
    is_packed.then(|| read().ok_or_else(damaged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_travel_packed() {
        let source = "torch::Tensor f(const torch::Tensor& t) { return t; } // a~b \u{e4}";
        let text = pack(source);
        assert!(text.starts_with(&format!("{}~", source.len())));
        assert_eq!(unpack(&text), Some(Ok(source.to_owned())));
        assert_eq!(unpack(source), None);
        assert_eq!(unpack("12~x y"), None);
        assert!(unpack("12~AAAA").unwrap().is_err());
        assert!(unpack(&text.replacen(&source.len().to_string(), "3", 1)).unwrap().is_err());
    }
}
