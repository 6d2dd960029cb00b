//! Where the recorder of NKI kernels is: in the Python package of a clone, or of its source distribution, which has it at the root.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let places = ["../python/python", "../../python"].map(|place| format!("{here}/{place}/neuronscope/nki_recorder"));
    if let Some(found) = places.iter().find(|place| Path::new(place).is_dir()) {
        println!("cargo:rustc-env=NKI_RECORDER={found}");
    }
}
