//! Results as one HTML file each ([`ns_view::page::PageFile`]): a benchmark's reports, the overview of a profile, the
//! document of a study. The page and the
//! command line write the same bytes.

mod bench;
mod live;
mod profile;
mod study;

pub use bench::{BenchPage, PackedReports, bench_page};
pub use live::LOCAL_PAGE;
pub(super) use live::live_address;
pub use profile::{ProfileParts, profile_page};
pub use study::{records_page, study_page};
