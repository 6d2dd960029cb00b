//! The reader of model files, for the worker.

use js_sys::Function;
use wasm_bindgen::prelude::wasm_bindgen;

fn main() {
    ns_web::reader::start();
}

/// Reads a model: see `ns_web::reader`.
#[wasm_bindgen]
pub fn read_model(build: &str, name: &str, options: &[u8], size: f64, slice: &Function) -> Option<Vec<u8>> {
    ns_web::reader::read_model(build, name, options, size, slice)
}
