//! Where a model fits: the memory of a core of every instance at every degree, and how much of it is missing.

use serde::Serialize;

use super::memory::Memory;
use super::models::{model_names, named_config};
use super::plan::Plan;
use super::request::{Request, has_lnc, llm_instance};
use super::shard::degrees;
use ns_base::{Refusal, refuse};
use ns_machine::arch::{INSTANCES, Instance, features};

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
    pub parameters: u64,
    pub batch: u64,
    pub positions: u64,
    pub weights: String,
    pub rows: Vec<FitRow>,
    /// The cheapest instance on which it fits, at its smallest degree; of sizes without a price the first.
    pub nearest: Option<(&'static str, u32)>,
    /// The cheapest within limits, or the nearest to them, where some were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// What the model's configuration says and the figures leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl FitGrid {
    /// The best of an instance: the smallest degree at which the model fits, else the one at which the least is missing.
    pub fn best(&self, instance: &str) -> Option<&FitRow> {
        let rows = || self.rows.iter().filter(|row| row.instance == instance);
        let least = || rows().min_by(|a, b| a.missing_gib.total_cmp(&b.missing_gib));
        rows().find(|row| row.memory.fits).or_else(least)
    }
}

/// The same for every published model that reads so many positions.
pub fn fit_models(request: &Request) -> Vec<FitGrid> {
    let configs = model_names().filter_map(|name| named_config(name).ok());
    let long = configs.filter(|config| config.max_positions >= request.positions());
    long.map(|config| fit(&Request { config, ..request.clone() })).collect()
}

/// The instances that differ in what fits: of those with the same cores, the cheapest.
pub fn distinct_instances() -> Vec<&'static Instance> {
    let mut found: Vec<&'static Instance> = Vec::new();
    for instance in INSTANCES.iter().filter(|i| llm_instance(i.name).is_ok()) {
        let price = |i: &Instance| i.usd_per_hour.unwrap_or(f64::INFINITY);
        let is_same = |i: &&mut &'static Instance| {
            (i.core_version, i.neuroncores) == (instance.core_version, instance.neuroncores)
        };
        match found.iter_mut().find(is_same) {
            Some(known) if price(instance) < price(known) => *known = instance,
            Some(_) => {}
            None => found.push(instance),
        }
    }
    found
}

/// Every instance and degree for a request that [`Request::check_numbers`] accepts; no place for another. Its own instance and
/// degree do not matter.
pub fn fit(request: &Request) -> FitGrid {
    let mut rows = Vec::new();
    let is_possible = request.check_numbers().is_ok();
    for instance in INSTANCES.iter().filter(|instance| is_possible && has_lnc(instance, request.lnc)) {
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
        parameters: request.config.parameters(),
        batch: request.batch,
        positions: request.positions(),
        weights: request.weights.to_string(),
        rows,
        nearest,
        plan: None,
        remarks: request.remarks(),
    }
}

impl Request {
    /// Checks that the request is possible.
    /// An error says what is not possible, and the nearest that is.
    pub fn check(&self) -> Result<(), Refusal> {
        self.check_numbers()?;
        if let Some(lnc) = self.lnc.filter(|_| !has_lnc(self.instance, self.lnc)) {
            let known = features(self.instance.core_version).map_or(&[1][..], |f| f.lnc);
            let known: Vec<String> = known.iter().map(u32::to_string).collect();
            return Err(refuse!(
                "{} has no logical cores of {lnc} physical cores; use {}",
                self.instance.name,
                known.join(" or ")
            ));
        }
        let possible = degrees(self.instance, self.lnc);
        if !possible.contains(&self.degree) {
            let nearest = possible.iter().min_by_key(|d| d.abs_diff(self.degree)).copied().unwrap_or(1);
            let all: Vec<String> = possible.iter().map(u32::to_string).collect();
            return Err(refuse!(
                "{} has no groups of {} cores; the nearest is {nearest}, and all are {}",
                self.instance.name,
                self.degree,
                all.join(", ")
            ));
        }
        self.check_memory()
    }

