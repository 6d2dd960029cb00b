//! A `File` read in slices, inside a worker.

use js_sys::Uint8Array;
use wasm_bindgen::JsValue;
use web_sys::{File, FileReaderSync};

use crate::session::ByteSource;
use crate::web::platform::error_text;

/// Reads a file synchronously, which only workers may.
pub struct FileSource {
    file: File,
    reader: FileReaderSync,
    len: u64,
}

impl FileSource {
    /// A source over a file.
    ///
    /// # Errors
    /// When the browser has no reader for workers.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // file sizes are whole and below 2^53
    pub fn new(file: File) -> Result<Self, String> {
        let reader = FileReaderSync::new().map_err(|e| error_text(&e))?;
        let len = file.size() as u64;
        Ok(Self { file, reader, len })
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, JsValue> {
        let start = offset.min(self.len);
        let end = start.saturating_add(buf.len() as u64).min(self.len);
        let slice = self.file.slice_with_f64_and_f64(start as f64, end as f64)?;
        let bytes = Uint8Array::new(&JsValue::from(self.reader.read_as_array_buffer(&slice)?));
        let n = (bytes.length() as usize).min(buf.len());
        bytes.subarray(0, bytes.length().min(u32::try_from(n).unwrap_or(u32::MAX))).copy_to(&mut buf[..n]);
        Ok(n)
    }
}

impl ByteSource for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, String> {
        self.read_at(offset, buf).map_err(|e| {
            format!(
                "{} could not be read at byte {offset}: {} (was it moved or changed after you chose it? choose it again)",
                self.file.name(),
                error_text(&e)
            )
        })
    }
}
