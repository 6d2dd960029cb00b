//! A profile that a session holds, and the answers about it.

use std::cell::OnceCell;

use super::ExportKind;
use ns_analysis::operators::{OpQuery, operator_stats};
use ns_analysis::work::Works;
use ns_analysis::{GroupBy, Instances, Selection};
use ns_base::convert::{i64_to_f64, u64_to_f64};
use ns_base::units::{format_count, format_ns};
use ns_base::{Interval, Refusal, SimTime, TraceNs};
use ns_device::{EstimateMark, marked_time, note_of_times};
use ns_documents::analysis::Sources;
use ns_documents::overview::{TimeBeside, window as window_of};
use ns_documents::pages::ProfileParts;
use ns_documents::timeline::{
    Highlight, SearchHits, ViewTracks, group_hits, level_of, link, locate, neighbour, search, slice_details, tile,
};
use ns_documents::{
    ExportedFile, OperatorKind, OperatorRow, OperatorTable, ProfileInfo, ProfileKey, colours_of, marks_of, open_json,
    part_of, profile_json, summary_json, with_marks,
};
use ns_fidelity::PublishedTime;
use ns_formats::chrome::write_to_string;
use ns_formats::is_of_stacks;
use ns_forms::ProfileOrigin;
use ns_insight::{Insights, SliceRange};
use ns_machine::cost::Limit;
use ns_neuron::step::{StepCosts, Waits};
use ns_profile::Profile;
use ns_profile::flows::FlowIndex;
use ns_profile::lod::LodIndex;
use ns_profile::neuron::{OperatorView, operator_table};
use ns_view::colours::Colours;
use ns_view::timeline::{
    Annotation, GroupKind, Neighbour, SliceDetails, SliceLink, SliceRef, TimelineQuery, TimelineTile,
};

/// The limit without which an execution is simulated, how many were before it, and of how many.
pub(super) type LimitProgress = (Limit, u64, u64);

/// Computes a part of what each limit costs an execution, of about so many events, and gives it to the analysis once all is known, when it
/// returns `None`. It is a function, so that a program which only opens profiles has no simulator in it.
pub(super) type StepLimits = Box<dyn FnMut(&mut Insights, u32) -> Result<Option<LimitProgress>, Refusal>>;

/// A profile with its key and its origin.
pub(super) struct OpenProfile {
    pub key: ProfileKey,
    pub name: String,
    pub origin: ProfileOrigin,
    pub profile: Profile,
    /// From the first to the last slice of the model; known for simulated executions.
    pub device_window_ns: Option<u64>,
    /// The step around the execution; known for simulated executions.
    pub step: Option<StepCosts>,
    /// Its analysis; known for simulated executions.
    insights: Option<Box<Insights>>,
    /// Computes what each limit costs, once that is asked for.
    limits: Option<StepLimits>,
    /// What AWS published for it; known for simulated executions.
    published: Vec<TimeBeside>,
    /// The mark of its times, if the cost of an operator is a guess.
    mark: Option<EstimateMark>,
    /// More facts for the summary line, name and value.
    facts: Vec<(String, String)>,
    tracks: ViewTracks,
    lod: LodIndex,
    /// The group that was last highlighted.
    highlight: Option<Highlight>,
    /// Computed when they are first asked for.
    flows: OnceCell<FlowIndex>,
    works: OnceCell<Works>,
    colours: OnceCell<Colours>,
}

impl OpenProfile {
    pub fn new(
        key: ProfileKey,
        name: String,
        origin: ProfileOrigin,
        profile: Profile,
        device_window_ns: Option<u64>,
    ) -> Self {
        let tracks = ViewTracks::of(&profile);
        Self {
            key,
            name,
            origin,
            profile,
            device_window_ns,
            step: None,
            insights: None,
            limits: None,
            published: Vec::new(),
            mark: None,
            facts: Vec::new(),
            tracks,
            lod: LodIndex::new(),
            highlight: None,
            flows: OnceCell::new(),
            works: OnceCell::new(),
            colours: OnceCell::new(),
        }
    }

    /// The same profile with the step around its execution.
    pub fn with_step(self, step: StepCosts) -> Self {
        Self { step: Some(step), ..self }
    }

    /// The same profile with more facts.
    pub fn with_facts(self, facts: Vec<(String, String)>) -> Self {
        Self { facts, ..self }
    }

