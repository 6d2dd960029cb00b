//! A document: a result as parts that a page, a text file or a test shows one below the other. The rooms of a subject make
//! it; the code that shows it does not depend on the subject.

use serde::{Deserialize, Serialize};

use super::palette::fill_var;
use super::plot::{Bars, HeatMap, Lanes, Lines, Pie, RooflinePlot, Scatter};
use super::table::Table;

/// A result to show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Its subject, as a heading.
    pub title: String,
    /// Its parts from top to bottom.
    pub blocks: Vec<Block>,
}

impl Document {
    /// The command that gives the same result, if one of the parts is a command.
    pub fn command(&self) -> Option<&str> {
        self.blocks.iter().find_map(|part| match part {
            Block::Command(text) => Some(text.as_str()),
            Block::Beside(all) => all.iter().find_map(Self::command),
            _ => None,
        })
    }
}

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Block {
    /// A heading below the title.
    Heading(String),
    /// A sentence or a paragraph.
    Text(String),
    /// Findings, each with what to do.
    Finding(Finding),
    /// The few numbers to look at first.
    Tiles(Vec<Tile>),
    /// Rows; sortable, searchable, saved as CSV.
    Table {
        title: String,
        /// Name of the file it is saved as, without the extension.
        file: String,
        table: Table,
    },
    Plot(Figure),
    /// Plots, side by side if there is room.
    Plots(Vec<Figure>),
    /// A source text with the cost of each line.
    Source(Source),
    /// Documents, side by side if there is room.
    Beside(Vec<Document>),
    /// A command of the command line that gives the same result.
    Command(String),
    /// Rows that open something.
    Rows {
        title: String,
        /// Name of the file it is saved as, without the extension.
        file: String,
        table: Table,
        /// The target of each row, in the terms of the document's maker; empty for none.
        targets: Vec<String>,
        /// The rows that break a limit, by position.
        faint: Vec<usize>,
    },
    /// Parts of a whole beside one another in one bar, with a legend.
    Shares(Shares),
    /// A column for each of many things, made of parts.
    Columns(Columns),
    /// What to look at first, the most worthwhile first.
    Ranked {
        /// A sentence below them; empty for none.
        note: String,
        all: Vec<Ranked>,
    },
    /// A figure whose points or cells open something.
    Points {
        figure: Figure,
        /// The target of each point of each line, of each cell of each row of a heat map, or, in a single list, of each point of a
        /// scatter plot; empty for none.
        targets: Vec<Vec<String>>,
    },
}

/// How good or bad something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tone {
    /// Neither.
    #[default]
    Neutral,
    /// The value is as it should be.
    Good,
    /// Worth a look.
    Warning,
    /// Wrong.
    Bad,
}

/// A finding, with advice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub tone: Tone,
    /// The problem, one sentence.
    pub title: String,
    /// The reason, and what to do.
    pub text: String,
}

/// Parts of a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// Title: the whole that is divided.
    pub title: String,
    /// A sentence below it; empty for none.
    pub note: String,
    /// The parts, from left to right.
    pub parts: Vec<Share>,
}

/// A part of a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    pub name: String,
    /// Its value, with the unit.
    pub value: String,
    pub exact: String,
    /// Its share of the whole, 0 to 1.
    pub share: f64,
    /// Its meaning, which decides its colour: `compute`, `idle`, `hue-0`.
    pub kind: String,
    /// Its target, in the terms of the document's maker; empty for none.
    pub target: String,
}

impl Share {
    /// Its colour as a declaration of CSS, for a place in the palette; other kinds have classes.
    pub fn paint(&self) -> Option<String> {
        let fill = self.kind.strip_prefix("hue-")?.parse().ok()?;
        Some(format!("background:{};", fill_var(fill)))
    }
}

/// A column for each of many things.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Columns {
    pub title: String,
    /// A sentence below them; empty for none.
    pub note: String,
    /// The value of the tallest, with its unit.
    pub most: String,
    /// The columns, from left to right.
    pub columns: Vec<StackedColumn>,
    /// The same in numbers, in the same order; it may have more rows than there are columns.
    pub table: Table,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StackedColumn {
    pub name: String,
    /// Its value with its unit.
    pub value: String,
    /// The meaning of each part, as [`Share::kind`], and its height as a share of the tallest column, 0 to 1; from the bottom up.
    pub parts: Vec<(String, f64)>,
    /// The parts in words.
    pub described: String,
    /// Its target, in the terms of the document's maker; empty for none.
    pub target: String,
}

/// A recommendation, with the possible gain from a change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    pub tone: Tone,
    pub title: String,
    /// The reason, and what to do.
    pub text: String,
    /// The possible gain of a change; empty if it gains nothing by itself.
    pub saving: String,
    /// The same as a share of the whole, 0 to 1.
    pub share: f64,
    /// Links to where it shows.
    pub ways: Vec<Way>,
}

/// A link to where something shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// Text of the link.
    pub text: String,
    /// Its target, in the terms of the document's maker.
    pub target: String,
}

/// A number to look at first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tile {
    /// Its name: `Throughput`.
    pub name: String,
    /// The number with its unit: `76.4 TFLOPS`.
    pub value: String,
    /// A comparison: `83.2 % of the peak`.
    pub note: String,
    pub tone: Tone,
    /// Its share of the greatest possible value, 0 to 1: drawn as a gauge.
    pub share: Option<f64>,
}

/// The longest word that fits into a tile at the size of its figures.
const LONGEST_WORD: usize = 14;

impl Tile {
    /// A number without a gauge, neither good nor bad.
    pub fn new(name: &str, value: String, note: String) -> Self {
        Self { name: name.to_owned(), value, note, ..Self::default() }
    }

    /// Whether the value has a word that would break inside the tile, such as the name of an operator: it is shown smaller, in one line,
    /// with its end left out.
    pub fn has_long_value(&self) -> bool {
        self.value.split_whitespace().any(|word| word.chars().count() > LONGEST_WORD)
    }
}

/// A plot with its title.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    pub title: String,
    /// A sentence below it; empty for none.
    pub note: String,
    pub plot: Plot,
}

/// A plot of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Plot {
    /// Lines over two axes.
    Lines(Lines),
    /// Horizontal bars, and the unit of their values.
    Bars(Bars, String),
    /// Shares of a whole, and the unit of their values.
    Pie(Pie, String),
    /// Points over two axes.
    Scatter(Scatter),
    /// Shares over time.
    Lanes(Lanes),
    /// Points below a roofline.
    Roofline(RooflinePlot),
    /// A value for each cell of a grid.
    HeatMap(HeatMap),
}

/// A source text with the cost of each line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Name of the file.
    pub name: String,
    /// Names of the values of a line: `count`, `time`.
    pub columns: Vec<String>,
    pub lines: Vec<SourceLine>,
}

/// A line of a source text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceLine {
    pub text: String,
    /// Values of the columns; empty for a line without cost.
    pub values: Vec<String>,
    /// Its share of the whole time, 0 to 1: the line's shade.
    pub share: f64,
    /// Problems and remarks for the line.
    pub notes: Vec<String>,
    /// The column of the first problem, from 1; 0 for none.
    pub column: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_long_by_its_longest_word() {
        let is_long = |value: &str| Tile { value: value.to_owned(), ..Tile::default() }.has_long_value();
        for value in ["", "76.42 TFLOPS", "8,178,368,512", "24,000 \u{2013} 25,000 inf/s of all copies"] {
            assert!(!is_long(value), "{value}");
        }
        for value in ["at::native::vectorized_elementwise_kernel", "of aten__convolution_convolution"] {
            assert!(is_long(value), "{value}");
        }
    }
}
