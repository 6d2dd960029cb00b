//! Converts the clocks of packets to one clock. Snapshots hold the readings of several clocks at one moment.

use ns_base::FxHashMap;
use ns_base::wire::Fields;

/// Clocks 64 to 127 belong to a sequence.
const FIRST_OF_SEQUENCE: u64 = 64;
const LAST_OF_SEQUENCE: u64 = 127;
/// `BUILTIN_CLOCK_BOOTTIME`, the clock of packets that name none.
const BOOTTIME: u64 = 6;

/// The known clocks and their relations.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// The offsets from each clock to the clock of the trace.
    known: FxHashMap<(u64, u64), Clock>,
    /// The clock that times are converted to: the primary clock of the first snapshot.
    main: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Clock {
    shift_ns: i64,
    multiplier: i64,
    is_incremental: bool,
    last: i64,
}

impl Clocks {
    /// Takes a `ClockSnapshot`.
    pub fn snapshot(&mut self, sequence: u64, message: &[u8]) {
        let (mut rows, mut primary) = (Vec::new(), None);
        for (field, value) in Fields::of(message) {
            match field {
                1 => {
                    let (mut id, mut at, mut incremental, mut multiplier) = (0, 0i64, false, 1i64);
                    for (field, value) in Fields::of(value.bytes()) {
                        match field {
                            1 => id = value.u64(),
                            2 => at = value.i64(),
                            3 => incremental = value.u64() != 0,
                            4 => multiplier = value.i64().clamp(1, 1_000_000_000),
                            _ => {}
                        }
                    }
                    rows.push((id, at, incremental, multiplier));
                }
                2 => primary = Some(value.u64()),
                _ => {}
            }
        }
        let main = *self.main.get_or_insert(primary.unwrap_or(BOOTTIME));
        let ns = |at: i64, multiplier: i64| at.saturating_mul(multiplier);
        let here = rows.iter().find(|(id, ..)| *id == main).map(|&(_, at, _, m)| ns(at, m));
        // A snapshot without the main clock is related to it through another known clock.
        let here = here.or_else(|| {
            rows.iter().find_map(|&(id, at, _, m)| {
                self.known.get(&key(sequence, id)).map(|c| ns(at, m).saturating_add(c.shift_ns))
            })
        });
        let Some(here) = here else { return };
        for (id, at, is_incremental, multiplier) in rows {
            let shift_ns = here.saturating_sub(ns(at, multiplier));
            self.known.insert(key(sequence, id), Clock { shift_ns, multiplier, is_incremental, last: at });
        }
    }

    /// A time of a packet, in ns on the clock of the trace.
    pub fn trace_ns(&mut self, sequence: u64, clock: Option<u64>, ts: u64) -> i64 {
        let ts = i64::try_from(ts).unwrap_or(i64::MAX);
        let id = clock.or(self.main).unwrap_or(BOOTTIME);
        let Some(known) = self.known.get_mut(&key(sequence, id)) else { return ts };
        let at = if known.is_incremental { known.last.saturating_add(ts) } else { ts };
        known.last = at;
        at.saturating_mul(known.multiplier).saturating_add(known.shift_ns)
    }
}

fn key(sequence: u64, id: u64) -> (u64, u64) {
    if (FIRST_OF_SEQUENCE..=LAST_OF_SEQUENCE).contains(&id) { (sequence, id) } else { (0, id) }
}
