//! The page's worker: everything heavy.

fn main() {
    neuronscope::web::worker::start();
}
