//! How far a simulated figure may be from that of a device.
//!
//! The width comes from rows that a fit without their family predicted, `left_out.csv`, and from text generation, whose models were
//! left out in the same way. Every family has the same weight, and so has one family to come, of which nothing is known. So the
//! least width that holds for 8 of 10 of them needs four families. Rows of PyTorch 1 also have the error of its one factor, which
//! is independent of the rest.

use std::sync::LazyLock;

use ns_base::Order;
use ns_base::convert::usize_to_f64;
use ns_bench::{Configuration, Interval, PUBLISHED_CORE, PublishedFigures, Report, SdkGeneration, no_published_row};
use ns_machine::arch::instance;
use ns_model::zoo::ModelSpec;
use serde::Serialize;

use super::PublishedRow;
use super::decode_interval::DECODE_HELD_OUT;
use super::family::family_of;
use super::floor::ratios_by_one_factor;
use super::left_out::{LeftOutRow, left_out_rows};
use super::published::{published_benchmark, shipped_rows};
use super::search::models_in_order;

/// How often the figure of a device lies in an interval.
const SHARE: f64 = 0.8;

/// The family of the models of text generation.
const GENERATION: &str = "Llama";

/// Tokens of the longest published row: ViT's. A test compares.
const LONGEST: u64 = 197;
/// The largest batch of a published row. A test compares.
const LARGEST_BATCH: u32 = 64;

static ROWS: LazyLock<Vec<LeftOutRow>> = LazyLock::new(left_out_rows);
static WIDTHS: LazyLock<Widths> = LazyLock::new(|| Widths::without(""));

/// Half of the interval's width as the logarithm of a factor, for each generation of the SDK; `None` where too few families have rows.
struct Widths {
    pt1: Option<f64>,
    pt2: Option<f64>,
}

impl Widths {
    /// From the rows of all other families, each predicted by a fit without this family too.
    fn without(family: &str) -> Self {
        // Text generation has a fit of its own, so no other fit has seen it.
        let other = if family == GENERATION { "" } else { family };
        let seen = |r: &&LeftOutRow| r.also_without == other && r.family != family;
        let rows = ROWS.iter().filter(seen).filter(|r| r.generation == SdkGeneration::Pt2);
        let mut errors: Vec<(&str, f64)> = rows.map(|r| (r.family.as_str(), libm::log(r.ratio))).collect();
        if family != GENERATION {
            errors.extend(generation_errors().map(|error| (GENERATION, error)));
        }
        let pt2 = width(&errors);
        let others: Vec<PublishedRow> =
            shipped_rows().iter().filter(|row| family_of(&row.model) != family).cloned().collect();
        let of_factor =
            ratios_by_one_factor(&others).into_iter().map(|ratio| libm::log(ratio).abs()).fold(0.0, f64::max);
        Self { pt1: pt2.map(|width| libm::hypot(width, of_factor)), pt2 }
    }

    fn of(&self, generation: SdkGeneration) -> Option<f64> {
        match generation {
            SdkGeneration::Pt1 => self.pt1,
            SdkGeneration::Pt2 => self.pt2,
        }
    }
}

fn generation_errors() -> impl Iterator<Item = f64> {
    DECODE_HELD_OUT.iter().flat_map(|row| row.ratios).map(|ratio| libm::log(*ratio))
}

/// The least error that [`SHARE`] of the families do not exceed, the one to come included: it exceeds every width.
fn width(errors: &[(&str, f64)]) -> Option<f64> {
    let families = models_in_order(errors.iter().map(|(family, _)| *family));
    let rows_of = |family: &str| usize_to_f64(errors.iter().filter(|(of, _)| *of == family).count());
    let mut sizes: Vec<(f64, f64)> = errors.iter().map(|(family, e)| (e.abs(), 1.0 / rows_of(family))).collect();
    sizes.order_by(|a, b| a.0.total_cmp(&b.0));
    let needed = SHARE * usize_to_f64(families.len() + 1) - 1e-9;
    let mut share_so_far = 0.0;
    sizes.into_iter().find_map(|(size, share)| {
        share_so_far += share;
        (share_so_far >= needed).then_some(size)
    })
}

