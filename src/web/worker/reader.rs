//! The worker's access to the program that reads model files (`src/web/reader.rs`), which is fetched when the first one is read.
//!
//! The worker waits while the program is fetched and compiled, which only a worker may do. So a session can read a model in the
//! middle of a job, messages that arrive meanwhile keep their order, and no request has to say beforehand whether it reads a model.

use std::cell::Cell;

use js_sys::{Object, Reflect, Uint8Array, WebAssembly};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{XmlHttpRequest, XmlHttpRequestResponseType};

use crate::platform::error_text;
use ns_base::convert::{f64_to_u64, f64_to_usize, u64_to_f64};
use ns_base::refuse;
use ns_container::ByteSource;
use ns_program::{ImportError, ImportOptions, ImportedModel, read_elsewhere};
use ns_session::build_id;

/// Address of the program, beside the worker's own files.
const PROGRAM: &str = "reader_bg.wasm";

#[wasm_bindgen(raw_module = "./reader_loader.js")]
extern "C" {
    #[wasm_bindgen(js_name = startReader, catch)]
    fn start_program(parts: &Object) -> Result<JsValue, JsValue>;

    /// `src/web/bin/reader.rs`.
    #[wasm_bindgen(js_name = readModel, catch)]
    fn ask_program(
        build: &str,
        name: &str,
        options: &[u8],
        size: f64,
        slice: &mut dyn FnMut(f64, f64) -> Result<Uint8Array, JsValue>,
    ) -> Result<Option<Vec<u8>>, JsValue>;
}

const RELOAD: &str = "reload the page, and open the file again";

thread_local! {
    static IS_STARTED: Cell<bool> = const { Cell::new(false) };
}

/// Reads a model in the other program, which calls back for slices of the file. Fails with the reader's answer about the file, or
/// that the program could not be fetched.
pub fn read_model(name: &str, bytes: &dyn ByteSource, options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    if !IS_STARTED.get() {
        fetch_program()?;
        IS_STARTED.set(true);
    }
    let mut slice = |offset: f64, len: f64| slice_of(bytes, offset, len);
    read_elsewhere(options, |options| {
        match ask_program(&build_id(), name, options, u64_to_f64(bytes.size()), &mut slice) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => {
                Err(refuse!(instead = RELOAD, "the part of the page that reads model files is from another build")
                    .into())
            }
            // The program has panicked and the page has its last message: the worker ends with it.
            Err(error) => wasm_bindgen::throw_val(error),
        }
    })
}

fn slice_of(bytes: &dyn ByteSource, offset: f64, len: f64) -> Result<Uint8Array, JsValue> {
    let slice = bytes.slice(f64_to_u64(offset), f64_to_usize(len)).map_err(|e| JsValue::from_str(e.what()))?;
    Ok(Uint8Array::from(slice.as_slice()))
}

/// Fetches the program, compiles it and starts it.
fn fetch_program() -> Result<(), ImportError> {
    let wasm = fetch().map_err(|said| {
        refuse!(
            instead = "connect to the network and try again; once fetched, it is kept",
            "the part of the page that reads model files could not be fetched ({said})"
        )
    })?;
    compile(&wasm).map_err(|e| {
        ImportError::from(refuse!(
            instead = RELOAD,
            "the part of the page that reads model files does not start: {}",
            error_text(&e)
        ))
    })
}

fn fetch() -> Result<JsValue, String> {
    let text = |e: JsValue| error_text(&e);
    let request = XmlHttpRequest::new().map_err(text)?;
    request.open_with_async("GET", PROGRAM, false).map_err(text)?;
    request.set_response_type(XmlHttpRequestResponseType::Arraybuffer);
    request.send().map_err(text)?;
    match request.status().map_err(text)? {
        200..300 => request.response().map_err(text),
        status => Err(format!("{PROGRAM}: HTTP status {status}")),
    }
}

fn compile(wasm: &JsValue) -> Result<(), JsValue> {
    let parts = Object::new();
    Reflect::set(&parts, &JsValue::from_str("module"), &WebAssembly::Module::new(wasm)?.into())?;
    start_program(&parts).map(drop)
}
