//! Fits the few global parameters to published rows, and says how well a fit without a family predicts that family.

use std::rc::Rc;

use super::family::family_of;
use super::left_out::LeftOutRow;
use super::predict::{configuration, throughput};
use super::search::{models_in_order, pattern_search, rms_of_ratios};
use super::{PublishedRow, Summary};
use ns_base::convert::u64_to_f64;
use ns_base::{FxHashMap, SimTime};
use ns_bench::{Configuration, stage_times};
use ns_compiler::Workflow;
use ns_device::Device;
use ns_machine::Executable;
use ns_machine::cost::{Calibration, CostTable};
use ns_neuron::sim::{NoObserver, simulate};
use ns_neuron::step::StepCosts;

/// The starting point of every search: documented values, or round numbers close to what the tables suggest.
const START: Calibration =
    Calibration { host_call_ns: 250_000, host_copy_bytes_per_us: 4_000, torch_1_permille: 1_080 };
/// First steps of the parameters, as a share of their value.
const FIRST_STEP: [f64; 3] = [0.2, 0.2, 0.02];
/// How often the steps are halved.
const HALVINGS: u32 = 4;

/// A change of a table of costs, which is Inferentia2's if the argument says so.
pub type CostChange = fn(&mut CostTable, bool);

/// A row that can be predicted, compiled once.
struct CalibrationRow {
    /// The family of its model.
    family: String,
    published: f64,
    configuration: Configuration,
    executable: Rc<Executable>,
    /// Index of the executable, for the cache of windows.
    program: usize,
    is_inf2: bool,
}

/// Parameters, and how well they predict the rows they were fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    pub calibration: Calibration,
    /// Errors of the rows they were fitted to.
    pub summary: Summary,
}

/// A family's rows, predicted with parameters fitted without them.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    pub family: String,
    /// The fit to the other families' rows.
    pub fit: Fit,
    /// Errors of the family's rows.
    pub errors: Summary,
    /// Predicted over published throughput of each of these rows.
    pub ratios: Vec<f64>,
}

/// Rows that are compiled once and simulated as often as the search needs.
pub struct Calibrator {
    rows: Vec<CalibrationRow>,
    /// Window of each program on Trainium and on Inferentia2; no fitted number changes it.
    windows: FxHashMap<(usize, bool), SimTime>,
    /// A change of the costs of an instance: on Inferentia2 the second argument is true.
    change: Option<CostChange>,
    /// Predicted throughput of each row under the stage times that the parameters change: call, link, device. Most moves of a
    /// search change the times of a few rows.
    rates: FxHashMap<(usize, [SimTime; 3]), f64>,
}

impl Calibrator {
    /// Compiles the rows that can be predicted; others are left out.
    pub fn new(rows: &[PublishedRow]) -> Self {
        let mut programs: FxHashMap<(String, u32), (usize, Rc<Executable>)> = FxHashMap::default();
        let mut prepared = Vec::new();
        for row in rows {
            let (Some(published), Ok(configuration)) = (row.published, configuration(row)) else { continue };
            let key = (configuration.model.clone(), configuration.batch_size);
            let next = programs.len();
            let found = match programs.get(&key) {
                Some(found) => found.clone(),
                None => {
                    let Ok(device) = Device::of_instance(&configuration.instance_type) else { continue };
                    let batch_size = Some(configuration.batch_size);
                    let Ok(executable) = device.compile(&configuration.model, batch_size, Workflow::Trace) else {
                        continue;
                    };
                    programs.insert(key, (next, Rc::clone(&executable)));
                    (next, executable)
                }
            };
            let is_inf2 = configuration.instance_type.starts_with("inf2");
            let (program, executable) = found;
            // As far as is known, no host limited a published row; at most four requests were in flight.
            let configuration = Configuration { is_host_endless: true, ..configuration };
            let family = family_of(&row.model);
            prepared.push(CalibrationRow { family, published, configuration, executable, program, is_inf2 });
        }
        Self { rows: prepared, windows: FxHashMap::default(), change: None, rates: FxHashMap::default() }
    }

    /// Predicts rows with changed costs: what a mechanism contributes.
    pub fn try_costs(&mut self, change: CostChange) {
        self.change = Some(change);
        self.windows.clear();
        self.rates.clear();
    }

    /// Fits the parameters to the rows whose family `keep` accepts.
    pub fn fit(&mut self, keep: impl Fn(&str) -> bool) -> Fit {
        let error = |c: &Calibration| rms_of_ratios(&self.ratios(c, &keep));
        let best = rounded(&pattern_search(START, FIRST_STEP, HALVINGS, scaled, error));
        Fit { calibration: best, summary: self.summary(&best, &keep) }
    }

