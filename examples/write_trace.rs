//! Makes a profile and writes it as a Chrome trace: `cargo run --example write_trace -- FILE`.
//!
//! Chrome, Perfetto and this project's page open the file. Without a file name the trace goes to stdout. Needs no feature.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::fs;

use neuronscope::base::Diagnostics;
use neuronscope::formats::{WriteFormat, read_bytes};
use neuronscope::profile::ProfileBuilder;

fn main() -> Result<(), Box<dyn Error>> {
    let mut builder = ProfileBuilder::new("example");
    builder.set_title("two workers");
    let process = builder.process("1", "server");
    for worker in 0..2 {
        let thread = builder.thread(process, &worker.to_string(), &format!("worker {worker}"));
        for call in 0..3 {
            // Nanoseconds. The second slice lies inside the first, so it is a child of it.
            let start = 50_000 * call + 5_000 * worker;
            builder.slice(thread, start, 40_000, "request", "server", Some(r#"{"batch":8}"#));
            builder.slice(thread, start + 5_000, 30_000, "model", "server", None);
        }
    }
    let profile = builder.finish(Diagnostics::new());

    let bytes = WriteFormat::Chrome.write(&profile);
    // What is written can be read again.
    assert_eq!(read_bytes("again", &bytes)?.slices().len(), profile.slices().len());
    match std::env::args().nth(1) {
        Some(path) => fs::write(&path, bytes).map_err(|e| format!("{path}: {e}"))?,
        None => println!("{}", String::from_utf8(bytes)?),
    }
    Ok(())
}
