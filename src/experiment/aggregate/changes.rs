//! Models that became slower and still are.

use super::datetime::datetime_utc;
use super::report::Report;
use super::table::{Cell, Heading, Table};
use crate::regression::{detect_steps, find_regressions};
use ns_base::Order;

/// A smaller change is not reported.
const THRESHOLD: f64 = 0.05;

impl Report<'_> {
    /// Each lasting step to a longer time, the largest first: its date, model and backend, and the time
    /// relative to the baseline before and after.
    pub(super) fn changes(&self) -> Table {
        let mut found: Vec<(f64, Vec<Cell>)> = Vec::new();
        for (b, backend) in self.backends.iter().enumerate() {
            for model in self.models_of(b) {
                let steps = detect_steps(&self.relative_times(b, &model));
                let Some(regressions) = find_regressions(&steps, THRESHOLD) else { continue };
                for step in regressions.steps {
                    let change = step.after / step.before - 1.0;
                    let since =
                        self.times.get(step.first_bad).and_then(|t| datetime_utc(t.timestamp)).unwrap_or_default();
                    found.push((
                        change,
                        vec![
                            Cell::Text(since),
                            Cell::Text(backend.title().to_owned()),
                            Cell::Text(model.clone()),
                            Cell::Number(step.before),
                            Cell::Number(step.after),
                            Cell::Number(change * 100.0),
                        ],
                    ));
                }
            }
        }
        found.order_by(|a, b| b.0.total_cmp(&a.0));
        let headings = ["Datetime(UTC)", "Backend", "ModelName", "Before", "After", "Change(%)"];
        Table { headings: headings.map(Heading::plain).to_vec(), rows: found.into_iter().map(|f| f.1).collect() }
    }

    /// Every model that a backend ever had, by name.
    fn models_of(&self, backend: usize) -> Vec<String> {
        let at = self.times.iter().filter_map(|t| t.backends.get(backend)?.as_ref());
        let mut names: Vec<String> = at.flat_map(|b| b.models.iter().map(|(name, _)| name.clone())).collect();
        names.order();
        names.dedup();
        names
    }

    /// Times of a model relative to the baseline, at every timestamp. Larger is worse.
    fn relative_times(&self, backend: usize, model: &str) -> Vec<Option<f64>> {
        let at = |t: &super::speedup::TimeSpeedups| {
            let (_, m) = t.backends.get(backend)?.as_ref()?.models.iter().find(|(name, _)| name == model)?;
            Some(1.0 / m.avg)
        };
        self.times.iter().map(at).collect()
    }
}
