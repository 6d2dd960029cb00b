//! Pure view models: drawings and lists, without any web types. The page paints them on a canvas or as SVG; tests
//! print them.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

pub mod colours;
pub mod column_look;
pub mod comparison;
pub mod document;
pub mod flame;
pub mod graph;
pub mod markdown;
pub mod metric_groups;
pub mod page;
pub mod palette;
pub mod plot;
pub mod svg;
pub mod table;
pub mod text;
pub mod timeline;
