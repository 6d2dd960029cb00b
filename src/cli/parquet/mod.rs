//! Tables as Parquet files: records of experiments, benchmark reports, slices and tables of profiles. The columns
//! are described in docs/formats/parquet.md.

mod profile;
mod records;
mod reports;
mod sheet;

pub(super) use profile::{slices, table};
pub(super) use records::RecordSheet;
pub(super) use reports::reports;
