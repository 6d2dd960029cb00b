//! Detects the format of a file from its first bytes, never from its name.

use super::ftrace::looks_ftrace;
use super::json::keys::KeyScanner;
use super::sampled::{has_two_counts, looks_collapsed, looks_perf_script};
use super::utf16::looks_utf16;
use super::{magic, protobuf};

/// The format that a file appears to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// No bytes, or white space only.
    Empty,
    /// A gzip stream.
    Gzip,
    /// A zip archive.
    Zip,
    /// A JSON object with the key `traceEvents` near its start.
    ChromeObject,
    /// A JSON array of objects that have a `ph`.
    ChromeArray,
    /// Events of a Chrome trace, one on a line, without an array around them.
    ChromeLines,
    /// Some other JSON object: its keys decide (`name_json_object`).
    JsonObject,
    /// Some other JSON array.
    JsonArray,
    /// A JSON array of arrays.
    JsonRows,
    /// Several JSON objects, one per line.
    JsonLines,
    /// HTML or XML.
    Markup,
    /// UTF-16 text.
    Utf16,
    /// Text that is none of the above, such as CSV.
    Text,
    /// A line for each stack: its frames, separated by semicolons, and how often it was seen.
    CollapsedStacks,
    /// The output of the Linux kernel's ftrace, as systrace and atrace save it; alone or in an HTML page.
    Ftrace,
    /// The output of `perf script` for a recording of Linux perf.
    PerfScript,
    /// A profile of pprof.
    Pprof,
    /// An `XSpace` of XLA, TensorFlow and JAX.
    XPlane,
    /// A Perfetto trace (protocol buffers).
    Perfetto,
    /// Results of the PyTorch/XLA experiment runner, one JSON object for each line.
    ExperimentResults,
    /// Reports of NeuronPerf as CSV.
    NeuronPerfCsv,
    /// Something else that is known by its first bytes.
    Known(&'static str),
    /// Not text.
    Binary,
}

impl FileKind {
    /// Its name in a message.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Empty => "an empty file",
            Self::Gzip => "a gzip file",
            Self::Zip => "a zip archive",
            Self::ChromeObject | Self::ChromeArray | Self::ChromeLines => "a Chrome trace",
            Self::JsonObject => "a JSON object",
            Self::JsonArray | Self::JsonRows => "a JSON array",
            Self::JsonLines => "a file of JSON lines",
            Self::Markup => "an HTML or XML file",
            Self::Utf16 => "UTF-16 text",
            Self::Text => "a text file",
            Self::CollapsedStacks => "collapsed stacks",
            Self::Ftrace => "an ftrace log",
            Self::PerfScript => "the output of perf script",
            Self::Pprof => "a pprof profile",
            Self::XPlane => "an XPlane profile",
            Self::Perfetto => "a Perfetto trace",
            Self::ExperimentResults => "results of a benchmark experiment (JSON lines)",
            Self::NeuronPerfCsv => "benchmark reports of NeuronPerf (CSV)",
            Self::Known(name) => name,
            Self::Binary => "a binary file",
        }
    }
}

impl FileKind {
    /// Its name in a message, if it is not a profile for certain.
    pub fn refused(self) -> Option<&'static str> {
        let is_other = matches!(
            self,
            Self::Empty
                | Self::Text
                | Self::Binary
                | Self::Known(_)
                | Self::JsonLines
                | Self::ExperimentResults
                | Self::NeuronPerfCsv
        );
        is_other.then(|| self.describe())
    }
}

/// Bytes of a file's start that [`sniff`] looks at.
pub const SNIFF_BYTES: usize = 4096;

