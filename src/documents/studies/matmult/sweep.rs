//! The document of a sweep: the best case, heat maps of the array's utilisation, rates as lines, pitfalls that were found.

use indexmap::IndexMap;

use super::document::{CaseResult, finding};
use ns_base::Order;
use ns_base::units::format_share;
use ns_bench::matmult::{MatmultCase, MatmultReport, Pitfall};
use ns_view::document::{Block, Figure, Finding, Plot, Tile, Tone};
use ns_view::plot::{Bars, HeatMap, LineStyle, Lines, Series};

/// Most heat maps: more cannot be compared by eye; the table has all cases.
const MOST_MAPS: usize = 6;
/// Most lines that can be distinguished.
const MOST_LINES: usize = 8;
/// Most bars that fit a page.
const MOST_BARS: usize = 40;

/// An axis of a sweep: its title, the value of a case as text, and as a number if it is one.
struct Axis {
    title: &'static str,
    text: fn(&MatmultCase) -> String,
    number: Option<fn(&MatmultCase) -> u32>,
}

/// The axes in the order in which they become columns and then rows of a heat map.
const AXES: [Axis; 7] = [
    Axis { title: "Products in a call", text: |c| c.loop_count.to_string(), number: Some(|c| c.loop_count) },
    Axis { title: "Matrix size N", text: |c| c.matrix_dim.to_string(), number: Some(|c| c.matrix_dim) },
    Axis { title: "Shapes", text: |c| c.shapes.clone(), number: None },
    Axis { title: "Operator", text: |c| c.operator.clone().unwrap_or_default(), number: None },
    Axis { title: "Batch size", text: |c| c.batch_size.to_string(), number: Some(|c| c.batch_size) },
    Axis { title: "Format", text: |c| c.dtype().to_owned(), number: None },
    Axis { title: "Instance", text: |c| c.instance.clone(), number: None },
];

pub(super) fn blocks(done: &[CaseResult], total: usize) -> Vec<Block> {
    let reports: Vec<&MatmultReport> = done.iter().map(|d| &d.report).collect();
    let varying: Vec<&Axis> = AXES.iter().filter(|axis| values(axis, &reports).len() > 1).collect();
    let mut blocks = vec![Block::Tiles(tiles(&reports, total))];
    let of_operators = reports.iter().any(|r| r.case.operator.is_some());
    let maps = if of_operators { Vec::new() } else { maps(&varying, &reports) };
    if !maps.is_empty() {
        blocks.push(Block::Heading("Utilisation of the array".to_owned()));
        blocks.push(Block::Plots(maps));
    }
    blocks.extend(operators(&varying, &reports).map(Block::Plot));
    blocks.extend(lines(&varying, &reports).map(Block::Plot));
    let found = pitfalls(&reports);
    if !found.is_empty() {
        blocks.push(Block::Heading("Pitfalls that were found".to_owned()));
        blocks.extend(found);
    }
    blocks
}

