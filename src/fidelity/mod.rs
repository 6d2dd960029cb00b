//! Published benchmark rows against predictions: how far the simulator can be believed.
//!
//! A row names a model, an instance, a batch size and how many requests were outstanding; nothing measured in it reaches
//! its prediction. Rows of models that are not in the zoo are kept, with the reason they were skipped.

mod calibrate;
mod micro;
mod predict;
mod row;
mod summary;

pub use calibrate::{Calibrator, Fit, LeftOut};
pub use predict::{Prediction, predict};
pub use row::{PublishedRow, RowError, read_rows};
pub use summary::{Summary, Validation, validate};
