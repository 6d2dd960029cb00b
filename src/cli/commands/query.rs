//! `neuronscope query SOURCE 'QUERY'`

use anyhow::{Result, anyhow};

use super::analysis::{list, print_listed};
use crate::cli::analysis_args::QueryArgs;
use crate::cli::driver::Driver;
use crate::cli::source;
use crate::profile::analysis::query::parse;
use crate::session::Listing;

pub(super) fn run(args: QueryArgs) -> Result<()> {
    // A mistake is told before a large file is read.
    parse(&args.query).map_err(|e| anyhow!("{e}\n  {}\n  {}^", args.query, " ".repeat(e.column.saturating_sub(1))))?;
    let mut driver = Driver::new();
    let profile = source::open(&mut driver, &args.source)?.profile;
    print_listed(&list(&mut driver, profile, Listing::Query(args.query), &args.output)?, &args.output)
}
