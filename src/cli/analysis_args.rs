//! Flags of the commands that analyse a profile.

use clap::{Args as ClapArgs, ValueEnum};

use super::option_args::{Choice, one_of};
use ns_analysis::{GroupBy, Instances};
use ns_base::{Interval, TraceNs};
use ns_session::{ALL_LEVELS, ProfileInfo, SliceFilter};

/// Groups as the command line takes them.
const GROUPS: &[Choice<GroupBy>] = &[
    ("name", "Name of the slices", GroupBy::Name),
    (
        "operation",
        "Operation: names that differ only in a number or in template arguments count as one",
        GroupBy::Operation,
    ),
    ("category", "Category of the slices", GroupBy::Category),
    ("operator", "Category, or name where there is none", GroupBy::CategoryOrName),
    ("module", "Module of the model", GroupBy::Module),
    ("process", "Process", GroupBy::Process),
    ("device", "Device", GroupBy::Device),
    ("core", "NeuronCore", GroupBy::Core),
    ("thread", "Thread", GroupBy::Thread),
];

/// The source of a profile.
const SOURCE_HELP: &str =
    "Profile file, or a simulated run: sim:MODEL?workflow=trace&instance=inf1.xlarge (the flags of `profile`)";

#[derive(Debug, ClapArgs)]
pub(super) struct LevelArgs {
    /// Count only slices of this level, such as device-kernels or modules; `all` counts every level, which may count the same work
    /// several times [default: the level named above the answer]
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<String>,
}

impl LevelArgs {
    /// The level as named in a sentence.
    pub fn level_in_words(&self, profile: &ProfileInfo) -> String {
        match self.level.as_deref().unwrap_or(&profile.default_level) {
            ALL_LEVELS => "the profile".to_owned(),
            level => format!("the level '{level}' (--level all looks at every one)"),
        }
    }

    /// The line above an answer with its level and the other levels; empty for a profile of one level.
    pub fn line(&self, profile: &ProfileInfo) -> String {
        let level = self.level.as_deref().unwrap_or(&profile.default_level);
        let name = profile.own_level(level).unwrap_or(level);
        let others: Vec<&str> = profile.levels.iter().map(|l| l.name.as_str()).filter(|other| *other != name).collect();
        if others.is_empty() {
            return String::new();
        }
        let most = others.len().min(MOST_LEVELS);
        let more = if others.len() > most { format!(" and {} more", others.len() - most) } else { String::new() };
        let all = if name == ALL_LEVELS { "" } else { ", all" };
        format!("Level: {name} (--level takes {}{more}{all})\n\n", others[..most].join(", "))
    }
}

/// Most levels that are named above an answer.
const MOST_LEVELS: usize = 8;

#[derive(Debug, ClapArgs)]
pub(super) struct ChosenArgs {
    /// Only this span, START..END in ns from the start of the profile: of each slice only the part inside counts
    #[arg(long, value_name = "START..END", value_parser = parse_span)]
    pub range: Option<Interval<TraceNs>>,
    /// No effect: of each slice only the part inside the range counts. Kept for scripts written for earlier releases
    #[arg(long, hide = true, requires = "range")]
    pub clip: bool,
    #[command(flatten)]
    pub level: LevelArgs,
}

impl ChosenArgs {
    pub fn slice_filter(&self) -> SliceFilter {
        SliceFilter { range: self.range, tracks: None, level: self.level.level.clone() }
    }
}

#[derive(Debug, ClapArgs)]
pub(super) struct InstancesArgs {
    /// Count each name by itself [default: names that differ only in a number or in template arguments count as one]
    #[arg(long)]
    pub instances: bool,
}

impl InstancesArgs {
    pub const fn instances(&self) -> Instances {
        if self.instances { Instances::Each } else { Instances::Merged }
    }
}

#[derive(Debug, ClapArgs)]
pub(super) struct ListingOutput {
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print CSV
    #[arg(long)]
    pub csv: bool,
    /// Show this many rows (JSON and CSV have all of them)
    #[arg(long, default_value_t = 20)]
    pub top: usize,
}

#[derive(Debug, ClapArgs)]
pub(super) struct OperatorsArgs {
    #[arg(help = SOURCE_HELP)]
    pub source: String,
    /// Key that slices are grouped by
    #[arg(long, value_parser = one_of(GROUPS), default_value = "operation")]
    pub by: GroupBy,
    /// List the slices of this group instead, the longest first
    #[arg(long, value_name = "GROUP")]
    pub members: Option<String>,
    #[command(flatten)]
    pub chosen: ChosenArgs,
    #[command(flatten)]
    pub output: ListingOutput,
}