/// The values of an axis in the order of the cases.
fn values(axis: &Axis, reports: &[&MatmultReport]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for report in reports {
        let value = (axis.text)(&report.case);
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

fn tiles(reports: &[&MatmultReport], total: usize) -> Vec<Tile> {
    let reached = |r: &&&MatmultReport| r.tops_computed.unwrap_or(0.0);
    let best = reports.iter().max_by(|a, b| reached(a).total_cmp(&reached(b)));
    let mut tiles = Vec::new();
    if let Some((best, tops)) = best.and_then(|r| Some((r, r.tops_computed?))) {
        let percent = best.peak_percent.unwrap_or(0.0);
        let note = format!("{} of the peak: {}", format_share(percent), best.case.label());
        let tile = Tile::new("Fastest case", format!("{tops:.2} TFLOPS"), note);
        tiles.push(Tile { share: Some(percent / 100.0), ..tile });
    }
    let failed = reports.iter().filter(|r| r.error.is_some()).count();
    tiles.push(Tile {
        name: "Cases".to_owned(),
        value: format!("{} of {total}", reports.len()),
        note: if failed > 0 { format!("{failed} could not be measured") } else { String::new() },
        tone: if failed > 0 { Tone::Warning } else { Tone::Neutral },
        ..Tile::default()
    });
    tiles
}

/// The values of a case on some axes, as words: `bf16, trn1.2xlarge`.
fn name_of<'a>(axes: impl Iterator<Item = &'a &'a Axis>, case: &MatmultCase) -> String {
    let words: Vec<String> =
        axes.map(|axis| {
            if axis.number.is_some() { format!("{} {}", axis.title, (axis.text)(case)) } else { (axis.text)(case) }
        })
        .collect();
    words.join(", ")
}

/// A heat map over the first two axes that vary, for each combination of the others.
fn maps(varying: &[&Axis], reports: &[&MatmultReport]) -> Vec<Figure> {
    let [columns_of, rows_of, others @ ..] = varying else { return Vec::new() };
    let (columns, rows) = (values(columns_of, reports), values(rows_of, reports));
    let mut groups: IndexMap<String, Vec<&MatmultReport>> = IndexMap::new();
    for report in reports {
        groups.entry(name_of(others.iter(), &report.case)).or_default().push(report);
    }
    let map = |(name, group): (String, Vec<&MatmultReport>)| {
        let at = |row: &String, column: &String| {
            let here = |c: &MatmultCase| (rows_of.text)(c) == *row && (columns_of.text)(c) == *column;
            group.iter().find(|r| here(&r.case)).and_then(|r| r.peak_percent)
        };
        let grid = rows.iter().map(|row| (row.clone(), columns.iter().map(|column| at(row, column)).collect()));
        let titles = [columns_of.title, rows_of.title, "% of the array\u{2019}s peak"];
        let title =
            if name.is_empty() { "Utilisation of the array".to_owned() } else { format!("Utilisation: {name}") };
        let plot = HeatMap::new(titles, columns.clone(), grid, (0.0, 100.0), |v| format!("{v:.1}"));
        Figure { title, note: String::new(), plot: Plot::HeatMap(plot) }
    };
    groups.into_iter().take(MOST_MAPS).map(map).collect()
}

/// Time of each operator on the device, as bars. Operators are compared by time, because few of them have products.
fn operators(varying: &[&Axis], reports: &[&MatmultReport]) -> Option<Figure> {
    let bar = |r: &&&MatmultReport| {
        let name = name_of(varying.iter(), &r.case);
        Some((name.clone(), name, r.device_s? * 1e3))
    };
    let bars: Vec<_> =
        reports.iter().filter(|r| r.case.operator.is_some()).take(MOST_BARS).filter_map(|r| bar(&r)).collect();
    (bars.len() > 1).then(|| Figure {
        title: "Time on the device".to_owned(),
        note: "Includes start-up and tear-down of the execution.".to_owned(),
        plot: Plot::Bars(Bars::new(bars), "ms".to_owned()),
    })
}

/// Rates over a varying number, with a line for each combination of the rest: over the size of the matrices if that varies.
fn lines(varying: &[&Axis], reports: &[&MatmultReport]) -> Option<Figure> {
    let mut numbers: Vec<&&Axis> = varying.iter().filter(|axis| axis.number.is_some()).collect();
    numbers.order_by_key(|axis| axis.title != "Matrix size N");
    let x = *numbers.first()?;
    let of = x.number?;
    let others: Vec<&Axis> = varying.iter().filter(|axis| axis.title != x.title).copied().collect();
    let mut groups: IndexMap<String, Vec<(f64, f64)>> = IndexMap::new();
    for report in reports {
        if let Some(tops) = report.tops_computed {
            let name = name_of(others.iter(), &report.case);
            groups.entry(name).or_default().push((f64::from(of(&report.case)), tops));
        }
    }
    let series =
        groups.into_iter().filter(|(_, points)| points.len() > 1).take(MOST_LINES).map(|(name, mut points)| {
            points.order_by(|a, b| a.0.total_cmp(&b.0));
            (if name.is_empty() { "TFLOPS".to_owned() } else { name }, LineStyle::Solid, points)
        });
    let series: Vec<Series> = series.collect();
    if series.is_empty() {
        return None;
    }
    let plot = plot_over(x.title, series);
    let mut letters = x.title.chars();
    let small: String = letters.next().map(|c| c.to_ascii_lowercase()).into_iter().chain(letters).collect();
    Some(Figure { title: format!("Rate by {small}"), note: String::new(), plot: Plot::Lines(plot) })
}

/// Lines over a number. If every value is at least twice the previous one, the axis is logarithmic, so that each value has
/// the same room.
fn plot_over(title: &str, series: Vec<Series>) -> Lines {
    let mut values: Vec<f64> = series.iter().flat_map(|(.., points)| points.iter().map(|p| p.0)).collect();
    values.order_by(f64::total_cmp);
    values.dedup();
    let doubles = values.len() > 2 && values.windows(2).all(|pair| pair[0] > 0.0 && pair[1] >= 2.0 * pair[0]);
    if !doubles {
        return Lines::new(title, "TFLOPS", series, true);
    }
    let names = values.iter().map(|v| (libm::log2(*v), v.to_string())).collect();
    let placed = series
        .into_iter()
        .map(|(name, style, points)| (name, style, points.into_iter().map(|(x, y)| (libm::log2(x), y)).collect()));
    Lines::new(&format!("{title} (logarithmic)"), "TFLOPS", placed, true).with_names(names, str::to_owned)
}

/// Each pitfall once, with the case in which it costs the most, then the failed cases.
fn pitfalls(reports: &[&MatmultReport]) -> Vec<Block> {
    let mut met: IndexMap<&'static str, (Pitfall, usize, f64, String)> = IndexMap::new();
    for report in reports {
        for found in &report.findings {
            let reached = report.tops_computed.unwrap_or(0.0);
            let cost = found.tops_without.map_or(0.0, |without| without / reached.max(f64::MIN_POSITIVE));
            let text = format!("{}: {}", report.case.label(), found.sentence);
            let entry = met.entry(found.pitfall.code()).or_insert_with(|| (found.pitfall, 0, cost, text.clone()));
            entry.1 += 1;
            if cost > entry.2 {
                (entry.2, entry.3) = (cost, text);
            }
        }
    }
    let met = met.into_values().map(|(pitfall, cases, _, text)| {
        let text = if cases > 1 { format!("Found in {cases} cases; it costs the most in {text}") } else { text };
        finding(pitfall, &text)
    });
    let failed = reports.iter().filter_map(|r| {
        let text = format!("{}: {}", r.case.label(), r.error.as_ref()?);
        Some(Block::Finding(Finding { tone: Tone::Bad, title: "Not measured.".to_owned(), text }))
    });
    met.chain(failed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(values: &[f64]) -> Lines {
        let points = values.iter().map(|v| (*v, v * 2.0)).collect();
        plot_over("Matrix size N", vec![("bf16".to_owned(), LineStyle::Solid, points)])
    }

    #[test]
    fn a_number_that_doubles_has_a_logarithmic_axis_with_its_own_values() {
        let plot = over(&[64.0, 128.0, 256.0, 1024.0]);
        assert_eq!(plot.x.title, "Matrix size N (logarithmic)");
        assert_eq!(plot.lines[0].points[3], (10.0, 2048.0));
        let ticks: Vec<&str> = plot.x.ticks.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(ticks, ["64", "128", "256", "1024"]);
        assert!(plot.describe(&plot.lines[0], (7.0, 256.0)).contains("(logarithmic) 128, TFLOPS 256"));
    }

    #[test]
    fn other_numbers_keep_their_distances() {
        for values in [&[256.0, 384.0, 512.0][..], &[64.0, 128.0]] {
            let plot = over(values);
            assert_eq!((plot.x.title.as_str(), plot.x.min), ("Matrix size N", 0.0));
        }
    }
}
