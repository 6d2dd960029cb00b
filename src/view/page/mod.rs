//! A document as one self-contained HTML file: tables, plots as SVG, its data as JSON. It loads nothing, and its policy forbids
//! loading; a few lines of script sort its tables.

mod block;
mod file;
mod plot;
mod table;

pub use file::{FigureWriter, PageFile};
pub use plot::figure;
