//! `neuronscope compare A B`

use anyhow::{Result, bail};

use super::analysis::{analyse, print_json};
use crate::analysis_args::{BaseArg, CompareArgs};
use crate::driver::Driver;
use crate::shell::Shell;
use crate::source;
use ns_analysis::GroupBy;
use ns_analysis::compare::{ComparedRow, Comparison, Measure, OperatorTotals};
use ns_session::{Answer, ProfileKey, Question, SliceFilter};
use ns_view::comparison::comparison_table;
use ns_view::terminal;

pub(super) fn run(shell: &Shell, args: CompareArgs) -> Result<()> {
    let mut driver = Driver::new(shell);
    let a = source::open(&mut driver, &args.a)?.profile;
    let b = source::open(&mut driver, &args.b)?.profile;
    let (by, level) = (args.by, args.level.level.as_deref());
    let (mut first, mut second) = (totals(&mut driver, a, by, level)?, totals(&mut driver, b, by, level)?);
    if first.by != second.by {
        // Only one profile has framework operators; operations are what both have.
        let by = Some(GroupBy::Operation);
        (first, second) = (totals(&mut driver, a, by, level)?, totals(&mut driver, b, by, level)?);
    }
    let (base, other) = match args.base {
        BaseArg::A => (&first, &second),
        BaseArg::B => (&second, &first),
    };
    let measure = if args.total { Measure::Total } else { Measure::SelfTime };
    let comparison = Comparison::of(base, other, measure, args.per_step)?;
    if args.output.json {
        return print_json(&driver, &comparison);
    }
    if args.output.csv {
        return shell.print(comparison_table(&comparison).to_csv().as_bytes());
    }
    shell.print_lines(&describe(comparison, args.output.top))
}

fn totals(
    driver: &mut Driver<'_>,
    profile: ProfileKey,
    by: Option<GroupBy>,
    level: Option<&str>,
) -> Result<OperatorTotals> {
    let of = SliceFilter { level: level.map(str::to_owned), ..SliceFilter::default() };
    match analyse(driver, profile, Question::Totals { of, by })? {
        Answer::Totals(totals) => Ok(totals),
        _ => bail!("the session returned an unexpected answer"),
    }
}

fn describe(mut comparison: Comparison, top: usize) -> String {
    let what = if comparison.measure == Measure::Total { "Total" } else { "Self" };
    let per = if comparison.per_step { ", of one step" } else { "" };
    let level = match &comparison.levels {
        (a, b) if a == b => format!("level {a}"),
        (a, b) => format!("level {b} against {a}"),
    };
    let mut out = format!(
        "{} against {} (base): {}\n{what} time by operator{per}, {level}\n\n",
        comparison.other,
        comparison.base,
        comparison.took.text()
    );
    let left = comparison.rows.len().saturating_sub(top);
    comparison.rows.truncate(top);
    for row in comparison.rows.iter_mut().filter(|row| row.name.is_empty()) {
        row.name = "(none)".to_owned();
    }
    comparison.rows.insert(0, ComparedRow { name: "(all)".to_owned(), ..comparison.sum.clone() });
    out.push_str(&terminal::rows(&comparison_table(&comparison)));
    if left > 0 {
        out.push_str(&format!("... and {left} more (--top N shows more)\n"));
    }
    out
}
