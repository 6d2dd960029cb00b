//! A scene as SVG: inside a page, whose style sheet has the colours, and as a separate file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::layout::{HEAD, LETTER, PAD, SMALL_LETTER};
use super::{GraphScene, Link, Look, ModuleGraph, NodeBox};
use crate::svg::{escape, number};

/// The nodes that are highlighted in a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub selected: Option<u32>,
    /// Nodes that a search found, and closed modules that hold one.
    pub found: BTreeSet<u32>,
}

/// Style sheet of a file: a page has its own.
const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#18202a}.note{font-size:10px;fill:#52606f}\
.box{fill:#fff;stroke:#8794a3}.open>.box{fill:#f5f7fa}.value>.box{fill:#e8f5ec}.estimate>.box{stroke:#a3241c;stroke-dasharray:4 2}.refused>.box{stroke:#a3241c;stroke-width:2.5}\
.heat{fill:#ee8866}.link{fill:none;stroke:#8794a3}.link.up{stroke-dasharray:4 3}.selected>.box{stroke:#0b5cad;stroke-width:3}\
.found>.box{stroke:#0b5cad;stroke-width:2}.sheet{fill:#fff}";

/// Room around a picture in a file.
const BORDER: f64 = 12.0;

/// The whole picture as the text of a file.
pub fn svg_document(graph: &ModuleGraph, scene: &GraphScene, title: &str) -> String {
    let (w, h) = (number(scene.width + 2.0 * BORDER), number(scene.height + 2.0 * BORDER));
    let title = escape(title);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"-{BORDER} -{BORDER} {w} {h}\" role=\"img\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"sheet\" x=\"-{BORDER}\" y=\"-{BORDER}\" width=\"{w}\" height=\"{h}\"/>\n"
    );
    content(&mut out, graph, scene, &Marks::default());
    out.push_str("</svg>\n");
    out
}

/// The picture for a page: one element that the page moves by its `transform`.
pub fn svg_fragment(graph: &ModuleGraph, scene: &GraphScene, marks: &Marks) -> String {
    let mut out = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" aria-hidden=\"true\" width=\"100%\" height=\"100%\"><g>",
    );
    content(&mut out, graph, scene, marks);
    out.push_str("</g></svg>");
    out
}

fn content(out: &mut String, graph: &ModuleGraph, scene: &GraphScene, marks: &Marks) {
    // Frames lie below edges, and edges below nodes.
    for frame in scene.boxes.iter().filter(|b| b.is_open) {
        node(out, graph, frame, marks);
    }
    for link in &scene.links {
        path(out, link);
    }
    for closed in scene.boxes.iter().filter(|b| !b.is_open) {
        node(out, graph, closed, marks);
    }
}

fn node(out: &mut String, graph: &ModuleGraph, place: &NodeBox, marks: &Marks) {
    let Some(node) = graph.nodes().get(place.node as usize) else { return };
    let mut class = String::from(match node.look {
        Look::Module => "module",
        Look::Operator => "operator",
        Look::Estimate => "operator estimate",
        Look::Refused => "operator refused",
        Look::Value => "value",
    });
    for (is, name) in [
        (place.is_open, " open"),
        (!place.is_open && !node.children.is_empty(), " closed"),
        (marks.selected == Some(place.node), " selected"),
        (marks.found.contains(&place.node), " found"),
    ] {
        if is {
            class.push_str(name);
        }
    }
    let (x, y, w, h) = (number(place.x), number(place.y), number(place.width), number(place.height));
    let radius = if node.look == Look::Value { "12" } else { "4" };
    let _ = write!(
        out,
        "<g class=\"{class}\" data-node=\"{}\"><title>{}</title><rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{radius}\"/>",
        place.node,
        escape(&node.id)
    );
    let heat = node.heat.clamp(0.0, 1.0);
    if heat > 0.005 {
        // A bar as long as the share of the time, and a tint: two ways to show the same value.
        let _ = write!(
            out,
            "<rect class=\"heat\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"4\"/>",
            number(place.width * heat)
        );
        if !place.is_open {
            let tint = number(0.08 + 0.4 * heat);
            let _ = write!(
                out,
                "<rect class=\"heat\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{radius}\" fill-opacity=\"{tint}\"/>"
            );
        }
    }
    texts(out, &node.title, &node.note, place, !node.children.is_empty());
    out.push_str("</g>");
}

fn texts(out: &mut String, title: &str, note: &str, place: &NodeBox, opens: bool) {
    let sign = match (opens, place.is_open) {
        (false, _) => "",
        (true, true) => "\u{2212} ",
        (true, false) => "+ ",
    };
    let room = place.width - 2.0 * PAD;
    let x = number(place.x + PAD);
    if place.is_open {
        let line = format!("{sign}{title}");
        let y = number(place.y + HEAD - 10.0);
        let _ = write!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>", escape(&cut(&line, room, LETTER)));
        return;
    }
    let title = cut(&format!("{sign}{title}"), room + PAD, LETTER);
    let _ = write!(out, "<text x=\"{x}\" y=\"{}\">{}</text>", number(place.y + 18.0), escape(&title));
    let note = cut(note, room + PAD, SMALL_LETTER);
    let _ = write!(out, "<text class=\"note\" x=\"{x}\" y=\"{}\">{}</text>", number(place.y + 32.0), escape(&note));
}

/// A text that fits, cut in its middle, because names differ at their beginnings and ends.
fn cut(text: &str, room: f64, letter: f64) -> String {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few dozen letters")]
    let fits = (room / letter).max(3.0) as usize;
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= fits {
        return text.to_owned();
    }
    let front = (fits - 1) * 2 / 3;
    let back = fits - 1 - front;
    letters[..front].iter().chain(&['\u{2026}']).chain(&letters[letters.len() - back..]).collect()
}

/// A line with rounded bends, which leaves and arrives vertically.
fn path(out: &mut String, link: &Link) {
    let Some(&(x, y)) = link.points.first() else { return };
    let up = if link.goes_up { " up" } else { "" };
    let _ = write!(out, "<path class=\"link{up}\" d=\"M{} {}", number(x), number(y));
    for pair in link.points.windows(2) {
        let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
        let middle = number((ay + by) / 2.0);
        let _ = write!(out, "C{} {middle} {} {middle} {} {}", number(ax), number(bx), number(bx), number(by));
    }
    out.push_str("\"/>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphNode, lay_out};

    #[test]
    fn names_of_files_are_text_and_long_ones_are_cut() {
        let mut graph = ModuleGraph::new(GraphNode::default());
        let title = "<script>".repeat(10);
        graph.push(0, GraphNode { id: "a\"b".to_owned(), title, ..GraphNode::default() });
        let scene = lay_out(&graph, &BTreeSet::from([0]));
        let svg = svg_fragment(&graph, &scene, &Marks::default());
        assert!(svg.contains("<title>a&quot;b</title>") && !svg.contains("<script"), "{svg}");
        assert_eq!(cut("abcdefghij", 35.0, 7.0), "ab\u{2026}ij");
    }
}
