//! Where a model fits: the memory of a core of every instance at every degree, and how much of it is missing.

use serde::Serialize;

use super::memory::Memory;
use super::plan::Plan;
use super::request::Request;
use super::shard::degrees;
use ns_machine::arch::INSTANCES;

/// One cell of the grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitRow {
    pub instance: &'static str,
    pub tp: u32,
    pub memory: Memory,
    /// GiB that are missing on each core; 0 when it fits.
    pub missing_gib: f64,
}

/// `neuronscope fit --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitGrid {
    pub model: String,
    pub batch: u64,
    pub positions: u64,
    pub weights: String,
    pub rows: Vec<FitRow>,
    /// The cheapest instance on which it fits, at its smallest degree; of sizes without a price the first.
    pub nearest: Option<(&'static str, u32)>,
    /// The cheapest within limits, where some were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
}

/// Every instance and degree for a request; its own instance and degree do not matter.
#[must_use]
pub fn fit(request: &Request) -> FitGrid {
    let mut rows = Vec::new();
    for instance in INSTANCES {
        for degree in degrees(instance, request.lnc) {
            let at = Request { instance, degree, ..request.clone() };
            let Ok(memory) = at.memory() else { continue };
            let missing_gib = ns_base::convert::u64_to_f64(memory.missing_bytes()) / f64::from(1 << 30);
            rows.push(FitRow { instance: instance.name, tp: degree, memory, missing_gib });
        }
    }
    let price = |row: &FitRow| {
        INSTANCES.iter().find(|i| i.name == row.instance).and_then(|i| i.usd_per_hour).unwrap_or(f64::INFINITY)
    };
    let fitting = rows.iter().filter(|r| r.memory.fits);
    let nearest = fitting.min_by(|a, b| price(a).total_cmp(&price(b))).map(|r| (r.instance, r.tp));
    FitGrid {
        model: request.config.name.clone(),
        batch: request.batch,
        positions: request.positions(),
        weights: request.weights.to_string(),
        rows,
        nearest,
        plan: None,
    }
}