/// The least and the most that published over predicted throughput is in 8 of 10 cases.
pub fn device_factors(generation: SdkGeneration) -> Option<(f64, f64)> {
    WIDTHS.of(generation).map(|width| (libm::exp(-width), libm::exp(width)))
}

/// The interval of a throughput on an instance; `None` where no row tells the error.
pub fn interval_of_rate(rate: f64, instance_type: &str, generation: SdkGeneration) -> Option<(f64, f64)> {
    let has_rows = instance(instance_type).is_some_and(|size| size.core_version == PUBLISHED_CORE);
    device_factors(generation).filter(|_| has_rows).map(|(low, high)| (rate * low, rate * high))
}

/// The interval of a time on an instance, as [`interval_of_rate`].
pub fn interval_of_time(time: f64, instance_type: &str, generation: SdkGeneration) -> Option<(f64, f64)> {
    interval_of_rate(1.0, instance_type, generation).map(|(low, high)| (time / high, time / low))
}

/// Why no row tells the error of a configuration's figures; `None` if rows do.
pub fn unknown_error(configuration: &Configuration) -> Option<&'static str> {
    let spec = configuration.model.parse::<ModelSpec>().ok();
    let trains = spec.as_ref().is_some_and(|spec| spec.training().is_some());
    let is_long = spec.as_ref().is_some_and(|spec| spec.settings().int("seq") > LONGEST);
    no_published_row(&configuration.instance_type)
        .or_else(|| trains.then_some("no published row is of training"))
        .or_else(|| is_long.then_some("no published row has as many tokens"))
        .or_else(|| (configuration.batch_size > LARGEST_BATCH).then_some("no published row has so large a batch"))
}

/// How often intervals hold the rows of a group, whose families neither their fit nor their width has seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Coverage {
    pub group: String,
    pub rows: usize,
    pub inside: usize,
}

/// The coverage of each group of rows, then of all.
pub fn coverage() -> Vec<Coverage> {
    let mut judged: Vec<([&str; 3], bool)> = Vec::new();
    let families = models_in_order(ROWS.iter().map(|r| r.family.as_str()));
    for family in &families {
        let widths = Widths::without(family);
        for row in ROWS.iter().filter(|r| r.family == *family && r.also_without.is_empty()) {
            let Some(width) = widths.of(row.generation) else { continue };
            let release = if row.generation == SdkGeneration::Pt1 { "PyTorch 1" } else { "PyTorch 2" };
            let batch = if row.batch_size == 1 { "batch 1" } else { "larger batches" };
            judged.push(([row.family.as_str(), release, batch], libm::log(row.ratio).abs() <= width));
        }
    }
    let width = Widths::without(GENERATION).pt2;
    judged.extend(width.into_iter().flat_map(|width| {
        generation_errors().map(move |error| ([GENERATION, "text generation", "text generation"], error.abs() <= width))
    }));
    let of = |group: &str, inside: Vec<bool>| Coverage {
        group: group.to_owned(),
        rows: inside.len(),
        inside: inside.iter().filter(|inside| **inside).count(),
    };
    let names = ["PyTorch 2", "PyTorch 1", "text generation", "batch 1", "larger batches"];
    let groups = names.into_iter().chain(families.iter().map(String::as_str));
    let mut made: Vec<Coverage> = groups
        .map(|group| {
            of(group, judged.iter().filter(|(of, _)| of.contains(&group)).map(|(_, inside)| *inside).collect())
        })
        .collect();
    made.push(of("all", judged.iter().map(|(_, inside)| *inside).collect()));
    made
}

