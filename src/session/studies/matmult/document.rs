//! The document of a microbenchmark.

use super::spec::MatmultStudy;
use crate::bench::matmult::MatmultReport;
use crate::view::document::{Block, Document, Tile};

/// What the cases until now came to.
pub(super) fn document(_study: &MatmultStudy, reports: &[MatmultReport]) -> Document {
    let tile = |r: &MatmultReport| Tile {
        name: r.case.label(),
        value: r.tops.map_or_else(|| r.status.clone(), |t| format!("{t:.2} TOPS")),
        note: r.peak_percent.map_or_else(String::new, |p| format!("{p:.1} % of the peak")),
        share: r.peak_percent.map(|p| p / 100.0),
        ..Tile::default()
    };
    Document { title: "Microbenchmark".to_owned(), blocks: vec![Block::Tiles(reports.iter().map(tile).collect())] }
}
