//! Share links: all view state as a readable query behind the hash route, with a version.
//!
//! `#/benchmark?v=1&model=nn&instance=trn1.2xlarge&n_models=1,2&duration=60&seed=0`
//!
//! Unknown fields are ignored: an older page opens a newer link as well as it can. A field that looks like a misspelt one, and a
//! value that cannot be used, are named in a [`Notice`], with what is used instead. Nothing in a link is ever run or fetched.

mod entries;
mod experiment_fields;
mod fields;
mod inspect_fields;
mod model_file;
mod packed_files;
mod page;
mod profile_link;
mod query;
mod results_fields;
mod study_file;

pub use entries::{is_another_view, is_same_tool};
pub use experiment_fields::ExperimentLink;
pub use model_file::{LinkedFile, with_model_file};
pub use model_file::{UnpackedModel, open_for_links, unpack_model};
pub use packed_files::{MOST_PACKED_BYTES, pack, unpack};
pub use page::Page;
pub use profile_link::{CompareLink, FlameLink, FlameView, ProfileLink, Tool};
pub use query::{Query, decode, encode};
pub use results_fields::ResultsView;
pub use study_file::{file_label, is_study_file, study_file_name, study_of_file};

use crate::studies::{StudyKind, StudySpec};
use crate::{InspectField, InspectSpec};
use fields::Fields as _;
use ns_bench::BenchConfig;

/// Version of the links that are written.
pub const LINK_VERSION: u32 = 1;

/// The field with the version.
const VERSION: &str = "v";

/// Longest link that is read; links that this program writes are far shorter.
const MOST_BYTES: usize = 96 * 1024;

/// Something in a link that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub field: String,
    /// What was wrong and what is used instead.
    pub message: String,
}

/// The target of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Link {
    #[default]
    Home,
    /// The benchmark page with a configuration.
    Benchmark(Box<BenchLink>),
    Profile(Box<ProfileLink>),
    /// The page of experiments.
    Experiments(Box<ExperimentLink>),
    /// A model as a picture.
    Inspect(Box<InspectSpec>),
    /// The page of a study.
    Study(Box<StudySpec>),
    Guide,
}

/// State of the benchmark page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchLink {
    pub config: BenchConfig,
    pub view: ResultsView,
}

/// State of a page that is written as the page's query.
pub trait PageLink {
    fn page(&self) -> Page;

    /// Writes its fields.
    fn write(&self, query: &mut Query);

    /// The hash of its link, with its `#`.
    fn hash(&self) -> String {
        let mut query = Query::default();
        query.set(VERSION, &LINK_VERSION.to_string());
        self.write(&mut query);
        format!("#/{}?{}", self.page().path(), query.print())
    }
}

impl PageLink for BenchConfig {
    fn page(&self) -> Page {
        Page::Benchmark
    }

    fn write(&self, query: &mut Query) {
        fields::write(self, query);
    }
}

impl PageLink for BenchLink {
    fn page(&self) -> Page {
        Page::Benchmark
    }

    fn write(&self, query: &mut Query) {
        self.config.write(query);
        results_fields::write(&self.view, query);
    }
}

impl PageLink for ProfileLink {
    fn page(&self) -> Page {
        Page::Profile
    }

    fn write(&self, query: &mut Query) {
        profile_link::write(self, query);
    }
}

impl PageLink for ExperimentLink {
    fn page(&self) -> Page {
        Page::Experiments
    }

    fn write(&self, query: &mut Query) {
        experiment_fields::write(self, query);
    }
}

impl PageLink for InspectSpec {
    fn page(&self) -> Page {
        Page::Inspect
    }

    fn write(&self, query: &mut Query) {
        inspect_fields::write(self, query);
    }
}

impl PageLink for StudySpec {
    fn page(&self) -> Page {
        Page::of_study(self.kind())
    }

    fn write(&self, query: &mut Query) {
        fields::write(self, query);
    }
}

/// The parsed hash of an address. Each reader reports what could not be used.
///
/// The page consists of two programs that each read some of the pages: there is one function per page, so that neither program contains the other's.
#[derive(Clone, Debug)]
pub struct Address {
    page: String,
    query: Query,
    /// The notices so far.
    pub notices: Vec<Notice>,
}

