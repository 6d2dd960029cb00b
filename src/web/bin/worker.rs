//! The worker of benchmarks: it draws models, runs them and simulates profiles, and answers questions about those.

fn main() {
    ns_web::worker::start_benchmarks();
}
