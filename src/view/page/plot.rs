//! Plots as SVG with their texts: points, lines and bars are drawn; other kinds of plot become tables.

use super::table::table;
use crate::document::{Figure, Plot};
use crate::palette::fill_var;
use crate::plot::{Axis, Bars, LineStyle, Lines, Scatter};
use crate::svg::{escape, number};
use crate::table::{Cell, Column, ColumnKind, Table};
use ns_base::convert::usize_to_f64;
use ns_base::units::format_number;

/// Size of a plot, and the room around its area: at the left, the right, the top, below.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const BELOW: f64 = 38.0;
/// Height of a bar with its name.
const BAR: f64 = 34.0;

/// Writes a plot with its title and its note.
pub(super) fn figure(out: &mut String, figure: &Figure) {
    out.push_str(&format!("<figure class=\"panel\"><figcaption>{}</figcaption>\n", escape(&figure.title)));
    match &figure.plot {
        Plot::Scatter(plot) => scatter(out, &figure.title, plot),
        Plot::Lines(plot) => lines(out, &figure.title, plot),
        Plot::Bars(plot, unit) => bars(out, &figure.title, plot, unit),
        other => table(out, &figure.title, &values(other)),
    }
    if !figure.note.is_empty() {
        out.push_str(&format!("<p class=\"note\">{}</p>", escape(&figure.note)));
    }
    out.push_str("</figure>\n");
}

fn at_x(axis: &Axis, value: f64) -> f64 {
    LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)
}

fn at_y(axis: &Axis, value: f64) -> f64 {
    HEIGHT - BELOW - axis.share(value) * (HEIGHT - TOP - BELOW)
}

fn begin(out: &mut String, title: &str, height: f64, said: &str) {
    out.push_str(&format!(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}: {}\">",
        number(WIDTH),
        number(height),
        escape(title),
        escape(said)
    ));
}

/// Both axes with their ticks and titles.
fn axes(out: &mut String, x: &Axis, y: &Axis) {
    let (bottom, right) = (HEIGHT - BELOW, WIDTH - RIGHT);
    for tick in &y.ticks {
        let at = number(at_y(y, tick.value));
        out.push_str(&format!("<path class=\"axis\" d=\"M{LEFT},{at}H{right}\"/><text x=\"{}\" y=\"{at}\" dy=\"4\" text-anchor=\"end\">{}</text>", LEFT - 6.0, escape(&tick.label)));
    }
    for tick in &x.ticks {
        let at = number(at_x(x, tick.value));
        out.push_str(&format!(
            "<path class=\"axis\" d=\"M{at},{bottom}v4\"/><text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            escape(&tick.label)
        ));
    }
    out.push_str(&format!(
        "<text x=\"{right}\" y=\"{}\" text-anchor=\"end\">{}</text>",
        HEIGHT - 5.0,
        escape(&x.title)
    ));
    out.push_str(&format!(
        "<text x=\"{LEFT}\" y=\"{}\">{}</text>",
        HEIGHT - 5.0,
        escape(&format!("\u{2191} {}", y.title))
    ));
}

fn legend<'a>(out: &mut String, entries: impl Iterator<Item = (&'a str, u8)>) {
    out.push_str("<ul class=\"legend\">");
    for (name, fill) in entries {
        out.push_str(&format!(
            "<li><span class=\"swatch\" style=\"background:{}\"></span>{}</li>",
            fill_var(fill),
            escape(name)
        ));
    }
    out.push_str("</ul>");
}

fn scatter(out: &mut String, title: &str, plot: &Scatter) {
    begin(out, title, HEIGHT, &format!("{} points; the table has the values", plot.points.len()));
    axes(out, &plot.x, &plot.y);
    let at = |x: f64, y: f64| (LEFT + x * (WIDTH - LEFT - RIGHT), HEIGHT - BELOW - y * (HEIGHT - TOP - BELOW));
    plot.shapes(at).iter().for_each(|shape| shape.write(out));
    out.push_str("</svg>");
    legend(out, plot.series.iter().map(|(name, fill, _)| (name.as_str(), *fill)));
}

