//! Keeps a sweep in the browser's store, with a piece for each finished row, and finds the sweeps of earlier visits.

use std::cell::Cell;
use std::marker::PhantomData;

use gloo_timers::callback::Timeout;
use web_sys::File;
use yew::prelude::*;

use super::runner::Runnable;
use crate::platform::download::file_of;
use crate::platform::machine::wall_ms;
use crate::platform::storage;
use crate::shelf::{self, PREFIX, forget_pieces, keep_piece, piece_key};
use ns_base::Order;
use ns_bench::export::to_json;
use ns_bench::{Benchmarks, SweepOf};
use ns_session::results::{KeptHead, KeptRequest, kept_reports};
use ns_session::shelf::MOST_UNPINNED;

/// Interval at which a page records that it is still open.
pub const BEAT_MS: u32 = 2_000;
/// A page that has not recorded for this time that it is open has been closed.
const GONE_MS: f64 = 3.0 * BEAT_MS as f64;
/// The most finished sweeps of earlier visits that are kept.
const MOST_ENDED: usize = 2 * MOST_UNPINNED;

/// One sweep in the store, while this page runs it.
pub struct Keeper<K> {
    id: String,
    /// Whether the store refused a row.
    is_full: Cell<bool>,
    kind: PhantomData<K>,
}

impl<K: Runnable> Keeper<K> {
    /// Starts to keep a sweep.
    pub fn begin(sweep: &SweepOf<K>) -> Self {
        // Two tabs will not both start in the same millisecond and draw the same number.
        let id = format!("{:013.0}-{:06.0}", wall_ms(), js_sys::Math::random() * 1e6);
        let keeper = Self { id, is_full: Cell::new(false), kind: PhantomData };
        keeper.update(sweep);
        keeper
    }

    /// Continues to keep a sweep of an earlier visit.
    pub fn adopt(kept: &KeptOf<K>) -> Self {
        let keeper = Self { id: kept.id.clone(), is_full: Cell::new(false), kind: PhantomData };
        keeper.beat();
        keeper
    }

    /// Records the progress of the sweep, and that this page runs it.
    pub fn update(&self, sweep: &SweepOf<K>) {
        let kept = storage::keep(&piece_key(&self.id, K::HEAD), &KeptRequest::of(sweep).to_text());
        self.is_full.set(self.is_full.get() || !kept);
        self.beat();
    }

    /// Keeps the result of a row; `false` when the store refused one for the first time.
    pub fn row(&self, sweep: &SweepOf<K>, row: u32) -> bool {
        let kept = K::row_text(sweep, row);
        let kept = kept.is_some_and(|text| keep_piece(&self.id, &format!("row.{row}"), &text));
        kept || self.is_full.replace(true)
    }

    /// Puts the results on the shelf, unless the store refused a row, which would be missing.
    pub fn put_on_shelf(&self, sweep: &SweepOf<K>) {
        if !self.is_full.get() {
            K::put_on_shelf(sweep, &self.id);
        }
    }

    /// Records that this page is still open.
    pub fn beat(&self) {
        storage::write(&piece_key(&self.id, "beat"), &format!("{:.0}", wall_ms()));
    }

    /// Records that this page closes: another may resume the sweep at once.
    pub fn leave(&self) {
        storage::forget(&piece_key(&self.id, "beat"));
    }

    /// Forgets the sweep.
    pub fn forget(&self) {
        forget_pieces(&self.id);
    }
}

/// Kept results as a file of reports, by the name that [`ShelfItem::results_file`](ns_session::shelf::ShelfItem::results_file) gives
/// them; `None` where none are kept.
pub fn kept_results(name: &str) -> Option<Result<File, String>> {
    let item = shelf::find_results(name)?;
    if storage::read(&piece_key(&item.rows, Benchmarks::HEAD)).as_deref().and_then(KeptHead::from_text).is_none() {
        let (name, why) = (&item.name, "another version of this page kept them");
        return Some(Err(format!("The results of {name} cannot be read: {why}. Run the benchmark again.")));
    }
    let reports = kept_reports(&rows_of(&item.rows));
    Some(to_json(&reports).map_err(|e| e.to_string()).and_then(|text| file_of(name, &text)))
}

/// The texts of the rows of a sweep.
pub(super) fn rows_of(id: &str) -> Vec<String> {
    storage::keys(&piece_key(id, "row.")).iter().filter_map(|key| storage::read(key)).collect()
}

/// A sweep of an earlier visit.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptOf<K: Runnable> {
    pub(super) id: String,
    /// The request, and its progress.
    pub head: KeptRequest<K::Config>,
    /// Number of kept rows.
    pub rows: usize,
}

/// A benchmark of an earlier visit.
pub type KeptSweep = KeptOf<Benchmarks>;

impl<K: Runnable> KeptOf<K> {
    pub fn forget(&self) {
        shelf::forget_rows(&self.id);
        forget_pieces(&self.id);
    }
}

/// Delay until the list is read again: a tab that was just open may have ended without a message.
const LOOK_AGAIN_MS: u32 = 7_000;

/// The list of [`kept_sweeps`], which is there when the page is first drawn: one that came later would push the form down.
#[hook]
pub fn use_kept_sweeps<K: Runnable + PartialEq + 'static>() -> UseStateHandle<Vec<KeptOf<K>>> {
    let kept = use_state_eq(|| kept_sweeps::<K>().0);
    use_effect_with((), {
        let kept = kept.setter();
        move |()| {
            let (found, is_some_busy) = kept_sweeps::<K>();
            kept.set(found);
            let later = is_some_busy.then(|| Timeout::new(LOOK_AGAIN_MS, move || kept.set(kept_sweeps::<K>().0)));
            move || drop(later)
        }
    });
    kept
}

/// Sweeps that no page runs any more, the latest first, and whether some page may still run another one.
pub fn kept_sweeps<K: Runnable>() -> (Vec<KeptOf<K>>, bool) {
    let (mut found, mut is_some_busy) = (Vec::new(), false);
    let end = format!(".{}", K::HEAD);
    for head_key in storage::keys(PREFIX).iter().filter(|k| k.ends_with(&end)) {
        let id = head_key.trim_start_matches(PREFIX).trim_end_matches(&end);
        let beat = storage::read(&piece_key(id, "beat")).and_then(|text| text.parse::<f64>().ok());
        if beat.is_some_and(|beat| wall_ms() - beat < GONE_MS) {
            is_some_busy = true;
            continue;
        }
        let rows = storage::keys(&piece_key(id, "row.")).len();
        match storage::read(head_key).as_deref().and_then(KeptRequest::from_text) {
            Some(head) if rows > 0 => found.push(KeptOf { id: id.to_owned(), head, rows }),
            // No row had finished, or another build kept it whose pieces this build cannot read.
            _ => forget_pieces(id),
        }
    }
    found.order_by(|a, b| b.id.cmp(&a.id));
    // Unfinished sweeps are never removed without being asked; of the finished ones the latest are kept.
    let mut ended = 0;
    found.retain(|kept| {
        ended += usize::from(kept.head.is_done);
        let stays = !kept.head.is_done || ended <= MOST_ENDED;
        if !stays {
            kept.forget();
        }
        stays
    });
    (found, is_some_busy)
}
