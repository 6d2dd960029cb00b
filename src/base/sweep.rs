//! Time divided among spans that run at once: at each instant it belongs to the span that began last.

use super::Interval;

/// Divides time among spans, which come by start, of equal starts the longest first.
#[derive(Debug)]
pub struct Sweep<Id> {
    /// Spans that began, with their ends; the one that began last is on top. Those below it may have ended.
    open: Vec<(Id, i64)>,
    /// The time up to which everything is divided.
    now: i64,
}

impl<Id> Default for Sweep<Id> {
    fn default() -> Self {
        Self { open: Vec::new(), now: i64::MIN }
    }
}

impl<Id: Copy> Sweep<Id> {
    /// A span begins: the time until then goes to the spans that were running.
    pub fn begin(&mut self, id: Id, time: Interval<i64>, give: &mut impl FnMut(Id, Interval<i64>)) {
        self.give_until(time.start, give);
        if time.end > self.now {
            self.open.push((id, time.end));
        }
    }

    /// Calls `give` with spans and the stretches that they have until an instant, in order of time.
    pub fn give_until(&mut self, until: i64, give: &mut impl FnMut(Id, Interval<i64>)) {
        while let Some(&(id, end)) = self.open.last() {
            let to = end.min(until);
            if to > self.now {
                give(id, Interval::new(self.now, to));
                self.now = to;
            }
            if end > until {
                return;
            }
            self.open.pop();
        }
        self.now = self.now.max(until);
    }

    /// Divides the rest.
    pub fn finish(mut self, give: &mut impl FnMut(Id, Interval<i64>)) {
        self.give_until(i64::MAX, give);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_belongs_to_what_began_last() {
        let mut got = [0; 3];
        let mut give = |id: usize, time: Interval<i64>| got[id] += time.end - time.start;
        let mut sweep = Sweep::default();
        for (id, start, end) in [(0, 0, 100), (1, 10, 30), (2, 20, 200)] {
            sweep.begin(id, Interval::new(start, end), &mut give);
        }
        sweep.finish(&mut give);
        assert_eq!(got, [10, 10, 180]);
    }
}