    /// The same profile with its analysis, and what computes the costs of limits.
    pub fn with_insights(self, insights: Insights, limits: StepLimits) -> Self {
        Self { insights: Some(Box::new(insights)), limits: Some(limits), ..self }
    }

    /// Computes a part of what each limit costs: how far that is, or `None` when all is known. Fails when the execution cannot be simulated
    /// without a limit.
    pub fn step_limits(&mut self, budget_events: u32) -> Result<Option<LimitProgress>, String> {
        let (Some(insights), Some(limits)) = (&mut self.insights, &mut self.limits) else { return Ok(None) };
        let progress = limits(insights, budget_events)?;
        if progress.is_none() {
            self.limits = None;
        }
        Ok(progress)
    }

    /// The analysis with what each limit costs. Fails as [`Self::step_limits`].
    pub fn insights(&mut self) -> Result<Option<&Insights>, String> {
        while self.step_limits(u32::MAX)?.is_some() {}
        Ok(self.insights.as_deref())
    }

    /// The same profile with what AWS published for it, for each time that it has itself.
    pub fn with_published(self, published: Vec<PublishedTime>) -> Self {
        if published.is_empty() {
            return self;
        }
        let operators = self.operators(OperatorKind::Framework, None, None, Instances::Each).rows;
        let here = |operator: Option<&str>| match operator {
            Some(name) => operators.iter().find(|row| row.name == name).map(|row| row.time_ns),
            None => self.device_window_ns,
        };
        let beside = published.into_iter().filter_map(|PublishedTime { operator, time, release }| {
            let here_ns = u64_to_f64(here(operator.as_deref())?);
            Some(TimeBeside { operator, published_ns: time.to_ms_f64() * 1e6, here_ns, release })
        });
        let published = beside.collect();
        Self { published, ..self }
    }

    /// The same profile with a mark of its times.
    pub fn with_mark(self, mark: Option<EstimateMark>) -> Self {
        Self { mark, ..self }
    }

    /// The information sent to a shell when the profile is ready.
    pub fn info(&self) -> ProfileInfo {
        let (meta, levels) = (self.profile.meta(), self.profile.levels());
        let mut facts = self.facts.clone();
        if let Some(window) = self.device_window_ns {
            facts.push(("Device window".to_owned(), marked_time(self.mark, &format_ns(u64_to_f64(window)))));
            facts.extend(window_of(&self.published).map(|time| ("Published".to_owned(), time.text())));
        }
        if let Some(step) = &self.step {
            let ns = |time: SimTime| format_ns(time.to_secs_f64() * 1e9);
            facts.push(("Compile time (modelled)".to_owned(), ns(step.first.compile)));
            facts.push(("Load time (modelled)".to_owned(), ns(step.first.load)));
            // What `bench` says of one call by itself.
            let parts = format!("host {}, link {}, device {}", ns(step.host()), ns(step.link), ns(step.device()));
            let whole = ns(step.time(Waits::ForEachResult));
            facts.push(("Step with the host".to_owned(), format!("{whole}: {parts}")));
        }
        facts.push(("Span".to_owned(), meta.unit.text(self.profile.span_ns())));
        facts.push(("Events".to_owned(), format_count(meta.events)));
        facts.push(("Slices".to_owned(), format_count(self.profile.own_slice_count())));
        ProfileInfo {
            profile: self.key,
            name: self.name.clone(),
            origin: self.origin.clone(),
            events: meta.events,
            outline: self.tracks.outline().clone(),
            operators: self.operator_kinds(),
            levels: levels.used().map(|(_, level)| level.clone()).collect(),
            default_level: levels.name(levels.default_level()).to_owned(),
            is_stacks: is_of_stacks(&meta.format),
            colours: self.colours.get_or_init(|| colours_of(&self.profile)).clone(),
            facts,
            note_of_times: note_of_times(self.mark),
            diagnostics: self.profile.diagnostics().items().to_vec(),
            marks: marks_of(&self.profile),
            also: Vec::new(),
        }
    }

    /// The shapes to draw.
    pub fn tile(&mut self, query: &TimelineQuery) -> TimelineTile {
        let known = self.highlight.take().filter(|h| Some(&h.group) == query.group.as_ref());
        let prepare = || query.group.as_ref().map(|group| Highlight::new(&self.profile, group));
        self.highlight = known.or_else(prepare);
        tile(&self.profile, &mut self.lod, &self.tracks, self.highlight.as_ref(), query)
    }

