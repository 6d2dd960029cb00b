//! Compares published benchmark rows with predictions, to show how accurate the simulator is.
//!
//! A row names a model, an instance, a batch size and the number of outstanding requests. Where that number comes from
//! the row's own throughput and latency by Little's law, it only decides between a few whole numbers of cores and
//! workers; no other measurement of the row affects its prediction. Rows from which a constant of the cost table was
//! solved are predicted, but are not part of the errors. Rows of models that are not in the zoo are listed with the
//! reason why they were skipped. Measured instructions, transfers and rates are compared with single costs.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod calibrate;
mod decode;
mod decode_fit;
mod decode_interval;
mod decode_report;
mod family;
mod floor;
mod interval;
mod left_out;
mod measured;
mod micro;
mod nki;
mod predict;
mod published;
mod row;
mod search;
mod served;
mod served_fit;
mod summary;
mod tables;

pub use calibrate::{Calibrator, CostChange, Fit, LeftOut};
pub use decode::{
    DecodeCase, Decoders, GenerationTimes, PublishedDecode, is_generation, published_decodes, shipped_decode_rows,
    validate_generation,
};
pub use decode_fit::{DecodeCalibrator, DecodeFit, DecodeLeftOut};
pub use decode_interval::{DECODE_HELD_OUT, DecodeHeldOut, decode_factors, interval_of_tpot};
pub use decode_report::{GenerationReport, LargerBatch, TpotInterval};
pub use floor::ratios_by_one_factor;
pub use interval::{Coverage, coverage, device_factors, interval_of_rate, interval_of_time, put_beside, unknown_error};
pub use left_out::{LeftOutRow, left_out_csv};
pub use measured::{MeasuredRow, RowComparison, compare, measured_markdown, read_measured};
pub use nki::{KernelComparison, KernelRow, KernelSummary, compare_kernel, read_kernels, summarise_kernels};
pub use predict::{Placement, PlacementBasis, Prediction, predict};
pub use published::{
    PublishedTime, custom_op_beside, product_beside, published_benchmark, published_product, published_steps_per_s,
    published_times, published_tops, shipped_rows,
};
pub use row::{PublishedRow, read_rows};
pub use search::rms_of_ratios;
pub use served::{ServedAnswer, ServedCase, ServedRow, ServedTime, read_served};
pub use served_fit::{
    SERVED_HELD_OUT, ServedCalibrator, ServedErrors, ServedGroup, ServedLeftOut, ServedValidator, errors_of,
    shipped_served_rows,
};
pub use summary::{Summary, Validation, validate};
pub use tables::{TableKind, shipped_table};
