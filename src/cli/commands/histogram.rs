//! `neuronscope histogram SOURCE NAME`

use anyhow::{Result, bail};

use super::analysis::{analyse, print_json};
use super::text;
use crate::base::units::{format_count, format_ns};
use crate::cli::analysis_args::HistogramArgs;
use crate::cli::driver::Driver;
use crate::cli::source;
use crate::profile::analysis::histogram::{BinScale, Histogram};
use crate::session::{Answer, Question};

/// Characters of the longest bar.
const BAR: u64 = 40;

pub(super) fn run(args: HistogramArgs) -> Result<()> {
    let mut driver = Driver::new();
    let profile = source::open(&mut driver, &args.source)?.profile;
    let question = Question::Histogram {
        of: args.chosen.chosen(),
        by: args.by.into(),
        name: args.name.clone(),
        scale: if args.linear { BinScale::Linear } else { BinScale::Log },
        bins: args.bins,
    };
    match analyse(&mut driver, profile, question)? {
        Answer::Histogram(found) if found.count == 0 => bail!("no slice belongs to '{}'", args.name),
        Answer::Histogram(found) if args.json => print_json(&found),
        Answer::Histogram(found) => text::print(describe(&found).as_bytes()),
        _ => bail!("the session gave another answer"),
    }
}

fn describe(found: &Histogram) -> String {
    let most = found.bins.iter().map(|b| b.count).max().unwrap_or(0).max(1);
    let rows: Vec<Vec<String>> = found
        .bins
        .iter()
        .map(|b| {
            let bar = "#".repeat(usize::try_from((b.count * BAR).div_ceil(most)).unwrap_or(0));
            vec![format_ns(b.from_ns as f64), format_ns(b.to_ns as f64), format_count(b.count), bar]
        })
        .collect();
    let percentiles = found
        .percentiles
        .map_or_else(String::new, |p| format!(", median {}, p99 {}", format_ns(p.p50_ns), format_ns(p.p99_ns)));
    format!(
        "{} slices, {} in all, {} to {}{percentiles}\n\n{}",
        format_count(found.count),
        format_ns(found.total_ns as f64),
        format_ns(found.min_ns as f64),
        format_ns(found.max_ns as f64),
        text::table(&[">From", ">To", ">Count", ""], &rows),
    )
}
