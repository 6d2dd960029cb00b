//! The selected records, with defaults for the choices that were left open.

use std::collections::BTreeMap;

use super::entry::{Entry, MeanTime, Outcome};
use super::messages::{Choices, RecordsChoices};
use super::record_filter::RecordFilter;
use super::store::RecordStore;
use super::text::moment;
use ns_base::{Order, Refusal};
use ns_experiment::aggregate::{
    AcceleratorChoice, Aggregator, Backend, BackendNames, Baseline, Measure, Metric, Report, ReportKind, Selection,
    TimeSpeedups, known_accelerator, speedups,
};
use ns_experiment::plan::{ModelFilter, Test};
use ns_forms::{ExperimentField, ExperimentSpec, ExperimentView};

/// Most runs in a list to choose from.
const MOST_RUNS_LISTED: usize = 200;

/// The run that changes refer to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Against {
    /// The run before the newest.
    Previous,
    Oldest,
    /// The run with a timestamp.
    Run(f64),
}

pub struct ViewInput<'a> {
    pub store: &'a RecordStore,
    pub view: ExperimentView,
    /// Name of the accelerator; `None` for all together.
    pub accelerator: Option<String>,
    pub test: Test,
    pub metric: Metric,
    pub baseline: Baseline,
    pub backends: Vec<Backend>,
    pub against: Against,
    pub record_filter: Option<RecordFilter>,
    /// Positions of the records in the store, by time.
    pub entries: Vec<usize>,
    /// Timestamps of the records, in order.
    pub runs: Vec<f64>,
    /// Speed-ups with the deviations that reports print.
    pub times: Vec<TimeSpeedups>,
    /// The same speed-ups with half of their 95 % confidence intervals instead of deviations; NaN if not known.
    pub reaches: Vec<TimeSpeedups>,
    /// Messages about choices that could not be used, and what is used instead.
    pub problems: Vec<String>,
    model_filter: ModelFilter,
    pub request: ExperimentSpec,
}

/// The short name of a record's accelerator: the suite's, or the kind, or the product.
pub fn accelerator_of(entry: &Entry) -> &str {
    let c = &entry.config;
    let kind = || c.kind.as_deref().filter(|kind| !matches!(*kind, "cuda" | "tpu"));
    known_accelerator(&c.product).or_else(kind).unwrap_or(&c.product)
}

const fn test_name(test: Test) -> &'static str {
    match test {
        Test::Eval => "inference",
        Test::Train => "training",
    }
}

/// The accelerator with the most records that have times: one whose experiments were all skipped has nothing to show.
fn most_timed(store: &RecordStore) -> Option<&str> {
    let timed = store.entries.iter().filter(|entry| matches!(entry.outcome, Outcome::Timed { .. }));
    most(timed.map(accelerator_of)).or_else(|| most(store.entries.iter().map(accelerator_of)))
}

impl<'a> ViewInput<'a> {
    /// Selects the records for a request.
    pub fn of(store: &'a RecordStore, request: &ExperimentSpec) -> Self {
        let mut problems = Vec::new();
        let field = |f| request.get(f);
        let (view, wrong) = of_name(field(ExperimentField::View), ExperimentView::of_key, "view", default_view(store));
        problems.extend(wrong);
        let accelerator = match field(ExperimentField::Accelerator) {
            "any" => None,
            "" => most_timed(store).map(str::to_owned),
            name => Some(name.to_owned()),
        };
        let choice = accelerator.clone().map_or(AcceleratorChoice::Any, AcceleratorChoice::Named);
        let wants = |e: &Entry| choice.wants(e.config.kind.as_deref(), &e.config.product) == Some(true);
        let has_test = |test: Test| store.entries.iter().any(|e| wants(e) && e.config.test == test.name());
        let most_tests = if has_test(Test::Eval) || !has_test(Test::Train) { Test::Eval } else { Test::Train };
        let (test, wrong) = of_name(field(ExperimentField::Test), test_of, "test", most_tests);
        problems.extend(wrong);
        let (metric, wrong) = of_name(field(ExperimentField::Metric), metric_of, "metric", Metric::Execution);
        problems.extend(wrong);
        let (baseline, wrong) = of_name(field(ExperimentField::Baseline), baseline_of, "baseline", Baseline::Oldest);
        problems.extend(wrong);
        let (against, wrong) = of_name(field(ExperimentField::Against), against_of, "against", Against::Previous);
        problems.extend(wrong);
        let (filter, wrong) = filter_of(request);
        problems.extend(wrong);
        let mut entries: Vec<usize> = (0..store.entries.len())
            .filter(|i| {
                let e = &store.entries[*i];
                wants(e) && e.config.test == test.name() && filter.keeps(&e.config.model)
            })
            .collect();
        entries.order_by(|a, b| store.entries[*a].timestamp.total_cmp(&store.entries[*b].timestamp).then(a.cmp(b)));
        let mut runs: Vec<f64> = entries.iter().map(|i| store.entries[*i].timestamp).collect();
        runs.dedup();
        let present = |b: &Backend| entries.iter().any(|i| store.entries[*i].config.backend == *b);
        let (backends, wrong) = backends_of(field(ExperimentField::Backends), present);
        problems.extend(wrong);
        let record_filter = Some(field(ExperimentField::Open)).filter(|t| !t.is_empty()).map(RecordFilter::parse);
        let mut input = Self {
            store,
            view,
            accelerator,
            test,
            metric,
            baseline,
            backends,
            against,
            record_filter,
            entries,
            runs,
            times: Vec::new(),
            reaches: Vec::new(),
            problems,
            model_filter: filter,
            request: request.clone(),
        };
        input.compare();
        input
    }

