//! The worker that opens profiles, without a simulator: the page fetches it first.

fn main() {
    ns_web::worker::start_viewer();
}
