//! `neuronscope compare A B`

use anyhow::{Result, bail};

use super::analysis::{analyse, print_json};
use super::text;
use crate::analysis_args::{BaseArg, CompareArgs};
use crate::driver::Driver;
use crate::source;
use ns_analysis::GroupBy;
use ns_analysis::compare::{ComparedRow, Comparison, Measure, OperatorTotals, Presence};
use ns_analysis::opcode::name_in;
use ns_base::units::{format_ns, format_times};
use ns_session::{Answer, ProfileKey, Question, SliceFilter};
use ns_view::comparison::comparison_table;

pub(super) fn run(args: CompareArgs) -> Result<()> {
    let mut driver = Driver::new();
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
        return text::print(comparison_table(&comparison).to_csv().as_bytes());
    }
    text::print_lines(&describe(&comparison, args.output.top))
}

fn totals(
    driver: &mut Driver,
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

fn describe(comparison: &Comparison, top: usize) -> String {
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
    let cells = |r: &ComparedRow, name: &str| {
        let sign = if r.difference_ns > 0.0 { "+" } else { "" };
        let ratio = match (r.presence, r.ratio) {
            (Presence::New, _) => "new".to_owned(),
            (Presence::Gone, _) => "gone".to_owned(),
            (Presence::Both, Some(ratio)) => format_times(ratio, 3),
            (Presence::Both, None) => "-".to_owned(),
        };
        vec![
            name_in(name, 72),
            count(r.base_count),
            count(r.other_count),
            format_ns(r.base_ns),
            format_ns(r.other_ns),
            format!("{sign}{}", format_ns(r.difference_ns)),
            ratio,
        ]
    };
    let mut rows = vec![cells(&comparison.sum, "(all)")];
    rows.extend(comparison.rows.iter().take(top).map(|r| cells(r, if r.name.is_empty() { "(none)" } else { &r.name })));
    let headings = ["Operator", ">Base count", ">Other count", ">Base", ">Other", ">Difference", ">Ratio"];
    out.push_str(&text::table(&headings, &rows));
    if comparison.rows.len() > top {
        out.push_str(&format!("... and {} more (--top N shows more)\n", comparison.rows.len() - top));
    }
    out
}

fn count(n: f64) -> String {
    if (n - libm::round(n)).abs() < 1e-9 { format!("{n:.0}") } else { format!("{n:.2}") }
}
