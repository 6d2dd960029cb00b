//! A kernel as text: `relu-tcm` for a kernel that comes with the program, `NAME~PACKED` for a user's own kernel, whose source
//! is packed into the text; `NAME~PACKED~multicore~function-NAME` where it runs on all processors and is a certain function of its
//! source. So a model's specification is complete by itself in a link, a report and HLO.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::library::{BUILT_IN, built_in};
use crate::MAX_PACKED_BYTES;
use ns_base::{Refusal, refuse};

/// The name of the element-wise ReLU whose time is a figure of the cost table, so that models without a named kernel are
/// compiled without running one.
pub const TABLE_KERNEL: &str = "relu";

/// The gradient of [`TABLE_KERNEL`], whose time is a figure of the cost table too.
pub const TABLE_GRADIENT: &str = "relu_backward";

/// Separator between the parts of the text.
const SEPARATOR: char = '~';
/// The part of a kernel that runs on all processors.
const MULTICORE: &str = "multicore";
/// The start of the part that names a function of the source.
const FUNCTION: &str = "function-";
/// The compression level of deflate.
const LEVEL: u8 = 9;
/// The longest name that is kept.
const MAX_NAME: usize = 48;

/// A kernel by name, with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedKernel {
    /// Its name: letters, digits, `_`, `-`, `.`.
    pub name: String,
    pub source: Cow<'static, str>,
    /// Whether every processor runs it.
    pub multicore: bool,
    /// The function of its source; otherwise the forward one.
    pub function: Option<String>,
    own: bool,
}

impl NamedKernel {
    /// A user's own kernel. Characters of the name that a text cannot hold become `_`.
    pub fn own(name: &str, source: &str, multicore: bool) -> Self {
        let safe = |c: char| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' };
        let name: String = name.chars().map(safe).take(MAX_NAME).collect();
        let name = if name.is_empty() { "kernel".to_owned() } else { name };
        Self { name, source: Cow::Owned(source.to_owned()), multicore, function: None, own: true }
    }

    /// The same, as this function of its source.
    #[must_use]
    pub fn of_function(self, name: &str) -> Self {
        Self { function: Some(name.to_owned()), ..self }
    }

    /// The same, run on all processors. Kernels that come with the program do not change.
    #[must_use]
    pub fn on_all_processors(self) -> Self {
        Self { multicore: self.multicore || self.own, ..self }
    }
}

impl fmt::Display for NamedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.own {
            return Ok(());
        }
        let packed = miniz_oxide::deflate::compress_to_vec(self.source.as_bytes(), LEVEL);
        write!(f, "{SEPARATOR}{}", URL_SAFE_NO_PAD.encode(packed))?;
        if self.multicore {
            write!(f, "{SEPARATOR}{MULTICORE}")?;
        }
        self.function.as_ref().map_or(Ok(()), |name| write!(f, "{SEPARATOR}{FUNCTION}{name}"))
    }
}

impl FromStr for NamedKernel {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let mut parts = text.split(SEPARATOR);
        let name = parts.next().unwrap_or_default();
        let Some(packed) = parts.next() else {
            let found = built_in(name).ok_or_else(|| {
                let built_in = BUILT_IN.map(|k| k.name).join(", ");
                refuse!(
                    "there is no kernel {name:?}: use {TABLE_KERNEL}, {built_in}, or on the command line the path of a C++ file"
                )
            })?;
            return Ok(Self {
                name: found.name.to_owned(),
                source: Cow::Borrowed(found.source),
                multicore: found.multicore,
                function: None,
                own: false,
            });
        };
        let damaged = || refuse!("the source of kernel {name:?} in this text is damaged: copy all of the text again");
        let mut rest = parts.next();
        let multicore = rest == Some(MULTICORE);
        if multicore {
            rest = parts.next();
        }
        let function = match rest.map(|part| part.strip_prefix(FUNCTION)) {
            None => None,
            Some(Some(name)) if !name.is_empty() => Some(name.to_owned()),
            Some(_) => return Err(damaged()),
        };
        if parts.next().is_some() {
            return Err(damaged());
        }
        let bytes = URL_SAFE_NO_PAD.decode(packed).map_err(|_| damaged())?;
        let source = miniz_oxide::inflate::decompress_to_vec_with_limit(&bytes, MAX_PACKED_BYTES);
        let source = String::from_utf8(source.map_err(|_| damaged())?).map_err(|_| damaged())?;
        Ok(Self { function, ..Self::own(name, &source, multicore) })
    }
}

/// Whether a text is meant as a user's own kernel. Its source is not looked at: the page's app reads settings and has no unpacker.
pub fn is_own_kernel(text: &str) -> bool {
    text.contains(SEPARATOR)
}

/// A text in which kernels are shown without their sources, for display: `mlp:kernel=my_relu`.
pub fn without_source(text: &str) -> Cow<'_, str> {
    let Some((before, rest)) = text.split_once(SEPARATOR) else { return Cow::Borrowed(text) };
    let end = rest.find([',', ' ', '"']).unwrap_or(rest.len());
    let after = rest.get(end..).unwrap_or_default();
    Cow::Owned(format!("{before}{}", without_source(after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_reads_back_from_its_text() {
        for kernel in BUILT_IN {
            let named: NamedKernel = kernel.name.parse().unwrap();
            assert_eq!((named.to_string().as_str(), named.multicore), (kernel.name, kernel.multicore));
            let own = NamedKernel::own("a b/my_relu", kernel.source, kernel.multicore);
            let text = own.to_string();
            assert!(text.starts_with("a_b_my_relu~") && text.len() < kernel.source.len(), "{text}");
            assert!(!text.contains([',', '=', ' ', ':', '"']));
            assert_eq!(text.parse::<NamedKernel>().unwrap(), own);
            let gradient = own.of_function("relu_backward");
            assert_eq!(gradient.to_string(), format!("{text}~function-relu_backward"));
            assert_eq!(gradient.to_string().parse::<NamedKernel>().unwrap(), gradient);
        }
    }

    #[test]
    fn texts_that_are_no_kernel_are_refused() {
        let error = |text: &str| text.parse::<NamedKernel>().unwrap_err().to_string();
        assert!(error("gelu").starts_with("there is no kernel \"gelu\": use relu, relu-element, relu-tcm,"));
        for damaged in
            ["a~*", "a~AAAA", "a~", "a~AwA~many", "a~AwA~multicore~x", "a~AwA~function-", "a~AwA~function-f~multicore"]
        {
            assert!(damaged.parse::<NamedKernel>().is_err(), "{damaged}");
        }
        assert_eq!("a~AwA".parse::<NamedKernel>().unwrap().source, "");
    }

    #[test]
    fn people_read_names_without_sources() {
        assert_eq!(without_source("nn"), "nn");
        let text = "mlp:kernel=mine~AwA~multicore,hidden1=3";
        assert_eq!(without_source(text), "mlp:kernel=mine,hidden1=3");
        assert_eq!(without_source("a~b c~d"), "a c");
    }
}