/// Puts beside the figures of a row what AWS published for its configuration, and the interval of its throughput. A row with
/// estimated operators has no interval: their error is not known.
pub fn put_beside(report: &mut Report, configuration: &Configuration) {
    let Some(here) = report.throughput_avg.filter(|_| report.is_finished() && configuration.is_compiled()) else {
        return;
    };
    report.published = published_benchmark(configuration).and_then(|row| {
        let throughput = row.published?;
        Some(PublishedFigures {
            throughput,
            latency_ms_p50: row.latency_p50_ms,
            latency_ms_p99: row.latency_p99_ms,
            release: row.framework.clone(),
            ratio: here / throughput,
        })
    });
    report.interval_unknown = unknown_error(configuration).map(str::to_owned);
    if report.estimated_ops.is_none() && report.interval_unknown.is_none() {
        let (instance, generation) = (&configuration.instance_type, configuration.options.sdk_generation);
        let latency = report.latency_ms_p50.and_then(|time| interval_of_time(time, instance, generation));
        report.interval =
            interval_of_rate(here, instance, generation).map(|(throughput_low, throughput_high)| Interval {
                throughput_low,
                throughput_high,
                latency_ms_p50_low: latency.map(|(low, _)| low),
                latency_ms_p50_high: latency.map(|(_, high)| high),
            });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_the_figure_and_is_known_where_rows_are() {
        let [old, new] = [SdkGeneration::Pt1, SdkGeneration::Pt2].map(|g| device_factors(g).unwrap());
        assert!(old.0 < new.0 && new.0 < 1.0 && 1.0 < new.1 && new.1 < old.1, "{old:?} {new:?}");
        for instance in ["inf2.xlarge", "trn1.32xlarge"] {
            let (low, high) = interval_of_rate(1_220.0, instance, SdkGeneration::Pt2).unwrap();
            assert!(low < 1_220.0 && 1_220.0 < high, "{low} {high}");
            let (short, long) = interval_of_time(2.0, instance, SdkGeneration::Pt2).unwrap();
            assert!((short * high / 1_220.0 - 2.0).abs() < 1e-9 && (long * low / 1_220.0 - 2.0).abs() < 1e-9);
        }
        for instance in ["trn2.48xlarge", "inf1.xlarge", "m5.large"] {
            assert_eq!(interval_of_rate(1_220.0, instance, SdkGeneration::Pt2), None, "{instance}");
        }
    }

    #[test]
    fn a_width_holds_for_eight_of_ten_families_and_needs_four() {
        let of = |families: &[&'static str]| -> Vec<(&'static str, f64)> {
            families.iter().zip(1..).map(|(family, n)| (*family, f64::from(n))).collect()
        };
        assert_eq!(width(&of(&["a", "b", "c"])), None);
        assert_eq!(width(&of(&["a", "b", "c", "d"])), Some(4.0), "4 of 5 are 8 of 10");
        // Nine families and one to come: the second largest may lie outside with it. Many rows of a family count as one.
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        let many: Vec<(&str, f64)> = of(&names).into_iter().chain(vec![("a", 1.0); 30]).collect();
        assert_eq!((width(&of(&names)), width(&many)), (Some(8.0), Some(8.0)));
    }

    #[test]
    fn what_no_row_covers_has_a_reason() {
        let of = |model: &str, instance: &str, batch: u32| {
            let config = ns_bench::BenchConfig {
                model: model.into(),
                instance_type: instance.into(),
                batch_sizes: vec![batch],
                ..ns_bench::BenchConfig::default()
            };
            unknown_error(&ns_bench::expand(&config).unwrap().configurations[0])
        };
        assert_eq!(of("bert-base-uncased", "inf2.xlarge", LARGEST_BATCH), None);
        assert_eq!(of("bert-base-uncased:seq=198", "inf2.xlarge", 1), Some("no published row has as many tokens"));
        assert_eq!(of("bert-base-uncased:training=adamw", "trn1.2xlarge", 1), Some("no published row is of training"));
        assert_eq!(of("nn", "inf2.xlarge", 65), Some("no published row has so large a batch"));
        assert_eq!(of("nn", "trn2.48xlarge", 1), Some("no published row to compare"));
    }

    #[test]
    fn the_limits_are_those_of_the_rows() {
        let rows = || shipped_rows().iter().filter(|row| super::super::predict::configuration(row).is_ok());
        assert_eq!(rows().filter_map(|row| row.batch_size).max(), Some(LARGEST_BATCH));
        assert!(rows().filter_map(|row| row.sequence_or_image.parse::<u64>().ok()).all(|tokens| tokens <= LONGEST));
    }
}
