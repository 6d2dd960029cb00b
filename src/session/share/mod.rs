//! Share links: all view state as a readable query behind the hash route, with a version.
//!
//! `#/benchmark?v=1&model=nn&instance=trn1.2xlarge&n_models=1,2&duration=60&seed=0`
//!
//! Unknown fields are ignored: an older page opens a newer link as well as it can. A value that can not be used is named
//! in a [`Notice`], with what is used in its place. Nothing in a link is ever run or fetched.

mod bench_fields;
mod experiment_fields;
mod numerics_fields;
mod profile_link;
mod query;
mod run_fields;
mod scenario_fields;
mod study_fields;

pub use bench_fields::{BENCH_FIELDS, BenchField};
pub use experiment_fields::ExperimentLink;
pub use numerics_fields::{NUMERICS_FIELDS, NumericsField};
pub use profile_link::{CompareLink, FlameLink, FlameView, ProfileLink, Tool};
pub use query::{Query, decode, encode};

use crate::bench::BenchConfig;
use crate::session::NumericsSpec;
use crate::session::studies::{StudyKind, StudySpec};

/// Version of the links that are written.
pub const LINK_VERSION: u32 = 1;

/// Longer links are not read; no link this product writes comes near.
const MOST_BYTES: usize = 16 * 1024;

/// Something in a link that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The field.
    pub field: String,
    /// What was wrong and what is used in its place.
    pub message: String,
}

/// What a link shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// The benchmark page with a configuration.
    Benchmark(Box<BenchConfig>),
    /// The profile page.
    Profile(Box<ProfileLink>),
    /// The page of values with a comparison.
    Numerics(Box<NumericsSpec>),
    /// The page of experiments.
    Experiments(Box<ExperimentLink>),
    /// The page of a study.
    Study(Box<StudySpec>),
}

impl Default for Link {
    fn default() -> Self {
        Self::Benchmark(Box::default())
    }
}

impl Link {
    /// Reads the hash of an address, with or without its `#`. An empty one is the benchmark page.
    #[must_use]
    pub fn parse(hash: &str) -> (Self, Vec<Notice>) {
        let mut notices = Vec::new();
        let hash = hash.strip_prefix('#').unwrap_or(hash);
        if hash.len() > MOST_BYTES {
            let message =
                format!("The link has {} characters, at most {MOST_BYTES} are read; defaults are used.", hash.len());
            return (Self::default(), vec![Notice { field: "link".to_owned(), message }]);
        }
        let (path, query) = hash.split_once('?').unwrap_or((hash, ""));
        let query = Query::parse(query);
        check_version(&query, &mut notices);
        let path = path.trim_matches('/');
        if let Some(kind) = StudyKind::of_path(path) {
            return (Self::Study(Box::new(study_fields::read(kind, &query, &mut notices))), notices);
        }
        let link = match path {
            "" | "benchmark" => Self::Benchmark(Box::new(bench_fields::read(&query, &mut notices))),
            "profile" => Self::Profile(Box::new(profile_link::read(&query, &mut notices))),
            "numerics" => Self::Numerics(Box::new(numerics_fields::read(&query, &mut notices))),
            "experiments" => Self::Experiments(Box::new(experiment_fields::read(&query))),
            other => {
                let message = format!("There is no page '{other}'; this is the benchmark page.");
                notices.push(Notice { field: "page".to_owned(), message });
                Self::default()
            }
        };
        (link, notices)
    }

    /// The hash of this link, with its `#`.
    #[must_use]
    pub fn print(&self) -> String {
        let mut query = Query::default();
        query.set("v", &LINK_VERSION.to_string());
        let page = match self {
            Self::Benchmark(config) => {
                bench_fields::write(config, &mut query);
                "benchmark"
            }
            Self::Profile(link) => {
                profile_link::write(link, &mut query);
                "profile"
            }
            Self::Numerics(spec) => {
                numerics_fields::write(spec, &mut query);
                "numerics"
            }
            Self::Experiments(link) => {
                experiment_fields::write(link, &mut query);
                "experiments"
            }
            Self::Study(spec) => {
                study_fields::write(spec, &mut query);
                spec.kind().form().path
            }
        };
        format!("#/{page}?{}", query.print())
    }
}

fn check_version(query: &Query, notices: &mut Vec<Notice>) {
    let Some(text) = query.get("v") else { return };
    let message = match text.parse::<u32>() {
        Ok(v) if (1..=LINK_VERSION).contains(&v) => return,
        Ok(v) if v > LINK_VERSION => format!(
            "The link is of version {v}, this page knows versions up to {LINK_VERSION}; what it knows is used. Reload the page for a newer one."
        ),
        _ => format!("'{text}' is no version of a link; it is read as version {LINK_VERSION}."),
    };
    notices.push(Notice { field: "v".to_owned(), message });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_link_reads_as_it_was_meant() {
        let (link, notices) =
            Link::parse("#/benchmark?v=1&model=nn&instance=trn1.2xlarge&n_models=1,2&duration=5&seed=7&later=x");
        let Link::Benchmark(config) = link else { panic!("is a benchmark") };
        assert_eq!(notices, []);
        assert_eq!((config.n_models.as_deref(), config.duration_s, config.seed), (Some(&[1, 2][..]), 5.0, 7));
    }

    #[test]
    fn wrong_values_are_named_with_what_is_used() {
        let (link, notices) = Link::parse("#/benchmark?v=9&n_models=0&duration=abc&seed=-1&model=matmult:n=64");
        let Link::Benchmark(config) = link else { panic!("is a benchmark") };
        let fields: Vec<_> = notices.iter().map(|n| n.field.as_str()).collect();
        assert_eq!(fields, ["v", "n_models", "duration", "seed"]);
        assert!(notices.iter().skip(1).all(|n| n.message.contains("is used")), "{notices:?}");
        assert_eq!(config.model, "matmult:n=64");
        assert_eq!(config.duration_s, BenchConfig::default().duration_s);
    }

    #[test]
    fn unknown_pages_and_endless_links_are_no_dead_ends() {
        let (link, notices) = Link::parse("#/nowhere?v=1");
        assert_eq!((link, notices.len()), (Link::default(), 1));
        let (link, notices) = Link::parse(&"x".repeat(20_000));
        assert_eq!((link, notices[0].field.as_str()), (Link::default(), "link"));
        assert_eq!(Link::parse(""), (Link::default(), vec![]));
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
                            s.windows(2).all(|w| w[0] != w[1]) && l.iter().all(|n| *n <= crate::bench::MAX_PARALLEL)
                        })
                    })
            })
    }

    proptest! {
        #[test]
        fn printed_links_read_back(config in configs()) {
            let link = Link::Benchmark(Box::new(config));
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
        fn no_query_is_too_wild(key in "v|model|n_models|seed|tool|from|to|sel|sort|hide|core|view|backends|open|data|files|kernel|source", value in "\\PC{0,20}") {
            for page in ["benchmark", "profile", "numerics", "experiments", "matmult", "customop"] {
                let (link, _) = Link::parse(&format!("#/{page}?{key}={}", encode(&value)));
                prop_assert_eq!(Link::parse(&link.print()), (link, vec![]));
            }
        }
    }
}
