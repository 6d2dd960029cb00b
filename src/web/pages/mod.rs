//! The pages, each with its requests.

pub mod benchmark;
pub mod experiments;
pub mod finder;
pub mod guide;
pub mod inspect;
mod kept_here;
pub mod landing;
pub mod profile;
pub mod study;
