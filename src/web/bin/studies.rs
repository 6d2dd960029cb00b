//! The worker of studies and experiments.

fn main() {
    ns_web::worker::start_studies();
}
