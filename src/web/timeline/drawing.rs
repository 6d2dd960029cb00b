//! Sizes and paints the canvas of a timeline.

use wasm_bindgen::JsCast;
use web_sys::HtmlCanvasElement;

use super::controller::{Controller, Screen};
use super::painter;
use ns_base::convert::{f64_to_u64, u64_to_u32, usize_to_f64};
use ns_view::timeline::{DisplayList, Layout, Metrics, Outline, Overlay, TimelineScene, Viewport, paint};

impl Controller {
    /// Called when the canvas has a new size, in pixels.
    pub fn resize(&self, canvas: &HtmlCanvasElement, width: f64, height: f64) {
        if width < 1.0 || height < 1.0 {
            return;
        }
        let (outline, bounds) = (&self.0.info.outline, self.bounds());
        {
            let mut screen = self.0.screen.borrow_mut();
            let is_first = screen.canvas.is_none();
            if !screen.attach(canvas, width, height) {
                return;
            }
            screen.metrics = Metrics { char_px: screen.char_px(), ..Metrics::for_width(width) };
            screen.layout = Layout::new(outline, &screen.arrangement, &screen.metrics);
            let room = width - screen.metrics.gutter;
            let wanted = screen.wanted_span.take();
            screen.view = if is_first || wanted.is_some() {
                // Keys pressed before the canvas had a size have already moved the view.
                let moved = self.0.is_moved.get().then_some(screen.view);
                Viewport::opening(wanted, moved, bounds, room)
            } else {
                screen.view.with_width(room)
            };
            let view = screen.view;
            if is_first {
                screen.history.record(view);
            }
            // A resized canvas is blank until it is painted, so it is painted in the same frame. The first time there is
            // no picture to keep, so the frame that `changed` requests is enough.
            if !is_first {
                screen.draw(outline, super::controller::FRAME_TEXT_MS);
            }
        }
        self.set_on_screen();
        self.changed();
    }
}

impl Screen {
    fn attach(&mut self, canvas: &HtmlCanvasElement, width: f64, height: f64) -> bool {
        let context = canvas.get_context("2d").ok().flatten().and_then(|c| c.dyn_into().ok());
        let Some(context) = context else { return false };
        let dpr = web_sys::window().map_or(1.0, |w| w.device_pixel_ratio()).clamp(1.0, 4.0);
        canvas.set_width(u64_to_u32(f64_to_u64(libm::round(width * dpr))));
        canvas.set_height(u64_to_u32(f64_to_u64(libm::round(height * dpr))));
        self.canvas = Some((canvas.clone(), context));
        (self.width, self.height, self.dpr) = (width, height, dpr);
        true
    }

    /// Mean width of a character in the font in use, over typical names.
    fn char_px(&self) -> f64 {
        const SAMPLE: &str = "aten__relu_maximum NN[model]/Linear[layer1] fused_16";
        let Some((_, context)) = &self.canvas else { return Metrics::default().char_px };
        context.set_font(painter::FONT);
        let width = context.measure_text(SAMPLE).map_or(0.0, |m| m.width());
        if width > 0.0 { width / usize_to_f64(SAMPLE.len()) } else { Metrics::default().char_px }
    }

    /// Paints the screen as it is, with about `text_ms` for texts on slices; returns whether that was enough.
    pub(super) fn draw(&self, outline: &Outline, text_ms: f64) -> bool {
        let Some((_, context)) = &self.canvas else { return true };
        painter::paint(context, &self.strips, &self.picture(outline), self.theme, self.dpr, text_ms)
    }

    /// The content of the screen, to be painted or written.
    pub(super) fn picture(&self, outline: &Outline) -> DisplayList {
        paint(&TimelineScene {
            outline,
            layout: &self.layout,
            metrics: &self.metrics,
            view: &self.view,
            tile: self.tile.as_deref().zip(Some(&self.looks)),
            height: self.height,
            scroll_y: self.scroll_y,
            selected: self.selected,
            range_px: self.range_px,
            moved_track: self.moved_track,
            overlay: Overlay { annotations: &self.annotations, arrows: &self.arrows, area: self.area.as_ref() },
        })
    }
}
