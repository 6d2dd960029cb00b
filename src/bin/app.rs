//! The page.

fn main() {
    neuronscope::web::app::start();
}
