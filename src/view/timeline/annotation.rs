//! Marks and labelled ranges that the user puts on the timeline, and the time between them.

use serde::{Deserialize, Serialize};

use super::display_list::{Align, Command, DisplayList, Label, Rect};
use super::scene::TimelineScene;
use crate::palette::Paint;
use crate::text::fit;
use ns_base::convert::{usize_to_f64, usize_to_u8};
use ns_base::{Interval, TraceNs};

/// A mark, or a range if start and end differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// Its time or start, nanoseconds from the origin of the profile.
    pub start_ns: i64,
    /// Its end; equal to the start for a mark.
    pub end_ns: i64,
    pub label: String,
}

impl Annotation {
    /// Whether it has a length.
    pub const fn is_range(&self) -> bool {
        self.start_ns != self.end_ns
    }

    pub const fn span(&self) -> Interval<TraceNs> {
        Interval { start: TraceNs(self.start_ns), end: TraceNs(self.end_ns) }
    }
}

/// The first name that no annotation has yet: A, B, ... Z, A1, B1, ...
pub fn next_label(annotations: &[Annotation]) -> String {
    let name = |i: usize| {
        let letter = char::from(b'A' + usize_to_u8(i % 26));
        if i < 26 { letter.to_string() } else { format!("{letter}{}", i / 26) }
    };
    (0..=annotations.len()).map(name).find(|n| annotations.iter().all(|a| a.label != *n)).unwrap_or_default()
}

/// Paints flags in the ruler, and lines and bands through the tracks.
pub(super) fn paint_annotations(scene: &TimelineScene<'_>, list: &mut DisplayList) {
    let m = scene.metrics;
    let width = scene.view.width_px();
    for a in scene.overlay.annotations {
        let (left, right) = (scene.view.x_of(a.start_ns), scene.view.x_of(a.end_ns));
        if right < -80.0 || left > width {
            continue;
        }
        let (x, end) = (m.gutter + left.clamp(-2.0, width), m.gutter + right.clamp(-2.0, width + 2.0));
        list.commands.push(Command::Clip(Rect::new(m.gutter, 0.0, width, scene.height)));
        if a.is_range() {
            list.rect(Paint::Range, Rect::new(x, m.ruler, (end - x).max(1.0), scene.height - m.ruler));
            list.rect(Paint::Accent, Rect::new(x, m.ruler - 3.0, (end - x).max(1.0), 3.0));
            list.rect(Paint::Accent, Rect::new(end - 1.0, 0.0, 1.0, scene.height));
        }
        list.rect(Paint::Accent, Rect::new(x, 0.0, 1.0, scene.height));
        if let Some(text) = fit(&a.label, 140.0, m.char_px) {
            let w = usize_to_f64(text.chars().count()) * m.char_px + 8.0;
            list.rect(Paint::Accent, Rect::new(x, 0.0, w, 13.0));
            list.text(Label {
                x: x + 4.0,
                y: 6.5,
                text,
                paint: Paint::OnAccent,
                align: Align::Start,
                bold: true,
                max_width: w - 6.0,
            });
        }
        list.commands.push(Command::Unclip);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_letters_that_are_free() {
        let at = |label: &str| Annotation { start_ns: 0, end_ns: 0, label: label.to_owned() };
        assert_eq!(next_label(&[]), "A");
        assert_eq!(next_label(&[at("B"), at("A")]), "C");
        assert_eq!(next_label(&[at("B")]), "A");
        let all: Vec<Annotation> = (b'A'..=b'Z').map(|c| at(&char::from(c).to_string())).collect();
        assert_eq!(next_label(&all), "A1");
    }
}