    fn compare(&mut self) {
        let times = self.speedups_with(self.metric, |timed| timed.measure);
        let times = times.or_else(|wrong| {
            self.problems.push(format!("{wrong}. The oldest is used"));
            self.baseline = Baseline::Oldest;
            self.speedups_with(self.metric, |timed| timed.measure)
        });
        self.times = times.unwrap_or_default();
        // Errors add up in the same way for any multiple of the deviation.
        let reach = |timed: MeanTime| Measure { std: timed.reach.unwrap_or(f64::NAN), ..timed.measure };
        self.reaches = self.speedups_with(self.metric, reach).unwrap_or_default();
    }

    fn speedups_with(
        &self,
        metric: Metric,
        measure: impl Fn(MeanTime) -> Measure,
    ) -> Result<Vec<TimeSpeedups>, Refusal> {
        let selection = Selection {
            accelerator: AcceleratorChoice::Any,
            models: self.model_filter.clone(),
            test: self.test,
            metric,
            lenient: true,
        };
        let mut records = Aggregator::new(selection);
        // In the order of the files: of two records of the same experiment, the later one counts.
        let mut order = self.entries.clone();
        order.order();
        for i in order {
            let entry = &self.store.entries[i];
            records.take(&entry.view(entry.timed(metric).map(&measure)));
        }
        speedups(&records, &self.backends, self.baseline)
    }

    /// The records in order of time.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = &'a Entry> {
        self.entries.iter().filter_map(|i| self.store.entries.get(*i))
    }

    /// A report of the command line.
    pub fn report(&self, kind: ReportKind) -> Report<'_> {
        let names = BackendNames::Suite;
        Report { kind, times: &self.times, backends: &self.backends, baseline: self.baseline, names }
    }

    /// The baseline in words: `Oldest Inductor`.
    pub fn base_text(&self) -> String {
        format!("{} {}", self.baseline.title(), self.backends.first().map_or("", |b| b.title()))
    }

    /// The test in words.
    pub const fn test_text(&self) -> &'static str {
        test_name(self.test)
    }

    /// The metric in words.
    pub const fn metric_text(&self) -> &'static str {
        match self.metric {
            Metric::Execution => "execution",
            Metric::Compilation => "compilation",
        }
    }

    /// The request, with the values used for choices that were left open.
    pub fn spec(&self) -> ExperimentSpec {
        let ids: Vec<&str> = self.backends.iter().map(|b| b.name()).collect();
        let against = match self.against {
            Against::Previous => "previous".to_owned(),
            Against::Oldest => "oldest".to_owned(),
            Against::Run(t) => t.to_string(),
        };
        self.request
            .clone()
            .with(ExperimentField::View, self.view.key())
            .with(ExperimentField::Accelerator, self.accelerator.as_deref().unwrap_or("any"))
            .with(ExperimentField::Test, test_name(self.test))
            .with(ExperimentField::Metric, if self.metric == Metric::Execution { "exec" } else { "compile" })
            .with(ExperimentField::Baseline, if self.baseline == Baseline::Oldest { "oldest" } else { "latest" })
            .with(ExperimentField::Backends, &ids.join(","))
            .with(ExperimentField::Against, &against)
    }

    /// The other possible choices.
    pub fn choices(&self) -> RecordsChoices {
        let mut accelerators: BTreeMap<&str, u64> = BTreeMap::new();
        for entry in &self.store.entries {
            *accelerators.entry(accelerator_of(entry)).or_default() += 1;
        }
        let several = accelerators.len() > 1;
        let mut accelerators: Choices =
            accelerators.into_iter().map(|(name, n)| (name.to_owned(), format!("{name} ({n} records)"))).collect();
        if several {
            accelerators.push(("any".to_owned(), "all together".to_owned()));
        }
        let tests = [Test::Eval, Test::Train].map(|t| (test_name(t).to_owned(), test_name(t).to_owned())).to_vec();
        let backends = Backend::ALL.map(|b| (b.name().to_owned(), b.title().to_owned())).to_vec();
        let mut against: Choices = vec![
            ("previous".to_owned(), "the run before it".to_owned()),
            ("oldest".to_owned(), "the oldest run".to_owned()),
        ];
        let earlier = self.runs.iter().rev().skip(1).take(MOST_RUNS_LISTED);
        against.extend(earlier.map(|t| (t.to_string(), format!("the run of {}", moment(*t)))));
        RecordsChoices { views: self.views(), accelerators, tests, backends, against }
    }

    fn views(&self) -> Choices {
        let has_records = !self.store.entries.is_empty();
        let is_there = |view: &&ExperimentView| match view {
            ExperimentView::Reports => !self.store.reports.is_empty(),
            ExperimentView::OverTime | ExperimentView::Latest | ExperimentView::Histogram => {
                has_records || self.store.reports.len() > 1
            }
            ExperimentView::Lines => true,
            _ => has_records,
        };
        ExperimentView::ALL.iter().filter(is_there).map(|v| (v.key().to_owned(), v.title().to_owned())).collect()
    }
}

