//! The page.

fn main() {
    ns_web::app::start();
}