/// The format of a file, from its first bytes ([`SNIFF_BYTES`] are enough; `head` may be the whole file if it is shorter).
pub fn sniff(head: &[u8]) -> FileKind {
    let head = &head[..head.len().min(SNIFF_BYTES)];
    match head {
        [0x1f, 0x8b, ..] => return FileKind::Gzip,
        [b'P', b'K', 3 | 5 | 7, 4 | 6 | 8, ..] => return FileKind::Zip,
        _ => {}
    }
    if matches!(head, [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..]) {
        return FileKind::Known("UTF-32 text (save it as UTF-8)");
    }
    if looks_utf16(head) {
        return FileKind::Utf16;
    }
    if let Some(known) = magic::name_of(head) {
        return FileKind::Known(known);
    }
    if let Some(kind) = protobuf::sniff(head) {
        return kind;
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    match text.first() {
        None => FileKind::Empty,
        Some(b'{') => json_object(text),
        Some(b'[') => json_array(text),
        Some(b'<') => FileKind::Markup,
        Some(_) if looks_ftrace(text) => FileKind::Ftrace,
        Some(_) if text.iter().any(|&b| b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c)) => FileKind::Binary,
        Some(_) if has_two_counts(text) => FileKind::Known(TWO_COUNTS),
        Some(_) if looks_collapsed(text) => FileKind::CollapsedStacks,
        Some(_) if looks_perf_script(text) => FileKind::PerfScript,
        Some(_) if names_models(text) => FileKind::NeuronPerfCsv,
        Some(_) => magic::name_of_text(text).map_or(FileKind::Text, FileKind::Known),
    }
}

/// Stacks of which each has a count of two profiles.
const TWO_COUNTS: &str = "the difference of two profiles as stacks with two counts each (difffolded; open the two files that it was made of, \
    or compare them: neuronscope compare A B)";

/// Whether the first line is the head of a table with the column `n_models`.
fn names_models(text: &[u8]) -> bool {
    let line = &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())];
    line.split(|byte| *byte == b',').any(|column| column == b"n_models")
}

fn json_object(text: &[u8]) -> FileKind {
    if keys_of(text).iter().any(|key| key == "traceEvents") {
        return FileKind::ChromeObject;
    }
    let line_end = memchr::memchr(b'\n', text);
    let line = match line_end {
        Some(end) => text[..end].trim_ascii_end(),
        // A text without a line break in the examined bytes is not a line.
        None if text.len() < SNIFF_BYTES => text.trim_ascii_end(),
        None => return FileKind::JsonObject,
    };
    let next_line = line_end.map_or(&[][..], |end| text[end..].trim_ascii_start());
    match (line, next_line) {
        ([.., b'}'], _) if contains(line, b"\"experiment\"") && contains(line, b"\"metrics\"") => {
            FileKind::ExperimentResults
        }
        ([.., b'}' | b','], [] | [b'{', ..]) if is_event(line) => FileKind::ChromeLines,
        ([.., b'}'], [b'{', ..]) => FileKind::JsonLines,
        _ => FileKind::JsonObject,
    }
}

fn keys_of(text: &[u8]) -> Vec<String> {
    let mut scanner = KeyScanner::default();
    scanner.feed(text);
    scanner.keys().to_vec()
}

/// Whether an object is an event of a Chrome trace.
fn is_event(object: &[u8]) -> bool {
    let keys = keys_of(object);
    let has = |wanted: &str| keys.iter().any(|key| key == wanted);
    has("ph") && ["ts", "name", "pid", "tid"].into_iter().any(has)
}

fn json_array(text: &[u8]) -> FileKind {
    match text.get(1..).map(<[u8]>::trim_ascii_start) {
        Some([b'{', ..]) if contains(text, b"\"ph\"") => FileKind::ChromeArray,
        Some([b'[', ..]) => FileKind::JsonRows,
        _ => FileKind::JsonArray,
    }
}

fn contains(text: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(text, needle).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_content() {
        let cases: [(&[u8], FileKind); 14] = [
            (b"", FileKind::Empty),
            (b" \n", FileKind::Empty),
            (b"\x1f\x8b\x08", FileKind::Gzip),
            (b"PK\x03\x04..", FileKind::Zip),
            (b"\xef\xbb\xbf {\"traceEvents\":[", FileKind::ChromeObject),
            (b"[\n {\"name\":\"a\",\"ph\":\"X\"", FileKind::ChromeArray),
            (b"[[1,2]]", FileKind::JsonRows),
            (b"{\"nodes\":[]}", FileKind::JsonObject),
            (b"{\"a\":1}\n{\"a\":2}\n", FileKind::JsonLines),
            (b"<!DOCTYPE html>", FileKind::Markup),
            (b"\xff\xfea\0", FileKind::Utf16),
            (b"a,b\n1,2\n", FileKind::Text),
            (b"\x0a\x03\x08\x01", FileKind::Binary),
            (b"\x7fELF\x02\x01", FileKind::Known("an ELF program or library")),
        ];
        for (head, kind) in cases {
            assert_eq!(sniff(head), kind, "{:?}", String::from_utf8_lossy(head));
        }
    }
}
