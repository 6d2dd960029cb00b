//! Counters: values over time, of a process.

use std::ops::Range;

use super::{ProcessId, TrackId};
use ns_base::convert::usize_to_u32;
use ns_base::define_idx;
use ns_base::{FxHashMap, IndexVec, Order, StrId, TraceNs};

define_idx! {
    /// A counter of one profile: one chart of one or more series.
    pub struct CounterId;
}
define_idx! {
    /// One series of a counter.
    pub struct SeriesId;
}

/// A chart: a name (and id) of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// The process it belongs to.
    pub process: ProcessId,
    /// The track of its first event; only the process of a counter has a meaning.
    pub track: TrackId,
    /// Its name.
    pub name: StrId,
    /// Its id, empty when it has none.
    pub id: StrId,
    /// Its series, in order of appearance.
    pub series: Vec<SeriesId>,
}

/// One line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The chart.
    pub counter: CounterId,
    /// Its name: the key in the event's `args`.
    pub key: StrId,
    /// Its samples, as positions in the columns of the table.
    pub(super) samples: Range<usize>,
}

/// Counters, their series, and the samples in columns.
#[derive(Clone, Debug, Default)]
pub struct CounterTable {
    pub(super) counters: IndexVec<CounterId, Counter>,
    pub(super) series: IndexVec<SeriesId, Series>,
    pub(super) ts: Vec<i64>,
    pub(super) value: Vec<f64>,
}

impl CounterTable {
    /// The charts, in order of appearance.
    pub fn counters(&self) -> &IndexVec<CounterId, Counter> {
        &self.counters
    }

    /// All series.
    pub fn series(&self) -> &IndexVec<SeriesId, Series> {
        &self.series
    }

    /// The samples of a series by time; empty for an id of another table.
    pub fn samples(
        &self,
        series: SeriesId,
    ) -> impl DoubleEndedIterator<Item = (TraceNs, f64)> + ExactSizeIterator + '_ {
        let range = self.series.get(series).map_or(0..0, |s| s.samples.clone());
        let (ts, value) = (&self.ts[range.clone()], &self.value[range]);
        ts.iter().zip(value).map(|(&t, &v)| (TraceNs(t), v))
    }

    /// Number of samples of all series.
    pub fn sample_count(&self) -> usize {
        self.ts.len()
    }
}

/// Counter events in the order they were given.
#[derive(Debug, Default)]
pub(super) struct CounterRows {
    counters: IndexVec<CounterId, Counter>,
    series: IndexVec<SeriesId, Series>,
    counter_of: FxHashMap<(ProcessId, StrId, StrId), CounterId>,
    /// Series of counters that have more than [`FEW_SERIES`].
    further: FxHashMap<(CounterId, StrId), SeriesId>,
    series_of: Vec<SeriesId>,
    ts: Vec<i64>,
    value: Vec<f64>,
}

/// The most series of a counter that are searched one by one.
const FEW_SERIES: usize = 8;

impl CounterRows {
    /// One event of a counter.
    pub(super) fn add(
        &mut self,
        (process, name, id): (ProcessId, StrId, StrId),
        track: TrackId,
        ts: i64,
        values: &[(StrId, f64)],
    ) {
        let counter = *self
            .counter_of
            .entry((process, name, id))
            .or_insert_with(|| self.counters.push(Counter { process, track, name, id, series: Vec::new() }));
        for &(key, value) in values {
            let series = self.series_of_key(counter, key);
            self.series_of.push(series);
            self.ts.push(ts);
            self.value.push(value);
        }
    }

    /// The series of a key, created if it is new.
    fn series_of_key(&mut self, counter: CounterId, key: StrId) -> SeriesId {
        // Most counters have one or a few series.
        let few = &self.counters[counter].series;
        let found = few.iter().take(FEW_SERIES).copied().find(|&s| self.series[s].key == key);
        let found = found.or_else(|| self.further.get(&(counter, key)).copied());
        found.unwrap_or_else(|| {
            let new = self.series.push(Series { counter, key, samples: 0..0 });
            let list = &mut self.counters[counter].series;
            if list.len() >= FEW_SERIES {
                self.further.insert((counter, key), new);
            }
            list.push(new);
            new
        })
    }

    /// Bytes held by the samples.
    pub(super) fn bytes(&self) -> usize {
        self.ts.capacity() * 20
    }

    /// Groups the samples by series, then by time; equal times stay in the order given.
    pub(super) fn finish(self, origin_ns: i64) -> CounterTable {
        let mut order: Vec<u32> = (0..usize_to_u32(self.ts.len())).collect();
        order.order_by_key(|&i| (self.series_of[i as usize], self.ts[i as usize]));
        let mut series = self.series;
        let mut from = 0;
        for (id, line) in series.iter_mut().enumerate() {
            let more = order[from..].iter().take_while(|&&i| self.series_of[i as usize].0 as usize == id).count();
            line.samples = from..from + more;
            from += more;
        }
        CounterTable {
            ts: order.iter().map(|&i| self.ts[i as usize].saturating_sub(origin_ns)).collect(),
            value: order.iter().map(|&i| self.value[i as usize]).collect(),
            counters: self.counters,
            series,
        }
    }
}
