//! `neuronscope query SOURCE 'QUERY'`

use anyhow::{Result, anyhow};

use super::analysis::{list, print_headed};
use crate::analysis_args::QueryArgs;
use crate::driver::Driver;
use crate::shell::Shell;
use crate::source;
use ns_analysis::query::parse;
use ns_session::{Listing, QueryOf};

pub(super) fn run(shell: &Shell, args: QueryArgs) -> Result<()> {
    // A mistake in the query is reported before a large file is read.
    parse(&args.query).map_err(|e| anyhow!("{e}\n  {}\n  {}^", args.query, " ".repeat(e.column.saturating_sub(1))))?;
    let mut driver = Driver::new(shell);
    let info = source::open(&mut driver, &args.source)?;
    let line = args.level.line(&info);
    let what = Listing::Query(QueryOf { text: args.query, level: args.level.level });
    let listed = list(&mut driver, info.profile, what, &args.output)?;
    print_headed(&driver, &line, &listed, &args.output)
}
