//! The page's worker, which does all heavy work.

fn main() {
    ns_web::worker::start();
}