fn lines(out: &mut String, title: &str, plot: &Lines) {
    begin(out, title, HEIGHT, &format!("{} lines", plot.lines.len()));
    axes(out, &plot.x, &plot.y);
    for line in &plot.lines {
        let points: Vec<String> = line
            .points
            .iter()
            .map(|(x, y)| format!("{},{}", number(at_x(&plot.x, *x)), number(at_y(&plot.y, *y))))
            .collect();
        let class = if line.style == LineStyle::Dashed { " class=\"dashed\"" } else { "" };
        let (points, color) = (points.join(" "), fill_var(line.fill));
        out.push_str(&format!("<polyline{class} points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"><title>{}</title></polyline>", escape(&line.name)));
    }
    out.push_str("</svg>");
    legend(out, plot.lines.iter().map(|line| (line.name.as_str(), line.fill)));
}

fn bars(out: &mut String, title: &str, plot: &Bars, unit: &str) {
    let height = BAR * usize_to_f64(plot.bars.len());
    begin(out, title, height.max(BAR), &format!("{} bars; the table has the values", plot.bars.len()));
    for (i, bar) in plot.bars.iter().enumerate() {
        let (top, width) = (BAR * usize_to_f64(i), (bar.share * WIDTH).max(1.0));
        let said = escape(&format!("{}: {} {unit}", bar.name, format_number(bar.value)));
        out.push_str(&format!("<text x=\"0\" y=\"{}\">{said}</text><rect x=\"0\" y=\"{}\" width=\"{}\" height=\"12\" rx=\"2\" fill=\"{}\"/>", number(top + 12.0), number(top + 17.0), number(width), fill_var(bar.fill)));
    }
    out.push_str("</svg>");
}

/// A table with the values of a plot that is not drawn here.
fn values(plot: &Plot) -> Table {
    let named = |rows: Vec<(String, f64)>, unit: &str| Table {
        columns: vec![Column::new("name", "Name", ColumnKind::Text), Column::new("value", unit, ColumnKind::Number)],
        rows: rows.into_iter().map(|(name, value)| vec![Cell::Text(name), Cell::Number(value)]).collect(),
    };
    match plot {
        Plot::Pie(pie, unit) => named(pie.slices.iter().map(|s| (s.name.clone(), s.value)).collect(), unit),
        Plot::Lanes(lanes) => named(lanes.lanes.iter().map(|l| (l.name.clone(), l.mean_percent)).collect(), "Mean (%)"),
        Plot::Roofline(roofline) => {
            named(roofline.points.iter().map(|p| (p.name.clone(), p.rate)).collect(), "Rate (flop/s)")
        }
        Plot::HeatMap(map) => {
            let cells = |row: &crate::plot::HeatRow| -> Vec<(String, f64)> {
                let cell = |(column, cell): (&String, &Option<crate::plot::HeatCell>)| {
                    Some((format!("{}, {column}", row.name), cell.as_ref()?.value))
                };
                map.columns.iter().zip(&row.cells).filter_map(cell).collect()
            };
            named(map.rows.iter().flat_map(cells).collect(), &map.value_title)
        }
        Plot::Scatter(plot) => named(plot.points.iter().map(|p| (p.label.clone(), p.y)).collect(), &plot.y.title),
        Plot::Bars(plot, unit) => named(plot.bars.iter().map(|b| (b.name.clone(), b.value)).collect(), unit),
        Plot::Lines(plot) => {
            let of = |line: &crate::plot::Line| -> Vec<(String, f64)> {
                line.points.iter().map(|(x, y)| (format!("{}, {x}", line.name), *y)).collect()
            };
            named(plot.lines.iter().flat_map(of).collect(), &plot.y.title)
        }
    }
}
