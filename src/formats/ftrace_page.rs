//! HTML pages that hold a trace: those that `systrace` saves, that Catapult's `trace2html` makes of any trace, and that
//! VizTracer writes as HTML.

use crate::interface::not_a_profile;
use base64::Engine as _;

use super::ftrace::FtraceReader;
use crate::document::TextContent;
use crate::{ChunkedReader, ReadLimits, read_bytes};
use ns_base::Refusal;
use ns_profile::Profile;

/// Reads a whole page.
pub(crate) fn read_page(page: &[u8]) -> Result<TextContent, Refusal> {
    let not = || not_a_profile(name_of(page));
    for script in scripts(page) {
        let content = script.content.trim_ascii();
        if script.is("viewer-data") && !content.starts_with(b"{") && !content.starts_with(b"[") {
            let packed: Vec<u8> = content.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
            let bytes = base64::engine::general_purpose::STANDARD.decode(packed).map_err(|_| not())?;
            return read_inner(&bytes).map(content_of);
        }
        if (script.is("viewer-data") || script.is("trace-data"))
            && (content.starts_with(b"{") || content.starts_with(b"["))
        {
            return read_inner(content).map(content_of);
        }
        let is_log = script.is("trace-data") || memchr::memmem::find(script.content, b"linuxPerfData").is_some();
        if is_log && memchr::memmem::find(script.content, b"] ").is_some() {
            let log = read_log(script.content)?;
            if log.meta().events > 0 {
                return Ok(content_of(log));
            }
        }
    }
    match assigned(page) {
        Some(trace) => read_inner(trace).map(content_of),
        None => Err(not()),
    }
}

/// The trace in a page of VizTracer, which sets a variable to it on one line.
fn assigned(page: &[u8]) -> Option<&[u8]> {
    const SETS: &[u8] = b"json_data = {";
    let start = memchr::memmem::find(page, SETS)? + SETS.len() - 1;
    let line = &page[start..];
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    Some(line.trim_ascii_end().strip_suffix(b";").unwrap_or(line))
}

/// Names a page without a trace.
fn name_of(page: &[u8]) -> &'static str {
    let has = |part: &[u8]| memchr::memmem::find(page, part).is_some();
    if has(b"data:image/png;base64") {
        "a page with a picture (of PyTorch's memory timeline: export it to .json or .raw.json.gz instead)"
    } else if has(b"<svg") && !has(b"<html") {
        "a drawing (SVG), as flame graphs are: open the stacks that it was made of, collapsed or as speedscope"
    } else if has(b"<trace-query-result") {
        "XML that xctrace exported from Instruments"
    } else {
        "an HTML or XML file"
    }
}

fn content_of(profile: Profile) -> TextContent {
    TextContent::Profile(Box::new(profile))
}

/// Reads the trace in a page; a page in a page is refused, so that the recursion ends.
fn read_inner(bytes: &[u8]) -> Result<Profile, Refusal> {
    if bytes.trim_ascii_start().starts_with(b"<") {
        return Err(not_a_profile("a page inside a page"));
    }
    read_bytes("", bytes)
}

fn read_log(text: &[u8]) -> Result<Profile, Refusal> {
    let mut reader = Box::new(FtraceReader::new(ReadLimits::default()));
    // The script around the log is not an event.
    let from = memchr::memchr(b'#', text).unwrap_or(0);
    for chunk in text[from..].chunks(1 << 20) {
        reader.push(chunk)?;
    }
    reader.finish()
}

struct Script<'a> {
    tag: &'a [u8],
    content: &'a [u8],
}

impl Script<'_> {
    fn is(&self, name: &str) -> bool {
        memchr::memmem::find(self.tag, name.as_bytes()).is_some()
    }
}

/// The scripts of a page. A script that is not closed extends to the end.
fn scripts(page: &[u8]) -> impl Iterator<Item = Script<'_>> {
    let mut rest = page;
    std::iter::from_fn(move || {
        let open = memchr::memmem::find(rest, b"<script")?;
        let tag_end = open + memchr::memchr(b'>', &rest[open..])?;
        let content = &rest[tag_end + 1..];
        let end = memchr::memmem::find(content, b"</script").unwrap_or(content.len());
        let script = Script { tag: &rest[open..tag_end], content: &content[..end] };
        rest = &content[end..];
        Some(script)
    })
}
