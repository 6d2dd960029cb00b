//! `neuronscope histogram SOURCE NAME`

use anyhow::{Result, bail};

use super::analysis::{analyse, print_json};
use crate::analysis_args::HistogramArgs;
use crate::driver::Driver;
use crate::shell::Shell;
use crate::source;
use ns_analysis::histogram::{BinScale, Histogram};
use ns_base::convert::f64_to_i64;
use ns_base::units::format_count;
use ns_session::{Answer, Question, Unit};
use ns_view::terminal;

/// Length of the longest bar, in characters.
const BAR: u64 = 40;

pub(super) fn run(shell: &Shell, args: HistogramArgs) -> Result<()> {
    let mut driver = Driver::new(shell);
    let info = source::open(&mut driver, &args.source)?;
    let (line, profile) = (args.chosen.level.line(&info), info.profile);
    let question = Question::Histogram {
        of: args.chosen.slice_filter(),
        by: args.by,
        name: args.name.clone(),
        scale: if args.linear { BinScale::Linear } else { BinScale::Log },
        bins: args.bins,
    };
    match analyse(&mut driver, profile, question)? {
        Answer::Histogram(found) if found.count == 0 => {
            bail!("no slice of {} is in the group '{}'", args.chosen.level.level_in_words(&info), args.name)
        }
        Answer::Histogram(found) if args.json => print_json(&driver, &found),
        Answer::Histogram(found) => shell.print_lines(&format!("{line}{}", describe(&found, &info.outline.unit))),
        _ => bail!("the session returned an unexpected answer"),
    }
}

fn describe(found: &Histogram, unit: &Unit) -> String {
    let most = found.bins.iter().map(|b| b.count).max().unwrap_or(0).max(1);
    let rows: Vec<Vec<String>> = found
        .bins
        .iter()
        .map(|b| {
            let bar = "#".repeat(usize::try_from((b.count * BAR).div_ceil(most)).unwrap_or(0));
            vec![unit.text(b.from_ns), unit.text(b.to_ns), format_count(b.count), bar]
        })
        .collect();
    let percentiles = found.percentiles.map_or_else(String::new, |p| {
        format!(", median {}, p99 {}", unit.text(f64_to_i64(p.p50_ns)), unit.text(f64_to_i64(p.p99_ns)))
    });
    format!(
        "{} slices, {} in all, {} to {}{percentiles}\n\n{}",
        format_count(found.count),
        unit.text(found.total_ns),
        unit.text(found.min_ns),
        unit.text(found.max_ns),
        terminal::table(&[">From", ">To", ">Count", ""], &rows),
    )
}