fn default_view(store: &RecordStore) -> ExperimentView {
    match (store.entries.is_empty(), store.reports.is_empty()) {
        (false, _) => ExperimentView::Overview,
        (true, false) => ExperimentView::Reports,
        (true, true) => ExperimentView::Lines,
    }
}

fn test_of(name: &str) -> Option<Test> {
    [Test::Eval, Test::Train].into_iter().find(|t| test_name(*t) == name || t.name() == name)
}

fn metric_of(name: &str) -> Option<Metric> {
    match name {
        "exec" => Some(Metric::Execution),
        "compile" => Some(Metric::Compilation),
        _ => None,
    }
}

fn baseline_of(name: &str) -> Option<Baseline> {
    match name {
        "oldest" => Some(Baseline::Oldest),
        "latest" => Some(Baseline::Latest),
        _ => None,
    }
}

fn against_of(name: &str) -> Option<Against> {
    match name {
        "previous" => Some(Against::Previous),
        "oldest" => Some(Against::Oldest),
        time => time.parse().ok().filter(|t: &f64| t.is_finite()).map(Against::Run),
    }
}

/// The value of a name; for an empty name the default, for an unknown one the default and a message.
fn of_name<T>(name: &str, find: impl Fn(&str) -> Option<T>, what: &str, default: T) -> (T, Option<String>) {
    match find(name) {
        Some(value) => (value, None),
        None if name.is_empty() => (default, None),
        None => (default, Some(format!("{what}: '{name}' is not known; the default is used"))),
    }
}

fn backends_of(names: &str, present: impl Fn(&Backend) -> bool) -> (Vec<Backend>, Option<String>) {
    let mut unknown = Vec::new();
    let mut backends: Vec<Backend> = Vec::new();
    for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        match Backend::from_name(name) {
            Some(backend) if !backends.contains(&backend) => backends.push(backend),
            Some(_) => {}
            None => unknown.push(name),
        }
    }
    if backends.is_empty() {
        // The suite compares with Inductor, where it has records.
        let others = Backend::ALL.into_iter().filter(|b| *b != Backend::Inductor);
        backends = [Backend::Inductor].into_iter().chain(others).filter(present).collect();
    }
    let wrong =
        (!unknown.is_empty()).then(|| format!("backends: {} are not known; the others are used", unknown.join(", ")));
    (backends, wrong)
}

fn filter_of(request: &ExperimentSpec) -> (ModelFilter, Vec<String>) {
    let words = |f| request.get(f).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut problems = Vec::new();
    let mut tiers = Vec::new();
    for text in request.get(ExperimentField::Tier).split(',').map(str::trim).filter(|t| !t.is_empty()) {
        match text.parse::<i64>() {
            Ok(tier @ 1..=3) => tiers.push(tier),
            _ => problems.push(format!("tier: '{text}' is not 1, 2 or 3; it is left out")),
        }
    }
    let filter = ModelFilter::new(&words(ExperimentField::Filter), &words(ExperimentField::Exclude), &tiers, &[]);
    match filter {
        Ok(filter) => (filter, problems),
        Err(wrong) => {
            problems.push(format!("filter: {wrong}; all models are shown"));
            (ModelFilter::default(), problems)
        }
    }
}

/// The most frequent name; of several, the first in alphabetical order.
fn most<'n>(names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let largest = counts.values().copied().max()?;
    counts.into_iter().find(|(_, n)| *n == largest).map(|(name, _)| name)
}
