//! The pages that are fetched when one of them is shown.

fn main() {
    neuronscope::web::lab::start();
}
