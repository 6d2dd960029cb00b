//! Plots as they stand in the page, without what a pointer does: drawings as SVG, grids of values as tables.

use crate::document::{Figure, Plot};
use crate::palette::fill_var;
use crate::plot::{Bars, Chart, HeatCell, HeatMap, Lane, Lanes, Pie, PieSlice, legend, to_svg};
use crate::svg::{escape, number};
use crate::text::exact_ns;
use ns_base::convert::usize_to_f64;
use ns_base::units::{format_number, format_percent};

/// Width of a plot: it fills its room.
const WIDTH: f64 = 560.0;
/// Height of a bar with its name.
const BAR: f64 = 34.0;

/// Writes a plot with its title and its note.
pub fn figure(out: &mut String, figure: &Figure) {
    out.push_str(&format!("<figure class=\"panel\"><figcaption>{}</figcaption>\n", escape(&figure.title)));
    let title = &figure.title;
    out.push_str(&match &figure.plot {
        Plot::Lines(plot) => chart(title, plot),
        Plot::Scatter(plot) => chart(title, plot),
        Plot::Roofline(plot) => chart(title, plot),
        Plot::Bars(plot, unit) => bars(title, plot, unit),
        Plot::Pie(plot, unit) => pie(title, plot, unit),
        Plot::Lanes(plot) => lanes(plot),
        Plot::HeatMap(plot) => heat_map(title, plot),
    });
    if !figure.note.is_empty() {
        out.push_str(&format!("<p class=\"note\">{}</p>", escape(&figure.note)));
    }
    out.push_str("</figure>\n");
}

/// An SVG drawing, and the words that a screen reader says of it.
fn drawing(view_box: &str, words: &str, content: &str) -> String {
    let words = escape(words);
    format!("<svg viewBox=\"{view_box}\" role=\"img\" aria-label=\"{words}\">{content}</svg>")
}

fn chart(title: &str, chart: &dyn Chart) -> String {
    let frame = chart.frame(Some(WIDTH));
    let plot = drawing(&frame.view_box(), &format!("{title}: {}", chart.summary()), &to_svg(&chart.shapes(&frame)));
    match legend(&chart.legend(&frame)) {
        items if items.is_empty() => plot,
        items => format!("{plot}<ul class=\"legend\">{items}</ul>"),
    }
}

fn bars(title: &str, plot: &Bars, unit: &str) -> String {
    let bar = |(i, bar): (usize, &crate::plot::Bar)| {
        let (top, width) = (BAR * usize_to_f64(i), (bar.share * WIDTH).max(1.0));
        let words = escape(&format!("{}: {} {unit}", bar.name, format_number(bar.value)));
        let (base, top, width) = (number(top + 12.0), number(top + 17.0), number(width));
        let fill = fill_var(bar.fill);
        format!(
            "<text x=\"0\" y=\"{base}\">{words}</text><rect x=\"0\" y=\"{top}\" width=\"{width}\" height=\"12\" rx=\"2\" fill=\"{fill}\"/>"
        )
    };
    let view_box = format!("0 0 {} {}", number(WIDTH), number(BAR * usize_to_f64(plot.bars.len().max(1))));
    let all: String = plot.bars.iter().enumerate().map(bar).collect();
    drawing(&view_box, &format!("{title}: {} bars; the table has the values", plot.bars.len()), &all)
}

fn pie(title: &str, plot: &Pie, unit: &str) -> String {
    let labels = plot.slices.iter().filter_map(PieSlice::label);
    let shapes: Vec<_> = plot.slices.iter().map(|slice| slice.shape(unit)).chain(labels).collect();
    let item = |slice: &PieSlice| {
        let (fill, words) = (fill_var(slice.fill), escape(&slice.words(unit)));
        format!("<li><span class=\"swatch\" style=\"background:{fill}\"></span>{words}</li>")
    };
    let items: String = plot.slices.iter().map(item).collect();
    let pie = drawing("-104 -104 208 208", &format!("{title}: {}", plot.describe()), &to_svg(&shapes));
    format!("<div class=\"pie\">{pie}<ul class=\"legend\">{items}</ul></div>")
}

