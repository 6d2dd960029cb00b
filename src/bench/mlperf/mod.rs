//! MLPerf inference scenarios on a simulated instance: SingleStream, MultiStream, Server and Offline, with the verdict
//! and the early-stopping rule of LoadGen.
//!
//! Rules of 2026-07 and LoadGen 6.0.17: <https://github.com/mlcommons/inference>.

mod early_stopping;
mod result;
mod run;
mod settings;

pub use early_stopping::{EarlyStopping, discardable, queries_needed};
pub use result::{MlperfResult, Verdict, mlperf_to_json, mlperf_to_text};
pub use run::{ScenarioProgress, ScenarioRun, run_scenario};
pub use settings::{MlperfSettings, Scenario, SettingsError};
