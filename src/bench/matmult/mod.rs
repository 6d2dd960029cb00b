//! The microbenchmark guide's `matmult_linear.py`: one linear layer applied repeatedly, its phases timed separately, and
//! the pitfalls that the guide warns of, each with its effect.
//!
//! ```text
//! MatmultConfig -> cases -> CaseRun (compile, simulate in parts, iterate, compare) -> MatmultReport -> log lines, table, CSV, JSON
//! ```
//!
//! Times are simulated: a report is a function of its case and seed.

mod call_times;
mod case_run;
mod cc_flags;
mod config;
mod export;
mod findings;
mod log;
mod measure;
mod ranges;
mod report;

pub use case_run::{CaseRun, run_case};
pub use cc_flags::CcFlags;
pub use config::{
    MAX_CASES, MAX_ITERATIONS, MAX_VERIFICATIONS, MatmultCase, MatmultConfig, MatmultRun, cast_of_dtype, dtype_of,
    instance_of, words_of,
};
pub use export::{MATMULT_FORMAT, matmult_cols, matmult_csv, matmult_json, matmult_rows};
pub use findings::{MatmultFinding, Pitfall};
pub use log::{log_lines, python_g};
pub use measure::programs;
pub use ranges::RangeSummary;
pub use report::{Limit, MatmultDetail, MatmultReport, Verification};
