//! Changes of the newest run, ranked by time and by share.

use super::super::compare::{CellComparison, LEAST_CHANGE, Status, compare, runs_of};
use super::super::record_filter::RecordFilter;
use super::super::text::{moment, number, table, word};
use super::super::view_input::ViewInput;
use super::finding;
use ns_base::Order;
use ns_base::convert::f64_to_usize;
use ns_view::document::{Block, Document, Tile, Tone};
use ns_view::table::{Cell, ColumnKind};

pub fn document(input: &ViewInput<'_>) -> Document {
    let title = format!("What the newest run changed in times of {}", input.metric_text());
    let Some((base, now)) = runs_of(input) else {
        let text =
            "Records of one run share a timestamp. Add the file of another run, or choose another run to compare with.";
        return Document {
            title,
            blocks: vec![finding(Tone::Warning, "There is no second run to compare with.", text)],
        };
    };
    let cells = compare(input);
    let about = format!(
        "The run of {} against that of {} (UTC). A cell is a model with a backend at a batch size. It improved or regressed when the 95 % confidence interval of the ratio of its times leaves out 1, and it changed by more than {} %, or, from four earlier runs on, by more than three robust deviations between runs.",
        moment(now),
        moment(base),
        LEAST_CHANGE * 100.0
    );
    let mut blocks = vec![Block::Text(about), Block::Tiles(tiles(&cells))];
    blocks.extend(unlike(&cells));
    blocks.push(rows(&cells, "Cells, those that need attention first"));
    Document { title, blocks }
}

/// The number of cells with each status.
pub fn tiles(cells: &[CellComparison]) -> Vec<Tile> {
    let count = |status: Status| cells.iter().filter(|c| c.status == status).count();
    let tile = |status: Status| {
        let n = count(status);
        let tone = match status {
            Status::NowFailing | Status::Regressed | Status::Gone if n > 0 => Tone::Bad,
            Status::Improved | Status::NowPassing if n > 0 => Tone::Good,
            _ => Tone::Neutral,
        };
        let name = status.text();
        let name = name[..1].to_uppercase() + &name[1..];
        let note = format!("of {} cells", cells.len());
        (n > 0 || matches!(status, Status::Regressed | Status::Improved | Status::WithinNoise)).then(|| Tile {
            name,
            value: n.to_string(),
            note,
            tone,
            share: None,
        })
    };
    Status::ALL.into_iter().filter_map(tile).collect()
}

fn unlike(cells: &[CellComparison]) -> Option<Block> {
    let unlike: Vec<String> = cells
        .iter()
        .filter(|c| c.remark.starts_with("different batch sizes"))
        .map(|c| format!("{} with {} at batch size {} ({})", c.model, c.backend.title(), c.batch, c.remark))
        .collect();
    (!unlike.is_empty()).then(|| {
        finding(Tone::Warning, "Batch sizes differ, so these times are not compared.", unlike.join("; ") + ".")
    })
}