    fn check_memory(&self) -> Result<(), Refusal> {
        let memory = self.memory()?;
        if memory.fits {
            return Ok(());
        }
        let gib = |bytes: u64| format!("{:.1} GiB", ns_base::convert::u64_to_f64(bytes) / f64::from(1 << 30));
        let would = degrees(self.instance, self.lnc).into_iter().find(|degree| {
            let at = Self { degree: *degree, ..self.clone() };
            at.memory().is_ok_and(|m| m.fits)
        });
        let instead = match would {
            Some(degree) => format!("it fits at a degree of {degree}"),
            None => match fit(self).nearest {
                Some((other, degree)) => {
                    format!("it fits at no degree of this instance, and on {other} at a degree of {degree}")
                }
                None => "it fits on no instance; use a smaller batch, fewer tokens or int8 weights".to_owned(),
            },
        };
        Err(refuse!(
            "{} needs {} on each of {} cores of {}, and a core has {}: {} are missing; {instead}",
            self.config.name,
            gib(memory.needed_bytes),
            self.degree,
            self.instance.name,
            gib(memory.core_bytes),
            gib(memory.missing_bytes())
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(output: u64) -> Request {
        Request { output, ..Request::of(named_config("llama-2-7b").unwrap(), llm_instance("inf2.48xlarge").unwrap()) }
    }

    #[test]
    fn the_grid_of_a_model_is_the_one_that_fit_gives_and_short_models_are_left_out() {
        let grids = fit_models(&request(1_024));
        let of = |name: &str| grids.iter().find(|grid| grid.model == name);
        assert_eq!(of("llama-2-7b"), Some(&fit(&request(1_024))));
        assert!(of("gpt2").is_none() && of("opt-13b").is_some());
        assert!(fit_models(&request(100)).iter().any(|grid| grid.model == "gpt2"));
    }

    #[test]
    fn the_best_of_an_instance_fits_with_the_fewest_cores_or_misses_least() {
        let grid = fit(&request(1_024));
        let best = |instance| grid.best(instance).map(|row| (row.tp, row.memory.fits)).unwrap();
        // 13.5 GB of weights are more than a core's 16 GiB leave beside caches and code only for longer texts.
        assert_eq!(best("inf2.xlarge"), (1, true));
        let large = Request { config: named_config("llama-3-70b").unwrap(), ..request(1_024) };
        let grid = fit(&large);
        let row = grid.best("inf2.xlarge").unwrap();
        assert!(!row.memory.fits && row.tp == 2 && row.missing_gib > 40.0, "{row:?}");
        assert_eq!(grid.best("inf2.48xlarge").map(|row| row.memory.fits), Some(true));
        assert_eq!(grid.best("m5.large"), None);
    }

    #[test]
    fn instances_with_the_same_cores_stand_for_one_another() {
        let names: Vec<&str> = distinct_instances().iter().map(|i| i.name).collect();
        assert!(names.contains(&"inf2.xlarge") && !names.contains(&"inf2.8xlarge"), "{names:?}");
        assert!(names.contains(&"trn1.32xlarge") && !names.contains(&"trn1n.32xlarge"), "{names:?}");
    }

    #[test]
    fn a_number_that_no_instance_has_fits_nowhere() {
        let own = request(128);
        let wide = fit(&Request { lnc: Some(2), ..own.clone() });
        assert!(wide.rows.iter().all(|row| row.instance.starts_with("trn2") || row.instance.starts_with("trn3")));
        assert!(!wide.rows.is_empty());
        for impossible in [
            Request { lnc: Some(7), ..own.clone() },
            Request { lnc: Some(0), ..own.clone() },
            Request { batch: 0, ..own.clone() },
            Request { batch: 1 << 63, ..own.clone() },
            Request { input: u64::MAX, ..own.clone() },
            Request { output: u64::MAX / 2, ..own.clone() },
            Request { output: 20_000, ..own },
        ] {
            assert!(impossible.check_numbers().is_err());
            assert_eq!((fit(&impossible).rows.len(), fit(&impossible).nearest), (0, None));
        }
    }
}
