//! Published benchmark rows against predictions: how far the simulator can be believed.
//!
//! A row names a model, an instance, a batch size and how many requests were outstanding. Where that number is Little's
//! law over the row's own throughput and latency, it decides between a few whole numbers of cores and workers; nothing
//! else that was measured reaches the row's prediction. Rows from which a constant of the cost table was solved are
//! predicted, but are no part of the errors. Rows of models that are not in the zoo are kept, with the reason they were
//! skipped.

mod calibrate;
mod error;
mod micro;
mod predict;
mod row;
mod summary;

pub use calibrate::{Calibrator, Fit, LeftOut};
pub use error::PredictError;
pub use predict::{Placement, PlacementBasis, Prediction, predict};
pub use row::{PublishedRow, RowError, read_rows};
pub use summary::{Summary, Validation, validate};
