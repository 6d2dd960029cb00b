//! The pages that are fetched only when one of them is shown.

fn main() {
    ns_web::lab::start();
}
