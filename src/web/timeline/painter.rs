//! Paints a display list on a canvas.

use web_sys::CanvasRenderingContext2d;

use crate::view::palette::Theme;
use crate::view::timeline::{Align, Command, DisplayList, Label, Rect};

pub(super) const FONT: &str = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const BOLD_FONT: &str = "600 11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

/// Paints everything, for a screen with `dpr` device pixels to a pixel.
pub fn paint(context: &CanvasRenderingContext2d, list: &DisplayList, theme: Theme, dpr: f64) {
    // Neither can fail with finite numbers.
    let _ = context.set_transform(dpr, 0.0, 0.0, dpr, 0.0, 0.0);
    context.set_text_baseline("middle");
    context.set_font(FONT);
    let mut is_bold = false;
    for command in &list.commands {
        match command {
            Command::Clip(r) => {
                context.save();
                context.begin_path();
                context.rect(r.x, r.y, r.w, r.h);
                context.clip();
            }
            Command::Unclip => {
                context.restore();
                is_bold = false;
                context.set_font(FONT);
            }
            Command::Rects(paint, rects) => {
                context.set_fill_style_str(paint.css(theme));
                for Rect { x, y, w, h } in rects {
                    context.fill_rect(*x, *y, *w, *h);
                }
            }
            Command::Frame(paint, r, width) => {
                context.set_stroke_style_str(paint.css(theme));
                context.set_line_width(*width);
                context.stroke_rect(r.x, r.y, r.w, r.h);
            }
            Command::Polygon(paint, points) => {
                context.set_fill_style_str(paint.css(theme));
                polygon(context, points);
            }
            Command::Text(label) => {
                if label.bold != is_bold {
                    is_bold = label.bold;
                    context.set_font(if is_bold { BOLD_FONT } else { FONT });
                }
                text(context, label, theme);
            }
        }
    }
}

fn polygon(context: &CanvasRenderingContext2d, points: &[(f64, f64)]) {
    context.begin_path();
    for (i, (x, y)) in points.iter().enumerate() {
        if i == 0 {
            context.move_to(*x, *y);
        } else {
            context.line_to(*x, *y);
        }
    }
    context.fill();
}

fn text(context: &CanvasRenderingContext2d, label: &Label, theme: Theme) {
    context.set_fill_style_str(label.paint.css(theme));
    context.set_text_align(match label.align {
        Align::Start => "left",
        Align::Middle => "center",
    });
    // Widths were estimated; what is wider after all is set a little tighter by the browser.
    let _ = context.fill_text_with_max_width(&label.text, label.x, label.y + 0.5, label.max_width.max(1.0));
}
