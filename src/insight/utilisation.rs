//! How busy each engine and the DMA are over the time of a run.

use serde::{Deserialize, Serialize};

use super::run::Run;
use super::spans::merge;
use ns_base::Interval;
use ns_base::convert::i64_to_f64;

/// Shares of time in buckets of (nearly) equal length over the device window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Utilisation {
    /// Where the first bucket starts on the timeline, nanoseconds.
    pub start_ns: i64,
    /// Where the last bucket ends. Bucket `i` of `n` starts at `start + (end - start) * i / n`, rounded down.
    pub end_ns: i64,
    /// The engines, then DMA.
    pub rows: Vec<UtilisationRow>,
}

/// One engine, or DMA: all queues together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UtilisationRow {
    /// `Tensor`, `DMA`.
    pub name: String,
    /// Share of each bucket in which it is active, 0 to 100 percent.
    pub busy_percent: Vec<f64>,
}

impl Utilisation {
    /// The utilisation in at most `buckets` buckets; fewer when the window has fewer nanoseconds.
    pub fn of(run: &Run<'_>, buckets: usize) -> Self {
        let n = buckets.min(usize::try_from(run.window_ns()).unwrap_or(usize::MAX));
        let engines = run.units.iter().filter(|u| u.engine.is_some());
        let row = |name: &str, spans: Vec<Interval<i64>>| UtilisationRow {
            name: name.to_owned(),
            busy_percent: shares(run.window, n, &spans),
        };
        let mut rows: Vec<UtilisationRow> =
            engines.map(|u| row(&u.name, merge(u.items.iter().map(|i| i.time)))).collect();
        rows.push(row("DMA", merge(run.transfers().map(|(i, _)| i.time))));
        Self { start_ns: run.window.start, end_ns: run.window.end, rows }
    }
}

fn shares(window: Interval<i64>, buckets: usize, spans: &[Interval<i64>]) -> Vec<f64> {
    let length = i128::from(window.end - window.start);
    let edge = |i: usize| window.start + i64::try_from(length * i as i128 / buckets.max(1) as i128).unwrap_or(i64::MAX);
    let mut next = 0;
    (0..buckets)
        .map(|i| {
            let bucket = Interval::new(edge(i), edge(i + 1));
            while spans.get(next).is_some_and(|s| s.end <= bucket.start) {
                next += 1;
            }
            let inside = spans[next..].iter().take_while(|s| s.start < bucket.end);
            let busy: i64 = inside.map(|s| s.end.min(bucket.end) - s.start.max(bucket.start)).sum();
            i64_to_f64(busy) * 100.0 / i64_to_f64(bucket.end - bucket.start)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestRun, dma};
    use crate::{Role, Work};
    use ns_machine::isa::Engine;

    #[test]
    fn shares_add_up_to_the_active_time() {
        let mut t = TestRun::new(0, 100);
        let s = t.source("m/op", "add");
        t.item(Engine::Vector, (0, 25), s, Work::Elementwise);
        t.item(Engine::Vector, (30, 40), s, Work::Elementwise);
        t.queue("a", (35, 70), s, dma(Role::Weight, 1, 1));
        t.queue("b", (60, 100), s, dma(Role::Input, 1, 1));
        let u = Utilisation::of(&t.run(), 10);
        let row = |name: &str| &u.rows.iter().find(|r| r.name == name).unwrap().busy_percent;
        assert_eq!(row("Vector")[..], [100.0, 100.0, 50.0, 100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(row("DMA").iter().sum::<f64>(), 650.0);
        assert!(row("Tensor").iter().all(|b| *b == 0.0));
        // 3 buckets of 33, 33 and 34 ns.
        let busy = &Utilisation::of(&t.run(), 3).rows[1].busy_percent;
        assert_eq!(busy[0], 28.0 * 100.0 / 33.0);
        assert_eq!(Utilisation::of(&TestRun::new(0, 0).run(), 9).rows[0].busy_percent, Vec::<f64>::new());
    }
}