    /// Everything about a slice.
    pub fn details(&self, slice: SliceRef) -> Option<Box<SliceDetails>> {
        slice_details(&self.profile, &self.tracks, self.flows(), slice).map(Box::new)
    }

    fn flows(&self) -> &FlowIndex {
        self.flows.get_or_init(|| FlowIndex::new(&self.profile))
    }

    /// Flow arrows that touch a span, and their total number.
    pub fn flows_in(&self, span: Interval<TraceNs>, limit: u32) -> (Vec<(SliceLink, SliceLink)>, u64) {
        let flows = self.flows();
        let link = |id| link(&self.profile, &self.tracks, id);
        let arrows = flows.within(&self.profile, span, limit as usize);
        (arrows.into_iter().map(|a| (link(a.from), link(a.to))).collect(), flows.len() as u64)
    }

    /// Calls `ask` with the data that answers are made from.
    pub fn ask<T>(&self, ask: impl FnOnce(&Sources<'_>) -> T) -> T {
        let works = || self.works.get_or_init(|| Works::of(&self.profile));
        let (profile, name, tracks) = (&self.profile, &self.name, &self.tracks);
        let insights = self.insights.as_deref();
        let (flows, parts) = (|| self.flows(), || self.parts());
        let (published, mark) = (&self.published, self.mark);
        ask(&Sources { profile, name, tracks, insights, published, mark, flows: &flows, works: &works, parts: &parts })
    }

    /// The other tables that the file holds, in addition to its overview: the plugin's tables for a run on NeuronCores, else slices by name.
    fn parts(&self) -> ProfileParts {
        let mut kinds = self.operator_kinds();
        if kinds.len() > 1 {
            kinds.retain(|kind| *kind != OperatorKind::Slices);
        }
        let operators = kinds.into_iter().map(|kind| self.operators(kind, None, None, Instances::Merged)).collect();
        let unit = self.profile.meta().unit.clone();
        let remarks = self.profile.diagnostics().items().iter().map(ToString::to_string).collect();
        ProfileParts { origin: self.origin.clone(), facts: self.info().facts, remarks, operators, unit }
    }

    /// Everything about the slice next to another one.
    pub fn neighbour(&self, from: SliceRef, to: Neighbour) -> Option<Box<SliceDetails>> {
        self.details(neighbour(&self.profile, from, to)?)
    }

    /// Everything about a slice that a finding names.
    pub fn locate(&self, range: &SliceRange) -> Option<Box<SliceDetails>> {
        self.details(locate(&self.profile, range)?)
    }

    /// Finds slices by a part of their name, or the slices of a group.
    pub fn search(&self, text: &str, by: Option<&GroupKind>, limit: u32) -> SearchHits {
        match by {
            Some(by) => group_hits(&self.profile, &self.tracks, by, text, limit),
            None => search(&self.profile, &self.tracks, text, limit),
        }
    }

    fn operator_kinds(&self) -> Vec<OperatorKind> {
        let neuron = |view| !operator_table(&self.profile, view).is_empty();
        let mut kinds = Vec::new();
        if neuron(OperatorView::Framework) {
            kinds.push(OperatorKind::Framework);
        }
        if neuron(OperatorView::Hlo) {
            kinds.push(OperatorKind::Hlo);
        }
        kinds.push(OperatorKind::Slices);
        kinds
    }

    /// Time by operator. `range` and `level` (the default level if absent or unknown) restrict the table of slices; the Neuron
    /// tables cover the whole execution.
    pub fn operators(
        &self,
        kind: OperatorKind,
        range: Option<Interval<TraceNs>>,
        level: Option<&str>,
        instances: Instances,
    ) -> OperatorTable {
        let rows = match kind {
            OperatorKind::Framework => self.neuron_rows(OperatorView::Framework),
            OperatorKind::Hlo => self.neuron_rows(OperatorView::Hlo),
            OperatorKind::Slices => self.slice_rows(range, level, instances.group_by()),
        };
        OperatorTable { kind, level: level.map(str::to_owned), instances, rows }
    }

    fn neuron_rows(&self, view: OperatorView) -> Vec<OperatorRow> {
        operator_table(&self.profile, view)
            .into_iter()
            .map(|r| OperatorRow {
                name: r.name,
                occurrences: r.occurrences,
                device: Some(r.device),
                core: Some(r.core),
                time_ns: u64::try_from(r.time_ns).unwrap_or(0),
                self_ns: None,
                time_percent: r.time_percent,
                members: r.members,
            })
            .collect()
    }

    fn slice_rows(&self, range: Option<Interval<TraceNs>>, level: Option<&str>, group_by: GroupBy) -> Vec<OperatorRow> {
        let level = level_of(&self.profile, level);
        let selection = Selection { level, ..Selection::within(range) };
        let query = OpQuery { group_by, selection, percentiles: false };
        let table = operator_stats(&self.profile, &query);
        let total: i64 = table.stats.iter().map(|s| s.self_ns).sum();
        table
            .stats
            .iter()
            .map(|s| OperatorRow {
                name: table.name(&self.profile, s).to_owned(),
                occurrences: s.count,
                device: None,
                core: None,
                time_ns: u64::try_from(s.total_ns).unwrap_or(0),
                self_ns: Some(u64::try_from(s.self_ns).unwrap_or(0)),
                time_percent: if total == 0 { 0.0 } else { i64_to_f64(s.self_ns) * 100.0 / i64_to_f64(total) },
                members: Vec::new(),
            })
            .collect()
    }

    /// Writes the profile as a file; a Chrome trace holds the marks. Fails when this profile cannot be written in that format; the
    /// message says why.
    pub fn export(&mut self, kind: ExportKind, marks: &[Annotation]) -> Result<ExportedFile, String> {
        let stem = self.file_stem();
        let file = |suffix: &str, mime: &str, bytes| ExportedFile::new(format!("{stem}{suffix}"), mime, bytes);
        match kind {
            ExportKind::ChromeJson => {
                let trace = with_marks(write_to_string(&self.profile), &self.profile, marks);
                Ok(file(".trace.json", "application/json", trace.into_bytes()))
            }
            ExportKind::Area(span, tracks) => {
                let of_area =
                    Selection { tracks: Some(self.tracks.threads_of(&tracks)), within: Some(span), level: None };
                let trace = write_to_string(&part_of(&self.profile, &of_area));
                Ok(file(".area.trace.json", "application/json", trace.into_bytes()))
            }
            ExportKind::Trace(format) => {
                let left_out = format.leaves_out(&self.profile).items().to_vec();
                Ok(ExportedFile { left_out, ..file(format.suffix(), format.mime(), format.write(&self.profile)) })
            }
            ExportKind::OperatorsCsv(kind, range, level, instances) => {
                let operators = self.operators(kind, range, level.as_deref(), instances);
                let table = operators.to_table(&self.profile.meta().unit);
                Ok(file(".operators.csv", "text/csv", table.to_csv().into_bytes()))
            }
            ExportKind::OpenJson => Ok(file(".summary.json", "application/json", open_json(&self.profile)?)),
            ExportKind::SummaryJson => {
                let mark = self.mark;
                let Some(insights) = self.insights()? else {
                    return Err(format!(
                        "{}: the profile has no instructions and DMAs; only a simulated execution has a summary",
                        self.name
                    ));
                };
                Ok(file(".summary.json", "application/json", summary_json(insights, mark)?))
            }
            ExportKind::ProfileJson => {
                let Some(window) = self.device_window_ns else {
                    return Err(format!("{}: only a simulated execution has a device window", self.name));
                };
                let (framework, hlo) = (
                    self.operators(OperatorKind::Framework, None, None, Instances::Each),
                    self.operators(OperatorKind::Hlo, None, None, Instances::Each),
                );
                let slices = self.profile.slices().len() as u64;
                Ok(file(
                    ".profile.json",
                    "application/json",
                    profile_json((window, self.mark), self.step.as_ref(), &framework, &hlo, slices)?,
                ))
            }
        }
    }

    fn file_stem(&self) -> String {
        let stem = self.name.trim_end_matches(".gz").trim_end_matches(".zip").trim_end_matches(".json");
        in_file_name(stem)
    }
}

/// A text with only what every system takes in the name of a file.
pub(super) fn in_file_name(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}
