//! Results of a benchmark: the verdict and the figures that matter most, the table, plots that compare configurations, charts
//! of one.

mod charts;
mod chosen;
mod columns;
mod finder;
mod limiter;
mod model_card;
mod table;
mod tiles;
mod view;

pub use view::BenchResults;