/// Cells as rows that open their records.
pub fn rows(cells: &[CellComparison], title: &str) -> Block {
    let mut rows = table(&[
        ("model", "Model", ColumnKind::Text),
        ("backend", "Backend", ColumnKind::Text),
        ("status", "Status", ColumnKind::Text),
        ("history", "Run by run", ColumnKind::Text),
        ("batch_size", "Batch size", ColumnKind::Text),
        ("base_ms", "Then (ms)", ColumnKind::Number),
        ("now_ms", "Now (ms)", ColumnKind::Number),
        ("change_ms", "Change (ms)", ColumnKind::Number),
        ("change_percent", "Change (%)", ColumnKind::Number),
        ("low95_percent", "95 % low (%)", ColumnKind::Number),
        ("high95_percent", "95 % high (%)", ColumnKind::Number),
        ("noise_percent", "Noise (%)", ColumnKind::Number),
        ("rank_ms", "Rank by time", ColumnKind::Count),
        ("rank_percent", "Rank by share", ColumnKind::Count),
        ("remark", "Remark", ColumnKind::Text),
    ]);
    let by_time = ranks(cells, |c| c.ratio.map(|_| c.seconds().abs()));
    let by_share = ranks(cells, |c| c.ratio.map(|r| (r - 1.0).abs()));
    for (i, cell) in cells.iter().enumerate() {
        let ms = |t: Option<super::super::entry::MeanTime>| number(t.map(|t| t.measure.avg * 1e3));
        let percent = |ratio: Option<f64>| number(ratio.map(|r| (r - 1.0) * 100.0));
        rows.rows.push(vec![
            word(&cell.model),
            word(cell.backend.title()),
            word(cell.status.text()),
            word(sparkline(&cell.history)),
            word(&cell.batch),
            ms(cell.base),
            ms(cell.now),
            number(cell.ratio.map(|_| cell.seconds() * 1e3)),
            percent(cell.ratio),
            percent(cell.interval.map(|i| i.0)),
            percent(cell.interval.map(|i| i.1)),
            number(cell.ratio.map(|_| cell.noise * 100.0)),
            by_time[i].clone(),
            by_share[i].clone(),
            word(&cell.remark),
        ]);
    }
    // What no cell has takes no room.
    if cells.iter().all(|cell| cell.remark.is_empty()) {
        rows.columns.pop();
        for row in &mut rows.rows {
            row.pop();
        }
    }
    let target = |c: &CellComparison| RecordFilter::of(Some(&c.model), Some(c.backend.name()), None);
    let targets = cells.iter().map(target).collect();
    Block::Rows { title: title.to_owned(), file: "changes".to_owned(), table: rows, targets, faint: Vec::new() }
}

/// Times from run to run as columns of characters; empty for fewer than two. The whole height is the range of the times, and at least a
/// tenth of the longest, so that noise stays flat.
fn sparkline(times: &[f64]) -> String {
    const COLUMNS: [char; 8] =
        ['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];
    const MOST: usize = 16;
    let times = &times[times.len().saturating_sub(MOST)..];
    let longest = times.iter().copied().fold(0.0, f64::max);
    if times.len() < 2 || longest <= 0.0 {
        return String::new();
    }
    let shortest = times.iter().copied().fold(longest, f64::min);
    let range = (longest - shortest).max(longest / 10.0);
    let column = |time: &f64| {
        let place = f64_to_usize(libm::round(7.0 - (longest - time) / range * 7.0));
        COLUMNS[place.min(COLUMNS.len() - 1)]
    };
    times.iter().map(column).collect()
}

/// Ranks by size, from 1; empty for a cell without a size.
fn ranks(cells: &[CellComparison], size: impl Fn(&CellComparison) -> Option<f64>) -> Vec<Cell> {
    let mut order: Vec<(usize, f64)> = cells.iter().enumerate().filter_map(|(i, c)| Some((i, size(c)?))).collect();
    order.order_by(|a, b| b.1.total_cmp(&a.1));
    let mut ranks = vec![Cell::Missing; cells.len()];
    for (rank, (i, _)) in order.into_iter().enumerate() {
        ranks[i] = Cell::Count(rank as u64 + 1);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_shows_a_tenth_and_ends_with_the_newest_run() {
        assert_eq!(sparkline(&[1.0, 2.0, 0.0]), "\u{2585}\u{2588}\u{2581}");
        assert_eq!(sparkline(&[1.0, 0.9, 1.0]), "\u{2588}\u{2581}\u{2588}");
        assert_eq!(sparkline(&[1.0, 0.995, 0.98]), "\u{2588}\u{2588}\u{2587}");
        assert_eq!(sparkline(&[200.0, 100.0, 150.0]), "\u{2588}\u{2581}\u{2585}");
        assert_eq!([sparkline(&[]), sparkline(&[1.0]), sparkline(&[0.0, 0.0])], ["", "", ""]);
        assert_eq!(sparkline(&[1.0; 40]).chars().count(), 16);
    }
}