fn lanes(plot: &Lanes) -> String {
    let lane = |lane: &Lane| {
        let mean = format_percent(lane.mean_percent);
        let words = format!("{}: {mean} of the time on average", lane.name);
        let area = drawing("0 0 1000 100", &words, &to_svg(&lane.shapes()));
        let area = area.replacen("<svg", "<svg preserveAspectRatio=\"none\"", 1);
        format!("<li><span>{}</span>{area}<span>{mean}</span></li>", escape(&lane.name))
    };
    let all: String = plot.lanes.iter().map(lane).collect();
    let (start, end) = (exact_ns(plot.start_ns), exact_ns(plot.end_ns));
    format!("<ul class=\"lanes\">{all}</ul><p class=\"note\">{start} to {end}</p>")
}

/// A table: cells are darker the larger their values are.
fn heat_map(title: &str, plot: &HeatMap) -> String {
    let cell = |cell: &Option<HeatCell>| match cell {
        Some(cell) => {
            let (share, text) = (cell.share * 100.0, escape(&cell.text));
            format!("<td class=\"number\" style=\"--share:{share:.1}%\">{text}</td>")
        }
        None => "<td class=\"number\">-</td>".to_owned(),
    };
    let columns: String = plot.columns.iter().map(|name| format!("<th scope=\"col\">{}</th>", escape(name))).collect();
    let row = |row: &crate::plot::HeatRow| {
        let cells: String = row.cells.iter().map(cell).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(&row.name))
    };
    let rows: String = plot.rows.iter().map(row).collect();
    let (name, corner) = (escape(title), escape(&format!("{} \\ {}", plot.y_title, plot.x_title)));
    let unit = escape(&plot.value_title);
    format!(
        "<div class=\"scroll heat-map\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">\n<table>\n<caption class=\"note\">{unit}</caption>\n<thead><tr><th scope=\"col\">{corner}</th>{columns}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::RooflinePlot;

    fn html(plot: Plot) -> String {
        let mut out = String::new();
        figure(&mut out, &Figure { title: "a < b".to_owned(), plot, note: String::new() });
        out
    }

    #[test]
    fn every_kind_of_plot_is_drawn_with_its_words() {
        let pie = html(Plot::Pie(Pie::new([("dot".to_owned(), 3.0), ("add".to_owned(), 1.0)]), "ns".to_owned()));
        assert!(pie.contains("aria-label=\"a &lt; b: dot 75.0 %, add 25.0 %\"><path class=\"slice\""), "{pie}");
        assert!(pie.contains(">75.0 %</text>") && pie.contains("</span>add: 1 ns, 25.0 %</li>"), "{pie}");
        let lanes = html(Plot::Lanes(Lanes::new(0, 100, [("DMA".to_owned(), vec![50.0, 0.0])])));
        assert!(
            lanes.contains("aria-label=\"DMA: 25.0 % of the time on average\"") && lanes.contains("M0 100V50H500V100Z"),
            "{lanes}"
        );
        let roof = html(Plot::Roofline(RooflinePlot::new(100.0, 10.0, [("total".to_owned(), Some(1.0), 5.0)])));
        assert!(roof.contains("<title>total: 1") && roof.contains(">ridge 10.0</text>"), "{roof}");
        let map = HeatMap::new(
            ["Models", "Batch", "ms"],
            vec!["1".to_owned(), "2".to_owned()],
            [("<b>".to_owned(), vec![Some(1.0), None])],
            (0.0, 2.0),
            |v| v.to_string(),
        );
        let map = html(Plot::HeatMap(map));
        assert!(map.contains("<th scope=\"row\">&lt;b&gt;</th><td class=\"number\" style=\"--share:50.0%\">1</td><td class=\"number\">-</td>"), "{map}");
    }
}
