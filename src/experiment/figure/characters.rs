//! A drawing in characters, for a terminal: sides of the frame as lines, marks and bars as letters, words that lie flat.

use super::frame::FigureSize;
use super::look::{LETTERS, Picture};
use ns_base::convert::{f64_to_u64, f64_to_usize, u64_to_usize, usize_to_f64};
use ns_view::plot::{Anchor, Form, Ink};

/// Width of a character, pixels: what the words of a drawing are laid out for.
const CELL_WIDTH: f64 = LETTERS * 0.6;
/// Height of a line of characters, pixels: the lines of a legend are further apart.
const CELL_HEIGHT: f64 = 16.0;
/// Shorter lines are ticks of an axis, pixels.
const TICK: f64 = 8.0;

impl FigureSize {
    /// The size of a drawing that has this many characters.
    pub fn of_characters(columns: u32, rows: u32) -> Self {
        Self {
            width_in: f64::from(columns) * CELL_WIDTH / Self::DPI,
            height_in: f64::from(rows) * CELL_HEIGHT / Self::DPI,
        }
    }
}

/// Rows of characters.
struct Page {
    rows: Vec<Vec<char>>,
}

impl Page {
    fn put(&mut self, column: usize, row: usize, character: char) {
        if let Some(place) = self.rows.get_mut(row).and_then(|row| row.get_mut(column)) {
            *place = character;
        }
    }

    /// A horizontal or vertical line; where two meet is a corner.
    fn line(&mut self, (x, y): (f64, f64), (to_x, to_y): (f64, f64), is_aid: bool) {
        let (left, top) = (column(x.min(to_x)), row(y.min(to_y)));
        let (right, bottom) = (column(x.max(to_x)), row(y.max(to_y)));
        if is_aid {
            return (left + 1..right).for_each(|at| self.put(at, top, '.'));
        }
        let (places, side): (Vec<(usize, usize)>, char) = if top == bottom {
            ((left..=right).map(|at| (at, top)).collect(), '-')
        } else {
            ((top..=bottom).map(|at| (left, at)).collect(), '|')
        };
        for (at, line) in places {
            let is_met =
                self.rows.get(line).and_then(|row| row.get(at)).is_some_and(|c| !matches!(*c, ' ' | '.') && *c != side);
            self.put(at, line, if is_met { '+' } else { side });
        }
    }

    fn word(&mut self, (x, y): (f64, f64), text: &str, anchor: Anchor) {
        let letters: Vec<char> = text.chars().collect();
        let before = f64_to_usize(usize_to_f64(letters.len()) * anchor.before());
        // The middle of the letters, and not the line that they stand on.
        let (start, line) = (column(x).saturating_sub(before), row(y - LETTERS / 3.0));
        letters.into_iter().zip(start..).for_each(|(letter, at)| self.put(at, line, letter));
    }
}

fn column(x: f64) -> usize {
    u64_to_usize(f64_to_u64((x / CELL_WIDTH).floor().max(0.0)))
}

fn row(y: f64) -> usize {
    u64_to_usize(f64_to_u64((y / CELL_HEIGHT).floor().max(0.0)))
}

/// The letter of a colour: the first backend is `A`.
fn letter(ink: Ink) -> char {
    if let Ink::Fill(fill) = ink { char::from(b'A'.saturating_add(fill)) } else { '*' }
}

/// Left, top, right and bottom.
fn around(points: &[(f64, f64)]) -> [f64; 4] {
    points.iter().fold([f64::MAX, f64::MAX, f64::MIN, f64::MIN], |[l, t, r, b], (x, y)| {
        [l.min(*x), t.min(*y), r.max(*x), b.max(*y)]
    })
}

impl Picture {
    /// The drawing in characters, each line ended with a line break. Lines between points and error bars are left out, as are words that do not
    /// lie flat; marks over each other are the last one.
    pub fn to_characters(&self) -> String {
        let mut page = Page { rows: vec![vec![' '; column(self.width) + 1]; row(self.height) + 1] };
        for shape in &self.shapes {
            match (&shape.form, shape.class) {
                (Form::Line(points), "side" | "aid") => {
                    if let [from, to] = points[..]
                        && (from.0 - to.0).hypot(from.1 - to.1) > TICK
                    {
                        page.line(from, to, shape.class == "aid");
                    }
                }
                (Form::Area(points), "bar") => {
                    let [left, top, right, bottom] = around(points);
                    for line in row(top)..row(bottom).max(row(top) + 1) {
                        (column(left)..column(right)).for_each(|at| page.put(at, line, letter(shape.ink)));
                    }
                }
                (Form::Area(points), _) => {
                    let [left, top, right, bottom] = around(points);
                    page.put(column((left + right) / 2.0), row((top + bottom) / 2.0), letter(shape.ink));
                }
                (Form::Disc { at: (x, y), .. }, _) => page.put(column(*x), row(*y), letter(shape.ink)),
                (Form::Text { at, text, anchor }, _) if anchor.turn() == 0 => page.word(*at, text, *anchor),
                _ => {}
            }
        }
        let lines = page.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned() + "\n");
        lines.collect::<String>().trim_end().to_owned() + "\n"
    }
}
