//! Paints a display list on a canvas.

use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use ns_base::convert::usize_to_f64;
use ns_view::palette::{Paint, Theme};
use ns_view::timeline::{Align, Command, DisplayList, Label, Rect, Strip};

pub(super) const FONT: &str = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const BOLD_FONT: &str = "600 11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

/// Paints everything, for a screen with `dpr` device pixels per pixel, but texts on slices only until `text_ms` have passed:
/// a browser is slow the first time it draws a text. Returns whether everything is painted.
pub fn paint(
    context: &CanvasRenderingContext2d,
    strips: &StripCanvas,
    list: &DisplayList,
    theme: Theme,
    dpr: f64,
    text_ms: f64,
) -> bool {
    let mut pen =
        Pen { context, theme, text_ms, clock: Clock::start(), texts: 0, is_late: false, is_bold: false, written: None };
    // Neither can fail with finite numbers.
    let _ = context.set_transform(dpr, 0.0, 0.0, dpr, 0.0, 0.0);
    context.set_text_baseline("middle");
    context.set_font(FONT);
    for command in &list.commands {
        if !matches!(command, Command::Text(_)) {
            pen.written = None;
        }
        match command {
            Command::Clip(r) => clip(context, r),
            Command::Unclip => {
                context.restore();
                pen.is_bold = false;
                context.set_font(FONT);
            }
            Command::Rects(paint, rects) => {
                context.set_fill_style_str(paint.css(theme));
                for Rect { x, y, w, h } in rects {
                    context.fill_rect(*x, *y, *w, *h);
                }
            }
            Command::Strips(rows) => strips.paint(context, rows, theme),
            Command::Frame(paint, r, width) => {
                context.set_stroke_style_str(paint.css(theme));
                context.set_line_width(*width);
                context.stroke_rect(r.x, r.y, r.w, r.h);
            }
            Command::Curve(paint, points, width) => {
                context.set_stroke_style_str(paint.css(theme));
                context.set_line_width(*width);
                curve(context, points);
            }
            Command::Polygon(paint, points) => {
                context.set_fill_style_str(paint.css(theme));
                polygon(context, points);
            }
            Command::Text(label) => pen.write(label),
        }
    }
    !pen.is_late
}

/// Milliseconds since it was started; 0 if the browser has no clock.
struct Clock {
    clock: Option<web_sys::Performance>,
    start_ms: f64,
}

impl Clock {
    fn start() -> Self {
        let clock = web_sys::window().and_then(|w| w.performance());
        let start_ms = clock.as_ref().map_or(0.0, web_sys::Performance::now);
        Self { clock, start_ms }
    }

    fn ms(&self) -> f64 {
        self.clock.as_ref().map_or(0.0, web_sys::Performance::now) - self.start_ms
    }
}

/// Writes texts, as long as there is time.
struct Pen<'a> {
    context: &'a CanvasRenderingContext2d,
    theme: Theme,
    text_ms: f64,
    clock: Clock,
    texts: u32,
    /// Whether the time for texts on slices is over.
    is_late: bool,
    is_bold: bool,
    /// The look of the previous text, if nothing was painted after it.
    written: Option<(Paint, Align)>,
}

impl Pen<'_> {
    fn write(&mut self, label: &Label) {
        self.texts += 1;
        // The clock is read only now and then, because reading it costs time, too.
        if self.texts.is_multiple_of(16) && !self.is_late {
            self.is_late = self.clock.ms() > self.text_ms;
        }
        if self.is_late && matches!(label.paint, Paint::OnFill(_) | Paint::OnDimmed) {
            return;
        }
        if label.bold != self.is_bold {
            self.is_bold = label.bold;
            self.context.set_font(if self.is_bold { BOLD_FONT } else { FONT });
        }
        // Most labels look like the one before; setting the style each time costs more than drawing the text.
        if self.written.replace((label.paint, label.align)) != Some((label.paint, label.align)) {
            set_text_style(self.context, label, self.theme);
        }
        text(self.context, label);
    }
}

fn clip(context: &CanvasRenderingContext2d, r: &Rect) {
    context.save();
    context.begin_path();
    context.rect(r.x, r.y, r.w, r.h);
    context.clip();
}

fn curve(context: &CanvasRenderingContext2d, [a, b, c, d]: &[(f64, f64); 4]) {
    context.begin_path();
    context.move_to(a.0, a.1);
    context.bezier_curve_to(b.0, b.1, c.0, c.1, d.0, d.1);
    context.stroke();
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

fn set_text_style(context: &CanvasRenderingContext2d, label: &Label, theme: Theme) {
    context.set_fill_style_str(label.paint.css(theme));
    context.set_text_align(match label.align {
        Align::Start => "left",
        Align::Middle => "center",
    });
}

fn text(context: &CanvasRenderingContext2d, label: &Label) {
    // Widths are estimates; the browser condenses a text that is wider.
    let _ = context.fill_text_with_max_width(&label.text, label.x, label.y + 0.5, label.max_width.max(1.0));
}

/// A hidden canvas for strips, each one pixel high, before they are stretched to their height on the timeline: that takes
/// one call per row instead of one per slice.
#[derive(Default)]
pub struct StripCanvas(Option<(HtmlCanvasElement, CanvasRenderingContext2d)>);

impl StripCanvas {
    /// A new one, without a canvas if the browser has none to give.
    pub fn new() -> Self {
        let create = || {
            let document = web_sys::window()?.document()?;
            let canvas: HtmlCanvasElement = document.create_element("canvas").ok()?.dyn_into().ok()?;
            let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
            Some((canvas, context))
        };
        Self(create())
    }

    fn paint(&self, target: &CanvasRenderingContext2d, strips: &[Strip], theme: Theme) {
        let Some((canvas, context)) = &self.0 else { return };
        let width = strips.iter().map(|s| s.pixels.len()).max().unwrap_or(0);
        let (Ok(w), Ok(h)) = (u32::try_from(width), u32::try_from(strips.len())) else { return };
        let bytes = rgba(strips, width, theme);
        let Ok(image) = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&bytes), w, h) else { return };
        // Setting a size clears the canvas, even if it is the same size, so the canvas only grows.
        if canvas.width() < w || canvas.height() < h {
            canvas.set_width(w.max(canvas.width()));
            canvas.set_height(h.max(canvas.height()));
        }
        // None of these can fail with finite numbers and a canvas of our own.
        let _ = context.put_image_data(&image, 0.0, 0.0);
        target.set_image_smoothing_enabled(false);
        for (row, strip) in strips.iter().enumerate() {
            let w = usize_to_f64(strip.pixels.len());
            let _ = target.draw_image_with_html_canvas_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
                canvas,
                0.0,
                usize_to_f64(row),
                w,
                1.0,
                strip.x,
                strip.y,
                w,
                strip.h,
            );
        }
    }
}

/// The strips one below the other as red, green, blue and opacity of each pixel.
fn rgba(strips: &[Strip], width: usize, theme: Theme) -> Vec<u8> {
    let mut bytes = vec![0; width * strips.len() * 4];
    let mut last: Option<(Paint, [u8; 4])> = None;
    for (row, strip) in bytes.chunks_exact_mut((width * 4).max(1)).zip(strips) {
        for (pixel, paint) in row.as_chunks_mut().0.iter_mut().zip(&strip.pixels) {
            let Some(paint) = *paint else { continue };
            let colour = match last {
                Some((known, colour)) if known == paint => colour,
                _ => paint.rgba(theme),
            };
            last = Some((paint, colour));
            *pixel = colour;
        }
    }
    bytes
}