impl Address {
    /// Parses a hash, with or without its `#`. A hash that is too long has no page and no fields.
    pub fn read(hash: &str) -> Self {
        let hash = hash.strip_prefix('#').unwrap_or(hash);
        if hash.len() > MOST_BYTES {
            let message = format!(
                "The link has {} characters, but at most {MOST_BYTES} are read; defaults are used.",
                hash.len()
            );
            let notices = vec![Notice { field: "link".to_owned(), message }];
            return Self { page: String::new(), query: Query::default(), notices };
        }
        let (path, query) = hash.split_once('?').unwrap_or((hash, ""));
        let query = Query::parse(query);
        let mut notices = Vec::new();
        check_version(&query, &mut notices);
        Self { page: path.trim_matches('/').to_owned(), query, notices }
    }

    /// The page; the start page if the address names none, or an unknown one, which is reported. Older links to the benchmark
    /// page may have only fields.
    pub fn page(&mut self) -> Page {
        if self.page.is_empty() {
            return if self.query.is_empty() { Page::Home } else { Page::Benchmark };
        }
        let path = if self.page == "kernels" { Page::Nki.path() } else { &self.page };
        Page::of_path(path).unwrap_or_else(|| {
            let message = format!("There is no page '{}'; the start page is shown.", self.page);
            self.notices.push(Notice { field: "page".to_owned(), message });
            self.query = Query::default();
            self.page.clear();
            Page::Home
        })
    }

    /// Whether no page is named, or an unknown one.
    pub fn has_no_page(&self) -> bool {
        self.page.is_empty()
    }

    /// Whether it holds only the page.
    pub fn is_bare(&self) -> bool {
        self.query.is_empty()
    }

    /// Whether it has a field besides its version.
    pub fn names_something(&self) -> bool {
        self.query.names().any(|name| name != VERSION)
    }

    /// Whether the page that was read runs what the address names, without a press of Run. A link with a part that could not be used
    /// waits, because the run may not be what its sender meant. Read the page's fields first: reading finds what is wrong.
    pub fn runs_by_itself(&self) -> bool {
        self.names_something() && self.notices.is_empty()
    }

    /// The configuration of the benchmark page.
    pub fn benchmark(&mut self) -> BenchConfig {
        let config = fields::read(BenchConfig::default(), &self.query, &mut self.notices);
        self.name_slips(config.keys().chain(results_fields::names()));
        config
    }

    /// The view of the results on the benchmark page.
    pub fn results(&self) -> ResultsView {
        results_fields::read(&self.query)
    }

    /// The view of the profile page.
    pub fn profile(&mut self) -> ProfileLink {
        let link = profile_link::read(&self.query, &mut self.notices);
        self.name_slips(profile_link::names());
        link
    }

    /// The view of a model.
    pub fn inspect(&mut self) -> InspectSpec {
        let spec = inspect_fields::read(&self.query);
        self.name_slips(InspectField::ALL.into_iter().map(InspectField::key));
        spec
    }

    /// The view of the page of experiments.
    pub fn experiments(&mut self) -> ExperimentLink {
        let link = experiment_fields::read(&self.query, &mut self.notices);
        self.name_slips(experiment_fields::names());
        link
    }

    /// The model file in the link, as letters; the link then opens without a file.
    pub fn model_file(&self) -> Option<&str> {
        self.query.get(model_file::MODEL_FILE).filter(|letters| !letters.is_empty())
    }

    pub fn study(&mut self, kind: StudyKind) -> StudySpec {
        let spec = fields::read(StudySpec::new(kind), &self.query, &mut self.notices);
        self.name_slips(spec.keys());
        spec
    }

    /// Reports fields that look like misspelt ones of a page.
    fn name_slips(&mut self, fields: impl Iterator<Item = &'static str>) {
        let known = fields.chain([VERSION, model_file::MODEL_FILE]).collect();
        for (field, meant) in self.query.misspelt(&known) {
            let message = format!("This page has no field '{field}', which is ignored; did you mean '{meant}'?");
            self.notices.push(Notice { field, message });
        }
    }
}

impl Link {
    /// Reads the hash of an address, with or without its `#`. An empty hash is the start page.
    pub fn parse(hash: &str) -> (Self, Vec<Notice>) {
        let mut address = Address::read(hash);
        let link = match address.page() {
            Page::Benchmark => {
                Self::Benchmark(Box::new(BenchLink { config: address.benchmark(), view: address.results() }))
            }
            Page::Profile => Self::Profile(Box::new(address.profile())),
            Page::Inspect => Self::Inspect(Box::new(address.inspect())),
            Page::Experiments => Self::Experiments(Box::new(address.experiments())),
            Page::Guide => Self::Guide,
            page => page.study().map_or(Self::Home, |kind| Self::Study(Box::new(address.study(kind)))),
        };
        (link, address.notices)
    }

