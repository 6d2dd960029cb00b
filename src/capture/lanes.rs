//! Rows for overlapping items: each item goes to the first free row.

use ns_base::Interval;
use ns_base::convert::usize_to_i64;
use ns_profile::{ProcessId, ProfileBuilder, TrackId};

/// A track, and more rows with the same name below it when items overlap.
pub(super) struct Lanes {
    process: ProcessId,
    tid: String,
    name: String,
    sort_index: i64,
    /// Each row with the end of its last item.
    rows: Vec<(TrackId, i64)>,
}

impl Lanes {
    /// Most rows with a position of their own in the order of tracks.
    pub const ROOM: i64 = 100;

    /// The first row is created now, so that it shows even when it is empty.
    pub fn new(builder: &mut ProfileBuilder, process: ProcessId, tid: &str, name: &str, sort_index: i64) -> Self {
        let (tid, name) = (tid.to_owned(), name.to_owned());
        let mut lanes = Self { process, tid, name, sort_index, rows: Vec::new() };
        lanes.add(builder);
        lanes
    }

    /// The row for an item; items come in order of their start.
    pub fn place(&mut self, builder: &mut ProfileBuilder, time: Interval<i64>) -> TrackId {
        let free = self.rows.iter().position(|(_, until)| *until <= time.start);
        let row = free.unwrap_or_else(|| self.add(builder));
        self.rows[row].1 = time.end;
        self.rows[row].0
    }

    fn add(&mut self, builder: &mut ProfileBuilder) -> usize {
        let n = self.rows.len();
        let tid = if n == 0 { self.tid.clone() } else { format!("{}.{}", self.tid, n + 1) };
        let track = builder.thread(self.process, &tid, &self.name);
        builder.set_track_sort_index(track, self.sort_index + usize_to_i64(n).min(Self::ROOM - 1));
        self.rows.push((track, i64::MIN));
        n
    }
}
