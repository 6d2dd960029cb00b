//! The page.

fn main() {
    neuronscope::web::start();
}
