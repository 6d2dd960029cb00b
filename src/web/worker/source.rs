//! A `File` read in slices, inside a worker.

use std::cell::RefCell;

use js_sys::Uint8Array;
use wasm_bindgen::JsValue;
use web_sys::{File, FileReaderSync};

use crate::platform::error_text;
use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_base::{Refusal, refuse};
use ns_container::ByteSource;

/// Bytes that are read at once: every read costs the browser a few milliseconds, whatever its size. They wait outside of wasm
/// memory, which would never shrink again.
const AHEAD_BYTES: usize = 8 << 20;

/// Reads a file synchronously, which only workers may.
pub struct FileSource {
    file: File,
    reader: FileReaderSync,
    len: u64,
    /// The piece that was read last, and its offset.
    ahead: RefCell<Option<(u64, Uint8Array)>>,
}

impl FileSource {
    /// A source over a file. Fails if the browser has no reader for workers.
    pub fn new(file: File) -> Result<Self, String> {
        let reader = FileReaderSync::new().map_err(|e| error_text(&e))?;
        let len = f64_to_u64(file.size());
        Ok(Self { file, reader, len, ahead: RefCell::new(None) })
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, JsValue> {
        let mut done = 0;
        while done < buf.len() && offset + (done as u64) < self.len {
            let at = offset + done as u64;
            let rest = &mut buf[done..];
            let n = match self.waiting(at) {
                Some(bytes) => copy_front(&bytes, rest),
                None => {
                    self.read_ahead(at, rest.len().max(AHEAD_BYTES))?;
                    self.waiting(at).map_or(0, |bytes| copy_front(&bytes, rest))
                }
            };
            if n == 0 {
                break;
            }
            done += n;
        }
        Ok(done)
    }

    /// The bytes from an offset on, as far as they were read already.
    fn waiting(&self, at: u64) -> Option<Uint8Array> {
        let ahead = self.ahead.borrow();
        let (begin, bytes) = ahead.as_ref()?;
        let from = u32::try_from(at.checked_sub(*begin)?).ok().filter(|from| *from < bytes.length())?;
        Some(bytes.subarray(from, bytes.length()))
    }

    fn read_ahead(&self, at: u64, length: usize) -> Result<(), JsValue> {
        // The old piece is dropped first, so that there is never more than one.
        self.ahead.replace(None);
        let end = at.saturating_add(length as u64).min(self.len);
        let slice = self.file.slice_with_f64_and_f64(u64_to_f64(at), u64_to_f64(end))?;
        let bytes = Uint8Array::new(&JsValue::from(self.reader.read_as_array_buffer(&slice)?));
        self.ahead.replace(Some((at, bytes)));
        Ok(())
    }
}

/// Copies as many bytes as are available and fit; returns their number.
pub fn copy_front(bytes: &Uint8Array, buf: &mut [u8]) -> usize {
    let n = (bytes.length() as usize).min(buf.len());
    bytes.subarray(0, u32::try_from(n).unwrap_or(u32::MAX)).copy_to(&mut buf[..n]);
    n
}

impl ByteSource for FileSource {
    fn size(&self) -> u64 {
        self.len
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal> {
        self.read_at(offset, buf).map_err(|e| {
            refuse!(
                "{} could not be read at byte {offset}: {} (was it moved or changed after you chose it? choose it again)",
                self.file.name(),
                error_text(&e)
            )
        })
    }
}
