//! The worker that does all heavy work: it simulates, and whatever it simulated it shows.

fn main() {
    ns_web::worker::start_simulator();
}
