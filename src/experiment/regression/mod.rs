//! When did a series change, and is it still worse? Steps by a least-absolute-deviations Potts model with a penalty that
//! is chosen from the data, and regressions among them, as asv (airspeed velocity) finds them.

mod golden;
mod potts;
mod regressions;
mod series;
mod steps;

pub use regressions::{Regression, Regressions, find_regressions};
pub use steps::{Step, detect_steps};