#[derive(Debug, ClapArgs)]
pub(super) struct FlameArgs {
    #[arg(help = SOURCE_HELP)]
    pub source: String,
    /// Show only the callers and callees of this name
    #[arg(long)]
    pub name: Option<String>,
    /// Make threads the outermost level; without this the stacks of all threads are merged
    #[arg(long)]
    pub by_thread: bool,
    /// Make the innermost slices the outermost level, with their callers below them
    #[arg(long, conflicts_with_all = ["name", "by_thread"])]
    pub inverted: bool,
    /// Show the module hierarchy instead of stacks
    #[arg(long, conflicts_with_all = ["name", "by_thread", "inverted"])]
    pub modules: bool,
    #[command(flatten)]
    pub instances: InstancesArgs,
    #[command(flatten)]
    pub chosen: ChosenArgs,
    /// Show at most this many nodes, those with the most time
    #[arg(long, default_value_t = 40)]
    pub nodes: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct HistogramArgs {
    #[arg(help = SOURCE_HELP)]
    pub source: String,
    /// The group whose durations are shown
    pub name: String,
    /// Key that slices are grouped by
    #[arg(long, value_parser = one_of(GROUPS), default_value = "operation")]
    pub by: GroupBy,
    /// Use bins of equal width instead of 1, 2, 5, 10 ...
    #[arg(long)]
    pub linear: bool,
    /// Show at most this many bins
    #[arg(long, default_value_t = 30)]
    pub bins: u32,
    #[command(flatten)]
    pub chosen: ChosenArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct SpanArgs {
    #[arg(help = SOURCE_HELP)]
    pub source: String,
    /// Only this span, START..END in ns from the start of the profile
    #[arg(long, value_name = "START..END", value_parser = parse_span)]
    pub range: Option<Interval<TraceNs>>,
    #[command(flatten)]
    pub output: ListingOutput,
}

#[derive(Debug, ClapArgs)]
pub(super) struct PathArgs {
    #[command(flatten)]
    pub span: SpanArgs,
    #[command(flatten)]
    pub instances: InstancesArgs,
}

#[derive(Debug, ClapArgs)]
pub(super) struct CountersArgs {
    #[arg(help = SOURCE_HELP)]
    pub source: String,
    /// List the values over time of this counter, by its name in the table
    #[arg(long, value_name = "NAME")]
    pub curve: Option<String>,
    /// List about this many values at most: the smallest and the largest of each stretch
    #[arg(long, default_value_t = 1_000, requires = "curve", value_parser = clap::value_parser!(u32).range(2..=20_000))]
    pub points: u32,
    /// Only this span, START..END in ns from the start of the profile
    #[arg(long, value_name = "START..END", value_parser = parse_span)]
    pub range: Option<Interval<TraceNs>>,
    #[command(flatten)]
    pub output: ListingOutput,
}

#[derive(Debug, ClapArgs)]
pub(super) struct QueryArgs {
    #[arg(help = SOURCE_HELP)]
    pub source: String,
    /// The query: where dur > 10us group by name order by sum(dur) desc limit 5
    #[arg(default_value = "")]
    pub query: String,
    #[command(flatten)]
    pub level: LevelArgs,
    #[command(flatten)]
    pub output: ListingOutput,
}

/// Which of two profiles is the base.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum BaseArg {
    /// The first
    #[value(name = "A", alias = "a")]
    A,
    /// The second
    #[value(name = "B", alias = "b")]
    B,
}

#[derive(Debug, ClapArgs)]
pub(super) struct CompareArgs {
    #[arg(value_name = "A", help = SOURCE_HELP)]
    pub a: String,
    #[arg(value_name = "B", help = SOURCE_HELP)]
    pub b: String,
    /// Which of the two profiles is the base
    #[arg(long, value_enum, default_value = "A")]
    pub base: BaseArg,
    /// What is compared [default: operator if both profiles have framework operators, else operation]
    #[arg(long, value_parser = one_of(GROUPS))]
    pub by: Option<GroupBy>,
    /// Compare total instead of self time
    #[arg(long)]
    pub total: bool,
    /// Divide by the number of steps marked in each profile
    #[arg(long)]
    pub per_step: bool,
    #[command(flatten)]
    pub level: LevelArgs,
    #[command(flatten)]
    pub output: ListingOutput,
}

fn parse_span(text: &str) -> Result<Interval<TraceNs>, String> {
    let parts = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match parts {
        Some((start, end)) if start < end => Ok(Interval::new(TraceNs(start), TraceNs(end))),
        Some(_) => Err(format!("'{text}' is empty: the end must be after the start")),
        None => Err(format!("'{text}' is not a span: write START..END in ns, like 1000..2500")),
    }
}
