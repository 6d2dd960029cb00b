//! What the page shows, changed by actions only. No browser in here but the handles of workers.

pub mod bench;
pub mod experiments;
pub mod inspect;
mod kept_view;
pub mod notices;
pub mod numerics;
pub mod profile;
mod run;
pub mod study;

pub use run::RunState;
