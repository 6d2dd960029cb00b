//! Where the time went: every instant of a span has one kind, so that the kinds add up to the span.

use serde::{Deserialize, Serialize};

use super::tally::Tally;
use crate::work::Work;
use ns_base::{Interval, TraceNs};

/// How an instant is spent: the first of these that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Part {
    /// A device computes, regardless of everything else.
    Compute,
    /// Devices exchange data, and none computes.
    Communication,
    /// Data moves, and no device computes or communicates.
    Transfer,
    /// No device does anything, and the host works.
    Host,
    /// No device does anything, and the host does not work or waits.
    Idle,
}

impl Part {
    /// All parts, in their order of precedence.
    pub const ALL: [Self; 5] = [Self::Compute, Self::Communication, Self::Transfer, Self::Host, Self::Idle];
}

/// How long each kind of work took in a span, in ns. The parts add up to the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakdown {
    /// The span.
    pub span: Interval<TraceNs>,
    /// Time of each part, in the order of [`Part::ALL`].
    pub parts_ns: [i64; 5],
}

impl Breakdown {
    /// Length of the span, in ns.
    pub fn whole_ns(&self) -> i64 {
        self.span.end.0.saturating_sub(self.span.start.0)
    }

    /// Time of a part, in ns.
    pub fn ns(&self, part: Part) -> i64 {
        Part::ALL.iter().position(|p| *p == part).map_or(0, |at| self.parts_ns[at])
    }

    /// Time in which any device does something, in ns.
    pub fn busy_ns(&self) -> i64 {
        self.parts_ns[..3].iter().sum()
    }

    /// Time in which no device does anything, in ns.
    pub fn waiting_ns(&self) -> i64 {
        self.parts_ns[3..].iter().sum()
    }
}

/// The spans of each part, together with the spans of the parts before it.
pub(super) struct Layers([Vec<Interval<TraceNs>>; 4]);

impl Layers {
    pub fn of(tally: &Tally) -> Self {
        let mut all: Vec<Interval<TraceNs>> = Vec::new();
        let layers = [Work::Compute, Work::Communication, Work::Transfer, Work::Host].map(|work| {
            all.extend(tally.covered.get(&work).into_iter().flatten());
            all = Interval::merge(std::mem::take(&mut all));
            all.clone()
        });
        Self(layers)
    }

    /// How a span is spent.
    pub fn within(&self, span: Interval<TraceNs>) -> Breakdown {
        let whole = span.end.0.saturating_sub(span.start.0);
        let mut parts_ns = [0; 5];
        let mut before = 0;
        for (part, layer) in parts_ns.iter_mut().zip(&self.0) {
            let covered = Interval::total_ns(&clipped(layer, span));
            *part = covered - before;
            before = covered;
        }
        parts_ns[4] = whole - before;
        Breakdown { span, parts_ns }
    }
}

/// The parts of sorted, disjoint intervals that are inside a span.
fn clipped(stretches: &[Interval<TraceNs>], span: Interval<TraceNs>) -> Vec<Interval<TraceNs>> {
    let first = stretches.partition_point(|s| s.end <= span.start);
    let inside = stretches[first..].iter().take_while(|s| s.start < span.end);
    inside.map(|s| Interval::new(s.start.max(span.start), s.end.min(span.end))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(s: &[(i64, i64)]) -> Vec<Interval<TraceNs>> {
        s.iter().map(|&(a, b)| Interval::new(TraceNs(a), TraceNs(b))).collect()
    }

    #[test]
    fn an_instant_counts_once_for_the_first_of_its_parts() {
        let mut tally = Tally::default();
        tally.covered.insert(Work::Compute, spans(&[(0, 10), (20, 30)]));
        tally.covered.insert(Work::Transfer, spans(&[(5, 15)]));
        tally.covered.insert(Work::Host, spans(&[(0, 18), (29, 36)]));
        let layers = Layers::of(&tally);
        let all = layers.within(spans(&[(0, 40)])[0]);
        // Compute 0-10 and 20-30, transfer alone 10-15, host alone 15-18 and 30-36, nothing 18-20 and 36-40.
        assert_eq!(all.parts_ns, [20, 0, 5, 9, 6]);
        assert_eq!((all.busy_ns(), all.waiting_ns(), all.whole_ns()), (25, 15, 40));
        let some = layers.within(spans(&[(8, 21)])[0]);
        assert_eq!(some.parts_ns, [3, 0, 5, 3, 2]);
        assert_eq!(some.parts_ns.iter().sum::<i64>(), some.whole_ns());
    }
}
