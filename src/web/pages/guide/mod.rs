//! The guide: chapters with examples that open with a click; studies run in place.

mod example;
mod page;

pub use page::GuidePage;