    /// Fits with each family left out in turn, in the order in which the rows name them.
    pub fn leave_one_family_out(&mut self) -> Vec<LeftOut> {
        self.families()
            .into_iter()
            .map(|family| {
                let fit = self.fit(|of| of != family);
                let ratios = self.ratios(&fit.calibration, &|of| of == family);
                LeftOut { errors: Summary::of_ratios(&ratios), family, fit, ratios }
            })
            .collect()
    }

    /// Each row by the fit without its family, and by the fits that have not seen one other family either.
    pub fn left_out_rows(&mut self) -> Vec<LeftOutRow> {
        let families = self.families();
        let mut made = Vec::new();
        for (n, family) in families.iter().enumerate() {
            for other in families.iter().skip(n) {
                let calibration = self.fit(|of| of != family && of != other).calibration;
                self.leave_out(&calibration, family, other, &mut made);
                if other != family {
                    self.leave_out(&calibration, other, family, &mut made);
                }
            }
        }
        made
    }

    /// The rows of a family by a fit without it and another one, which may be the same.
    fn leave_out(&mut self, calibration: &Calibration, family: &str, other: &str, made: &mut Vec<LeftOutRow>) {
        let ratios = self.ratios(calibration, &|of| of == family);
        for (row, ratio) in self.rows.iter().filter(|row| row.family == family).zip(ratios) {
            made.push(LeftOutRow {
                family: family.to_owned(),
                also_without: if other == family { String::new() } else { other.to_owned() },
                generation: row.configuration.options.sdk_generation,
                batch_size: row.configuration.batch_size,
                ratio,
            });
        }
    }

    fn families(&self) -> Vec<String> {
        models_in_order(self.rows.iter().map(|row| row.family.as_str()))
    }

    /// Errors of the rows whose family `keep` accepts.
    pub fn summary(&mut self, calibration: &Calibration, keep: impl Fn(&str) -> bool) -> Summary {
        Summary::of_ratios(&self.ratios(calibration, &keep))
    }

    /// Predicted over published throughput of the rows whose family `keep` accepts.
    pub fn ratios(&mut self, calibration: &Calibration, keep: &impl Fn(&str) -> bool) -> Vec<f64> {
        let mut tables = [CostTable::calibrated(calibration), CostTable::calibrated_inferentia2(calibration)];
        if let Some(change) = self.change {
            change(&mut tables[0], false);
            change(&mut tables[1], true);
        }
        let mut ratios = Vec::with_capacity(self.rows.len());
        for (number, row) in self.rows.iter().enumerate().filter(|(_, r)| keep(&r.family)) {
            let costs = &tables[usize::from(row.is_inf2)];
            let key = (row.program, row.is_inf2);
            let window = match self.windows.get(&key) {
                Some(window) => *window,
                None => {
                    let Ok(outcome) = simulate(&row.executable, costs, &mut NoObserver) else { continue };
                    self.windows.insert(key, outcome.window);
                    outcome.window
                }
            };
            let step = StepCosts::of(&row.executable, costs, window, Workflow::Trace, 0);
            let Ok(times) = stage_times(&row.executable, costs, &step, &row.configuration) else { continue };
            let key = (number, [times.call, times.link, times.device_total()]);
            let predicted = match self.rates.get(&key) {
                Some(predicted) => *predicted,
                None => {
                    let Ok(predicted) = throughput(row.configuration.clone(), &times) else { continue };
                    self.rates.insert(key, predicted);
                    predicted
                }
            };
            ratios.push(predicted / row.published);
        }
        ratios
    }
}

/// A calibration with one parameter multiplied.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a scaled constant stays far below 2^64")]
fn scaled(calibration: &Calibration, parameter: usize, factor: f64) -> Calibration {
    let mut c = *calibration;
    let wide = |x: u64| libm::round(u64_to_f64(x) * factor) as u64;
    let narrow = |x: u32| libm::round(f64::from(x) * factor) as u32;
    match parameter {
        0 => c.host_call_ns = wide(c.host_call_ns),
        1 => c.host_copy_bytes_per_us = wide(c.host_copy_bytes_per_us),
        _ => c.torch_1_permille = narrow(c.torch_1_permille).max(1_000),
    }
    c
}

/// Rounds to two or three digits: the rows do not determine more.
fn rounded(c: &Calibration) -> Calibration {
    let to = |x: u64, unit: u64| (x + unit / 2) / unit * unit;
    Calibration {
        host_call_ns: to(c.host_call_ns, 5_000),
        host_copy_bytes_per_us: to(c.host_copy_bytes_per_us, 100),
        ..*c
    }
}
