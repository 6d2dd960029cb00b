//! Flags of `neuronscope parquet`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

/// Tables that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ParquetTableArg {
    /// Records of experiments (results.jsonl): a row for each repeat
    Records,
    /// Benchmark reports: a row for each report
    Reports,
    /// Slices of a profile
    Slices,
    /// Operators of a profile: a row for each name
    Operators,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ParquetArgs {
    /// Files of records or folders of .jsonl files; files of reports; or one profile or sim:MODEL?workflow=trace
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<String>,
    /// Table to write
    #[arg(long, value_enum, default_value = "records")]
    pub table: ParquetTableArg,
    /// With --table operators: only slices of this level, `all` for every level [default: the profile's own]
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<String>,
    /// File to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
}
