//! Pure view models: drawings and lists, without any web types. The page paints them on a canvas or as SVG; tests
//! print them.
//!
//! Start with:
//! - [`document`]: a result as parts, one below the other (tables, tiles, plots, texts), which page, Markdown ([`markdown`]) and command line ([`terminal`]) show alike.
//! - [`table`]: columns with a kind and a unit, sorting, searching, CSV.
//! - [`timeline`], [`flame`] and [`graph`]: from a profile or a program to shapes with places and colours; [`plot`] and [`svg`] draw figures.
//!
//! Invariants:
//! - A drawing depends on its content, its size and its theme, never on a browser.
//! - Colours come from [`palette`] alone, so that they can be told apart in both themes.

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
pub mod terminal;
pub mod text;
pub mod timeline;
