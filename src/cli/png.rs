//! A drawing as PNG: paths by tiny-skia, letters from an 8 x 8 font. No system font is needed, and the same
//! report gives the same picture everywhere.

use anyhow::{Context, Result};
use font8x8::{BASIC_FONTS, LATIN_FONTS, UnicodeFonts};
use tiny_skia::{Color, FillRule, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform};

use ns_base::convert::{f64_to_f32, f64_to_u64, f64_to_usize, u64_to_u32, usize_to_f64, usize_to_u8};
use ns_experiment::figure::{Look, Picture, look};
use ns_view::plot::{Form, Shape};

/// Width of a letter and height of its dots, as fractions of the line height.
const LETTER_WIDTH: f64 = 0.6;
const DOT_HEIGHT: f64 = 1.0 / 9.0;
/// Dots across and down a letter.
const DOTS: u8 = 8;

/// The drawing as the bytes of a PNG file.
pub(super) fn png(drawing: &Picture) -> Result<Vec<u8>> {
    let mut pixels = Pixmap::new(u64_to_u32(f64_to_u64(drawing.width)), u64_to_u32(f64_to_u64(drawing.height)))
        .context("the picture has no size")?;
    pixels.fill(Color::WHITE);
    for shape in &drawing.shapes {
        draw(&mut pixels, shape);
    }
    pixels.encode_png().context("the picture cannot be written")
}

fn draw(pixels: &mut Pixmap, shape: &Shape) {
    let Look { colour, width, dash, letters: size, opacity, .. } = look(shape);
    let paint = paint(colour, opacity);
    let (path, place) = match &shape.form {
        Form::Line(points) => {
            let lengths: Vec<f32> = dash.iter().map(|length| f64_to_f32(*length)).collect();
            let stroke = Stroke { width: f64_to_f32(width), dash: StrokeDash::new(lengths, 0.0), ..Stroke::default() };
            if let Some(path) = path_of(points, false) {
                pixels.stroke_path(&path, &paint, &stroke, Transform::identity(), None);
            }
            return;
        }
        Form::Area(points) => (path_of(points, true), Transform::identity()),
        Form::Disc { at: (x, y), radius } => {
            (PathBuilder::from_circle(f64_to_f32(*x), f64_to_f32(*y), f64_to_f32(*radius)), Transform::identity())
        }
        Form::Text { at: (x, y), text, anchor } => {
            let start = -usize_to_f64(text.chars().count()) * size * LETTER_WIDTH * anchor.before();
            let turn = Transform::from_rotate(f32::from(anchor.turn()));
            (letters(text, size, start), turn.post_translate(f64_to_f32(*x), f64_to_f32(*y)))
        }
        // No picture of a report has one.
        Form::Outline(_) => (None, Transform::identity()),
    };
    if let Some(path) = path {
        pixels.fill_path(&path, &paint, FillRule::Winding, place, None);
    }
}

/// The dots of a text whose line is at zero.
fn letters(text: &str, size: f64, start: f64) -> Option<Path> {
    let (width, height) = (size * LETTER_WIDTH / f64::from(DOTS), size * DOT_HEIGHT);
    let mut dots = PathBuilder::new();
    for (i, c) in text.chars().enumerate() {
        let glyph = BASIC_FONTS.get(c).or_else(|| LATIN_FONTS.get(c)).or_else(|| BASIC_FONTS.get('?'))?;
        let left = start + usize_to_f64(i) * size * LETTER_WIDTH;
        for (row, bits) in (0_u8..).zip(glyph) {
            for column in (0..DOTS).filter(|column| bits >> column & 1 == 1) {
                let x = left + f64::from(column) * width;
                // The seventh row of the glyph stands on the baseline.
                let y = (f64::from(row) - 7.0) * height;
                dots.push_rect(Rect::from_xywh(f64_to_f32(x), f64_to_f32(y), f64_to_f32(width), f64_to_f32(height))?);
            }
        }
    }
    dots.finish()
}

fn path_of(points: &[(f64, f64)], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        if i == 0 { path.move_to(f64_to_f32(*x), f64_to_f32(*y)) } else { path.line_to(f64_to_f32(*x), f64_to_f32(*y)) }
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// A colour of the form `#rrggbb`; black for any other text.
fn paint(colour: &str, opacity: f64) -> Paint<'static> {
    let part = |at: usize| colour.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0);
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(part(1), part(3), part(5), usize_to_u8(f64_to_usize(opacity.clamp(0.0, 1.0) * 255.0)));
    paint
}
