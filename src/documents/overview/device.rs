//! The main numbers of a device profile: the figures of the file's own summary, or those of its rows where it has none.

use super::document::{Context, percent};
use ns_analysis::device::FileSummary;
use ns_base::units::{format_number, format_share};
use ns_profile::device::{DeviceEngine, DeviceTimes};
use ns_view::document::Tile;

/// The tiles; empty for other profiles.
pub(super) fn tiles(c: &Context<'_>) -> Vec<Tile> {
    let Some(times) = &c.found.device else { return Vec::new() };
    let figures = Figures { c, times, summary: FileSummary::of(c.profile) };
    let total = figures.time("total_active_time", times.total_active_ns);
    let mut tiles = vec![figures.active("Active", total, None)];
    tiles.extend(figures.idle_head());
    for engine in DeviceEngine::ALL {
        let rows = times.engine_active_ns[engine as usize];
        let active = figures.time(&format!("{}_engine_active_time", engine.key()), rows);
        tiles.push(figures.active(&format!("{} active", engine.name()), active, Some(total)));
    }
    tiles.push(figures.active("DMA active", figures.time("dma_active_time", times.dma_active_ns), Some(total)));
    tiles.extend(figures.throttle(total));
    tiles.extend(figures.rate("MFU", "mfu_estimated_percent"));
    tiles.extend(figures.rate("MBU", "mbu_estimated_percent"));
    tiles
}

struct Figures<'a> {
    c: &'a Context<'a>,
    times: &'a DeviceTimes,
    summary: Option<FileSummary>,
}

impl Figures<'_> {
    /// A time of the summary, in ns; that of the rows if the summary has none.
    fn time(&self, key: &str, rows_ns: i64) -> i64 {
        self.summary.as_ref().and_then(|s| s.ns(key)).unwrap_or(rows_ns)
    }

    fn active(&self, name: &str, ns: i64, of: Option<i64>) -> Tile {
        let source = if self.summary.is_some() { "the file\u{2019}s summary" } else { "worked out from the rows" };
        let (share, note) = match of.filter(|of| *of > 0) {
            Some(of) => (Some((percent(ns, of) / 100.0).min(1.0)), format!("{} of the active time", share(ns, of))),
            None => (None, format!("any engine or DMA queue; {source}")),
        };
        Tile { share, ..Tile::new(name, self.c.text(ns), note) }
    }

    fn idle_head(&self) -> Option<Tile> {
        let ns = self.times.idle_head_ns;
        let note = "until the host starts the work; counted as neither work nor gap".to_owned();
        (ns > 0).then(|| Tile::new("Idle head", self.c.text(ns), note))
    }

    fn throttle(&self, total: i64) -> Option<Tile> {
        let (ns, limit) = self.summary.as_ref()?.throttle()?;
        let limit = limit
            .map_or_else(String::new, |l| format!("; the tensor engine is limited to {} %", format_number(l * 100.0)));
        let note = format!("{} of the active time{limit}", share(ns, total));
        Some(Tile::new("Throttled", self.c.text(ns), note))
    }

    fn rate(&self, name: &str, key: &str) -> Option<Tile> {
        let (rate, of_active) = self.summary.as_ref()?.rate(key, self.times)?;
        let note = of_active.map_or_else(
            || "of the total time".to_owned(),
            |r| format!("of the total time with its idle head; {} % of the active time", format_number(r * 100.0)),
        );
        let value = format!("{} %", format_number(rate * 100.0));
        Some(Tile { share: Some(rate.clamp(0.0, 1.0)), ..Tile::new(name, value, note) })
    }
}

fn share(ns: i64, of: i64) -> String {
    format_share(percent(ns, of))
}
