//! The worker for all heavy work but opening profiles: it simulates, and answers questions about what it simulated.

fn main() {
    ns_web::worker::start_simulator();
}