    /// The hash of this link, with its `#`.
    pub fn print(&self) -> String {
        match self {
            Self::Home => Page::Home.hash(),
            Self::Benchmark(link) => link.hash(),
            Self::Profile(link) => link.hash(),
            Self::Inspect(spec) => spec.hash(),
            Self::Experiments(link) => link.hash(),
            Self::Study(spec) => spec.hash(),
            Self::Guide => Page::Guide.hash(),
        }
    }
}

fn check_version(query: &Query, notices: &mut Vec<Notice>) {
    let Some(text) = query.get(VERSION) else { return };
    let message = match text.parse::<u32>() {
        Ok(v) if (1..=LINK_VERSION).contains(&v) => return,
        Ok(v) if v > LINK_VERSION => format!(
            "The link is of version {v}, this page knows versions up to {LINK_VERSION}; the fields that it knows are used. Reload the page for a newer one."
        ),
        _ => format!("'{text}' is not a version of a link; it is read as version {LINK_VERSION}."),
    };
    notices.push(Notice { field: VERSION.to_owned(), message });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Goal, WantedTexts, offered_columns};
    use ns_base::{Interval, TraceNs};
    use ns_view::table::Sort;
    use ns_view::timeline::{Area, TrackId};
    use proptest::prelude::*;

    #[test]
    fn a_link_gives_its_configuration() {
        let (link, notices) =
            Link::parse("#/benchmark?v=1&model=nn&instance=trn1.2xlarge&n_models=1,2&duration=5&seed=7&later=x");
        let Link::Benchmark(link) = link else { panic!("is a benchmark") };
        let config = link.config;
        assert_eq!(notices, []);
        assert_eq!((config.n_models.as_deref(), config.duration_s, config.seed), (Some(&[1, 2][..]), 5.0, 7));
    }

    #[test]
    fn wrong_values_are_reported_with_their_replacement() {
        let (link, notices) = Link::parse("#/benchmark?v=9&n_models=0&duration=abc&seed=-1&model=matmult:n=64");
        let Link::Benchmark(link) = link else { panic!("is a benchmark") };
        let config = link.config;
        let fields: Vec<_> = notices.iter().map(|n| n.field.as_str()).collect();
        assert_eq!(fields, ["v", "n_models", "duration", "seed"]);
        assert!(notices.iter().skip(1).all(|n| n.message.contains("is used")), "{notices:?}");
        assert_eq!(config.model, "matmult:n=64");
        assert_eq!(config.duration_s, BenchConfig::default().duration_s);
    }

    #[test]
    fn a_misspelt_field_is_reported() {
        let slips = |hash: &str| Link::parse(hash).1.into_iter().map(|n| n.message).collect::<Vec<_>>();
        assert_eq!(
            slips("#/benchmark?model=nn&instance_type=inf2.xlarge&filtr=x"),
            [
                "This page has no field 'filtr', which is ignored; did you mean 'filter'?",
                "This page has no field 'instance_type', which is ignored; did you mean 'instance'?"
            ]
        );
        assert_eq!(slips("#/profile?model=nn&tools=overview").len(), 1);
        assert_eq!(slips("#/inspect?model=nn&utm_source=x&later=y"), Vec::<String>::new());
    }

    #[test]
    fn a_link_runs_by_itself_when_all_of_it_can_be_used() {
        let runs = |hash: &str| {
            let mut address = Address::read(hash);
            assert_eq!(address.page(), Page::Benchmark);
            address.benchmark();
            address.runs_by_itself()
        };
        assert!(runs("#/benchmark?v=1&model=nn&duration=5"));
        assert!(runs("#/benchmark?model=nn"));
        for waits in ["#/benchmark", "#/benchmark?v=1", "#/benchmark?v=2&model=nn", "#/benchmark?v=1&model=nn&seed=-1"]
        {
            assert!(!runs(waits), "{waits}");
        }
    }

    #[test]
    fn unknown_pages_and_endless_links_are_no_dead_ends() {
        let (link, notices) = Link::parse("#/nowhere?v=1");
        assert_eq!((link, notices.len()), (Link::default(), 1));
        let (link, notices) = Link::parse(&"x".repeat(200_000));
        assert_eq!((link, notices[0].field.as_str()), (Link::default(), "link"));
        for start in ["", "#", "#/"] {
            assert_eq!(Link::parse(start), (Link::Home, vec![]));
        }
        let (link, notices) = Link::parse("#?v=1&seed=7");
        assert!(matches!(link, Link::Benchmark(link) if link.config.seed == 7) && notices.is_empty());
    }

    fn configs() -> impl Strategy<Value = BenchConfig> {
        let list = || {
            prop::collection::vec(1_u32..5_000, 1..5).prop_map(|mut l| {
                l.dedup();
                l
            })
        };
        (
            "[ -~]{1,20}",
            prop::option::of("\\PC{1,12}"),
            prop::option::of(list()),
            prop::option::of(list()),
            (1e-6_f64..86_400.0, any::<u64>(), prop::option::of(0.0_f64..1e6)),
            (0_u8..4, 0_u32..10_000, 0.0..0.5_f64),
        )
            .prop_map(|(model, model_name, n_models, workers, (duration_s, seed, cost), (level, warm, jitter))| {
                let mut config =
                    BenchConfig { model, model_name, n_models, workers_per_model: workers, ..BenchConfig::default() };
                (config.duration_s, config.seed, config.cost_per_hour) = (duration_s, seed, cost);
                (config.performance_levels, config.warmup_inferences, config.jitter) = (vec![level], warm, jitter);
                config
            })
            .prop_filter("is valid", |c| {
                c.problems().is_empty()
                    && c.model.trim() == c.model
                    && c.model_name.as_ref().is_none_or(|n| n.trim() == n)
                    && [&c.n_models, &c.workers_per_model].iter().all(|l| {
                        l.as_ref().is_none_or(|l| {
                            let mut s = l.clone();
                            s.sort_unstable();
                            s.windows(2).all(|w| w[0] != w[1]) && l.iter().all(|n| *n <= ns_bench::MAX_PARALLEL)
                        })
                    })
            })
    }

    fn views() -> impl Strategy<Value = ResultsView> {
        let sorts = ("[a-z][a-z0-9_]{0,9}", any::<bool>()).prop_map(|(column, descending)| Sort { column, descending });
        let goals = prop::sample::select(Goal::ALL.to_vec());
        let limits = ("[ -~]{0,6}", "[0-9.]{0,6}", "\\PC{0,6}", goals);
        let all = offered_columns();
        let columns = prop::option::of(prop::sample::subsequence(all.clone(), 1..=all.len()));
        ("\\PC{0,20}", prop::option::of(sorts), limits, columns).prop_map(|(filter, sort, limits, columns)| {
            let (p99_ms, cost, cores, goal) = limits;
            ResultsView { filter, sort, wanted: WantedTexts { p99_ms, cost, cores, goal }, columns }
        })
    }

    fn areas() -> impl Strategy<Value = Area> {
        let tracks = prop::collection::vec((0_u32..500, 1_u32..9), 0..20);
        (any::<i64>(), any::<i64>(), tracks).prop_map(|(a, b, runs)| Area {
            span: Interval::new(TraceNs(a.min(b)), TraceNs(a.max(b))),
            tracks: runs.into_iter().flat_map(|(first, n)| first..first + n).map(TrackId).collect(),
        })
    }

    proptest! {
        #[test]
        fn areas_read_back(area in areas()) {
            let link = Link::Profile(Box::new(ProfileLink { area: Some(area), ..ProfileLink::default() }));
            prop_assert_eq!(Link::parse(&link.print()), (link, vec![]));
        }

        #[test]
        fn printed_links_read_back(config in configs(), view in views()) {
            let link = Link::Benchmark(Box::new(BenchLink { config, view }));
            prop_assert_eq!(Link::parse(&link.print()), (link, vec![]));
        }

        #[test]
        fn no_text_is_too_wild(hash in "\\PC{0,60}") {
            let (link, _) = Link::parse(&hash);
            let (again, notices) = Link::parse(&link.print());
            prop_assert_eq!(again, link);
            prop_assert_eq!(notices, vec![]);
        }

        #[test]
        fn no_query_is_too_wild(key in "v|model|toggled|selected|search|pass|n_models|seed|tool|from|to|sel|area|sort|best|p99_at_most|columns|hide|core|view|backends|open|data|files|kernel|source|filter|find", value in "\\PC{0,20}") {
            for page in ["benchmark", "profile", "numerics", "experiments", "inspect", "matmult", "customop", "guide"] {
                let (link, _) = Link::parse(&format!("#/{page}?{key}={}", encode(&value)));
                prop_assert_eq!(Link::parse(&link.print()), (link, vec![]));
            }
        }
    }
}
