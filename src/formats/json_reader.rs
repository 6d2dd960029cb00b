//! JSON whose start does not decide its format: collected until a key decides. A Chrome trace is read as it streams
//! from then on; other formats are read when the text is whole.

use super::chrome::ChromeReader;
use super::document::{Parse, collect};
use super::json::inner_trace::nested_trace;
use super::json::keys::KeyScanner;
use super::json::name_json_object;
use super::sampled::{read_cpuprofile, read_firefox, read_heapprofile, read_safari, read_speedscope, read_stackprof};
use super::{ChunkedReader, ReadLimits, ReadProgress, neuron, plugin, rocprof};
use crate::interface::not_a_profile;
use ns_base::Refusal;
use ns_profile::Profile;

/// Formats by their keys, all of which have to be in the outermost object.
const FORMATS: &[(&[&str], Parse)] = &[
    (&["shared", "profiles"], read_speedscope),
    (&["$schema", "shared"], read_speedscope),
    (&["$schema", "profiles"], read_speedscope),
    (&["nodes", "samples"], read_cpuprofile),
    (&["nodes", "startTime", "endTime"], read_cpuprofile),
    (&["head", "startTime"], read_cpuprofile),
    (&["head", "samples"], read_heapprofile),
    (&["meta", "threads"], read_firefox),
    (&["profile", "fileType"], read_firefox),
    (&["profile", "meta"], read_firefox),
    (&["meta", "profileJSON"], read_firefox),
    (&["version", "recording"], read_safari),
    (&["recording", "overview"], read_safari),
    (&["mode", "frames", "samples"], read_stackprof),
    (&["rocprofiler-sdk-tool"], rocprof::read_rocprof),
    (&["ops", "total_time"], plugin::read_table),
    (&["instruction"], neuron::read_device_json),
    (&["trace_events"], neuron::read_system_json),
];

/// Reads a JSON object of any format.
pub(super) struct JsonReader {
    scanner: KeyScanner,
    text: Vec<u8>,
    chrome: Option<ChromeReader>,
    limits: ReadLimits,
}

impl JsonReader {
    pub fn new(limits: ReadLimits) -> Self {
        Self { scanner: KeyScanner::default(), text: Vec::new(), chrome: None, limits }
    }

    fn read_document(self) -> Result<Profile, Refusal> {
        let keys = self.scanner.keys();
        let has = |key: &&str| keys.iter().any(|k| k == key);
        if let Some((_, parse)) = FORMATS.iter().find(|(wanted, _)| wanted.iter().all(has)) {
            return parse(&self.text)?.finish(self.text);
        }
        // An operator table that was cut off before its last key.
        if keys == ["ops"] {
            return plugin::read_table(&self.text)?.finish(self.text);
        }
        if neuron::looks_summary(&self.text) {
            return neuron::read_summary(&self.text)?.finish(self.text);
        }
        match name_json_object(keys) {
            Some(known) => Err(not_a_profile(known)),
            None => self.read_trace(),
        }
    }

    /// Reads the trace somewhere inside the text. If there is none, the reader says what is wrong.
    fn read_trace(self) -> Result<Profile, Refusal> {
        let Some(part) = nested_trace(&self.text) else {
            let mut chrome = Box::new(ChromeReader::new(self.limits));
            chrome.push(&self.text)?;
            return chrome.finish();
        };
        let mut chrome = Box::new(ChromeReader::of_part(self.limits, part.start as u64));
        chrome.push(&self.text[part.clone()])?;
        let mut profile = chrome.finish()?;
        if self.scanner.keys().len() < KeyScanner::MAX_KEYS {
            let is_first = nested_trace(&self.text[part.end..]).is_some();
            profile.diagnostics.add("nested_trace", Some(part.start as u64), || {
                let what = if is_first { "the first of several traces in the file" } else { "a trace inside the file" };
                format!("{what}: what is around it was not read")
            });
        }
        Ok(profile)
    }
}

impl ChunkedReader for JsonReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), Refusal> {
        if let Some(chrome) = &mut self.chrome {
            return chrome.push(chunk);
        }
        self.scanner.feed(chunk);
        collect(&mut self.text, chunk, self.limits)?;
        if self.scanner.keys().iter().any(|key| key == "traceEvents") {
            let mut chrome = ChromeReader::new(self.limits);
            chrome.push(&std::mem::take(&mut self.text))?;
            self.chrome = Some(chrome);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Profile, Refusal> {
        match self.chrome.take() {
            Some(chrome) => Box::new(chrome).finish(),
            None => self.read_document(),
        }
    }

    fn progress(&self) -> ReadProgress {
        let bytes = self.text.len() as u64;
        let collected = ReadProgress { file_bytes: bytes, text_bytes: bytes, events: 0 };
        self.chrome.as_ref().map_or(collected, ChromeReader::progress)
    }
}
