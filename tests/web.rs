//! Tests that run in a dedicated worker of a browser, where the product's heavy work runs.
#![cfg(target_arch = "wasm32")]

use neuronscope::base::SimTime;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn runs_in_a_dedicated_worker() {
    assert!(js_sys::global().is_instance_of::<web_sys::DedicatedWorkerGlobalScope>());
}

#[wasm_bindgen_test]
fn simulated_time_does_not_wrap_where_usize_has_32_bits() {
    assert_eq!(usize::BITS, 32);
    assert_eq!(SimTime::from_secs(3600).to_ns(), 3_600_000_000_000);
}
