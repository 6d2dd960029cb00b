//! A document: a result as parts that a page, a file of text or a test shows one below the other. Rooms that know the subject
//! make it; what shows it knows no subject.

use serde::{Deserialize, Serialize};

use super::plot::{Bars, HeatMap, Lanes, Lines, Pie, RooflinePlot, Scatter};
use super::table::Table;

/// A result to show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// What it is about, as a heading.
    pub title: String,
    /// Its parts from top to bottom.
    pub blocks: Vec<Block>,
}

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Block {
    /// A heading below the title.
    Heading(String),
    /// A sentence or a paragraph.
    Text(String),
    /// What was found, with what to do.
    Finding(Finding),
    /// A few numbers that a person looks at first.
    Tiles(Vec<Tile>),
    /// Rows; sortable, searchable, saved as CSV.
    Table {
        /// What it holds.
        title: String,
        /// Name of the file it is saved as, without its end.
        file: String,
        /// Its rows.
        table: Table,
    },
    /// A plot.
    Plot(Figure),
    /// Plots side by side where there is room.
    Plots(Vec<Figure>),
    /// A source text with what each line cost.
    Source(Source),
    /// Parts that stand side by side where there is room, each a document of its own.
    Beside(Vec<Document>),
    /// A command of the command line that gives the same result.
    Command(String),
    /// Rows that open something.
    Rows {
        /// What it holds.
        title: String,
        /// Name of the file it is saved as, without its end.
        file: String,
        /// Its rows.
        table: Table,
        /// What each row opens, as who made the document understands it; empty for nothing.
        targets: Vec<String>,
    },
    /// Lines whose points open something.
    Points {
        /// The plot.
        figure: Figure,
        /// What each point of each line opens; empty for nothing.
        targets: Vec<Vec<String>>,
    },
}

/// How good or bad something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tone {
    /// Neither.
    #[default]
    Neutral,
    /// As it should be.
    Good,
    /// Worth a look.
    Warning,
    /// Wrong.
    Bad,
}

/// What was found, with what to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// How bad it is.
    pub tone: Tone,
    /// What was found, one sentence.
    pub title: String,
    /// Why, and what to do.
    pub text: String,
}

/// A number that a person looks at first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tile {
    /// What it is: `Throughput`.
    pub name: String,
    /// The number with its unit: `76.4 TFLOPS`.
    pub value: String,
    /// What to compare it with: `83.2 % of the peak`.
    pub note: String,
    /// How good it is.
    pub tone: Tone,
    /// Its place between nothing and the most there can be, 0 to 1: drawn as a gauge.
    pub share: Option<f64>,
}

/// A plot with its title.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// A sentence below it; empty for none.
    pub note: String,
    /// What is drawn.
    pub plot: Plot,
}

/// What is drawn.
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
    /// Points below a roof.
    Roofline(RooflinePlot),
    /// A value for each pair of two things.
    HeatMap(HeatMap),
}

/// A source text with what each line cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Name of the file.
    pub name: String,
    /// Names of the values of a line: `count`, `time`.
    pub columns: Vec<String>,
    /// Its lines.
    pub lines: Vec<SourceLine>,
}

/// A line of a source text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceLine {
    /// As it is written.
    pub text: String,
    /// Values of the columns; empty where the line costs nothing.
    pub values: Vec<String>,
    /// Its share of the whole time, 0 to 1: the line's shade.
    pub share: f64,
    /// What is wrong or remarkable there.
    pub notes: Vec<String>,
}
