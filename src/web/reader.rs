//! The program that reads model files (`src/web/bin/reader.rs`): it has the readers, and the worker does not. A worker fetches it when the first
//! model file is read (`worker/reader.rs`) and calls it in its own thread.

use js_sys::{Function, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

use super::platform::error_text;
use super::worker::copy_front;
use super::worker::panic_message::install_panic_hook;
use ns_base::convert::{f64_to_u64, u64_to_f64, usize_to_f64};
use ns_base::{Refusal, refuse};
use ns_container::ByteSource;
use ns_readers::read_carried;
use ns_session::build_id;

/// Starts the program.
pub fn start() {
    install_panic_hook();
}

/// Reads a model for a worker of a build: name and size in bytes of its file, options as bytes, and a function `(offset, length)` that
/// returns a `Uint8Array` or throws a text. `None` for a worker of another build, whose bytes would have another meaning.
pub fn read_model(build: &str, name: &str, options: &[u8], size: f64, slice: &Function) -> Option<Vec<u8>> {
    (build == build_id()).then(|| read_carried(name, &WorkerBytes { size, slice }, options))
}

/// A file that the worker reads.
struct WorkerBytes<'f> {
    size: f64,
    slice: &'f Function,
}

impl ByteSource for WorkerBytes<'_> {
    fn size(&self) -> u64 {
        f64_to_u64(self.size)
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal> {
        let (offset, len) = (JsValue::from_f64(u64_to_f64(offset)), JsValue::from_f64(usize_to_f64(buf.len())));
        let bytes = self.slice.call2(&JsValue::NULL, &offset, &len).map_err(|e| Refusal::new(error_text(&e)))?;
        let bytes: Uint8Array = bytes.dyn_into().map_err(|_| refuse!("the worker gave no bytes"))?;
        Ok(copy_front(&bytes, buf))
    }
}
