//! Experiments in the manner of PyTorch/XLA's benchmark suite: plan a matrix of configurations, run them, verify their
//! outputs, and make tables and time series of the records.
//!
//! ```text
//! options -> plan: expand, select -> run -> Record (a line of results.jsonl)
//!                                     |        |--> analyze: statistics of each record   -> CSV, JSONL
//!                          verify <---+        '--> aggregate: speed-ups over time       -> CSV, table, figure
//! ```
//!
//! This module reads no file and no clock: a shell passes it lines and measured times, and gets text back. Rules, columns
//! and statistics are those of the suite; `docs/experiments.md` lists the differences.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

pub mod aggregate;
pub mod analyze;
pub mod figure;
pub mod micro;
pub mod plan;
pub mod python;
pub mod record;
pub mod regression;
pub mod run;
pub mod sweep;
pub mod verify;
