//! What `generate` and `fit` print: JSON, and a document with parts of the page's.

use serde::Serialize;

use super::document::{figures, finding, title};
use super::grid::{grid, models};
use super::traffic::{self, serve_at};
use ns_base::{Refusal, refuse};
use ns_fidelity::GenerationReport;
use ns_forms::studies::LlmStudy;
use ns_llm::{DecoderConfig, FITTED, KnownTimes, Limits, Request, cheapest_plan, fit, fit_models};
use ns_view::document::{Block, Document, Tone};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// The answer of a command.
#[derive(Clone, Debug)]
pub struct LlmAnswer {
    /// Ends with a line break.
    pub json: String,
    pub document: Document,
}

impl LlmAnswer {
    fn new(of: &impl Serialize, title: String, blocks: Vec<Block>) -> Result<Self, Refusal> {
        let json = serde_json::to_string_pretty(of).map_err(|e| Refusal::new(e.to_string()))? + "\n";
        Ok(Self { json, document: Document { title, blocks } })
    }

    /// How the model is served in the place of the form, and its requests if they have a rate. Fails when it cannot be served so.
    pub fn generate(study: &LlmStudy) -> Result<Self, Refusal> {
        let (own, limits) = (study.request()?, study.limits());
        let title = format!("{} (simulated)", title(&own, &Limits::default()));
        if let Some(traffic) = study.traffic() {
            let served = serve_at(&own, &traffic)?;
            let mut blocks = traffic::blocks(study, &own, &Ok(served.clone()));
            blocks.extend(served.remarks.iter().cloned().map(Block::Text));
            blocks.push(Block::Command(served.serve_command.clone()));
            return Self::new(&served, title, blocks);
        }
        let report = GenerationReport::with_larger_batch(&own, &KnownTimes::default())?;
        let mut blocks = figures(&own, &report, &limits);
        blocks.push(steps(&report));
        blocks.extend(report.made.expert_loads.as_ref().map(|experts| {
            Block::Text(format!(
                "A core loads {} of {} experts in a layer of a step; from batch {} on a further sequence loads no more.",
                experts.loads, experts.most, experts.all_from_batch
            ))
        }));
        blocks.extend(kept(&limits, &report));
        blocks.push(Block::Command(report.made.serve_command.clone()));
        Self::new(&report, title, blocks)
    }

    /// Where the model fits, and the cheapest place within the limits; without a model all published ones. Fails when the numbers are out of
    /// their ranges, or limits are given without a model.
    pub fn fit(study: &LlmStudy, has_model: bool) -> Result<Self, Refusal> {
        let (own, limits) = (study.request()?, study.limits());
        if !has_model {
            if !limits.is_none() {
                return Err(refuse!("--max-ttft-ms and --max-tpot-ms are for one model; name it with --model"));
            }
            // The model is the first of many, whose positions do not count.
            let of_any = DecoderConfig { max_positions: u64::MAX, ..own.config.clone() };
            Request { config: of_any, ..own.clone() }.check_numbers()?;
            return Self::new(&fit_models(&own), "Language models".to_owned(), vec![models(&own)]);
        }
        own.check_numbers()?;
        let mut found = fit(&own);
        if !limits.is_none() {
            found.plan = cheapest_plan(&own, &limits, FITTED);
        }
        let plan = found.plan.iter().map(|plan| finding(Tone::Neutral, &plan.title(&limits), &plan.figures()));
        let nearest = found.nearest.map(|(instance, tp)| {
            Block::Text(format!("The instance with the lowest price that holds it is {instance}, at TP {tp}."))
        });
        let remarks = found.remarks.iter().cloned().map(Block::Text);
        let blocks = std::iter::once(grid(&own, &limits, &[])).chain(nearest).chain(plan).chain(remarks).collect();
        let title = format!(
            "{}, {}, batch {}, {} positions: GiB of each core",
            found.model, found.weights, found.batch, found.positions
        );
        Self::new(&found, title, blocks)
    }
}

/// The time of a step for each compiled cache.
fn steps(report: &GenerationReport) -> Block {
    let columns = [("cache", "Cache", ColumnKind::Count), ("step_ms", "Step (ms)", ColumnKind::Exact)];
    let row = |(bucket, ms): (&u64, &f64)| vec![Cell::Count(*bucket), Cell::Number((ms * 100.0).round() / 100.0)];
    let rows = report.made.step_ms_by_bucket.iter().map(row).collect();
    let table = Table { columns: columns.map(|(id, title, kind)| Column::new(id, title, kind)).into(), rows };
    Block::Table { title: "A step by the positions of its cache".to_owned(), file: "steps".to_owned(), table }
}

/// Whether the limits are kept; `None` without any.
fn kept(limits: &Limits, report: &GenerationReport) -> Option<Block> {
    let misses = limits.misses(report.made.ttft_ms, report.made.tpot_p50_ms);
    let missed = misses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let said = match misses.is_empty() {
        true => format!("It keeps the limits: {limits}."),
        false => format!(
            "It misses by: {missed}. neuronscope fit with the same limits names the nearest place that keeps them."
        ),
    };
    (!limits.is_none()).then_some(Block::Text(said))
}
