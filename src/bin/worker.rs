//! The page's worker, which does all heavy work.

fn main() {
    neuronscope::web::worker::start();
}
