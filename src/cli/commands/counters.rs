//! `neuronscope counters SOURCE`

use anyhow::{Result, bail};

use super::analysis::{analyse, list, print_listed};
use crate::analysis_args::CountersArgs;
use crate::driver::Driver;
use crate::shell::Shell;
use crate::source;
use ns_analysis::counters::Curve;
use ns_base::convert::i64_to_f64;
use ns_session::{Answer, LinkedTable, Listing, Question};
use ns_view::table::{Cell, Column, ColumnKind, Table};

pub(super) fn run(shell: &Shell, args: CountersArgs) -> Result<()> {
    let mut driver = Driver::new(shell);
    let profile = source::open(&mut driver, &args.source)?.profile;
    let Some(name) = args.curve else {
        let listed = list(&mut driver, profile, Listing::Counters(args.range), &args.output)?;
        return print_listed(&driver, &listed, &args.output);
    };
    let question = Question::Curve { name, range: args.range, points: args.points };
    match analyse(&mut driver, profile, question)? {
        Answer::Curve(curve) => print_listed(&driver, &values(&curve), &args.output),
        _ => bail!("the session returned an unexpected answer"),
    }
}

/// Each value with the time at which it begins; the last row is the end of the last value.
fn values(curve: &Curve) -> LinkedTable {
    let row = |(at, value): &(i64, f64)| vec![Cell::Number(i64_to_f64(*at)), Cell::Number(*value)];
    let table = Table {
        columns: vec![
            Column::new("time_ns", "Time (ns)", ColumnKind::Count),
            Column::new("value", "Value", ColumnKind::Number),
        ],
        rows: curve.points.iter().map(row).collect(),
    };
    let thinned = "The smallest and the largest value of each stretch are listed (--points N lists more).";
    let notes = if curve.is_thinned { vec![thinned.to_owned()] } else { Vec::new() };
    LinkedTable { total: table.rows.len() as u64, table, notes, ..LinkedTable::default() }
}
