//! Tables as Parquet files: records of experiments, benchmark reports, slices and tables of profiles. What stands in which
//! column is in docs/formats/parquet.md.

mod profile;
mod records;
mod reports;
mod sheet;

pub(super) use profile::{slices, table};
pub(super) use records::RecordSheet;
pub(super) use reports::reports;
