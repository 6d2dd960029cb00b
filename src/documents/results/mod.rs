//! Views of reports: columns to choose, rows to filter, plots to compare, pieces to keep. It does not contain shell code, so that the
//! page's numbers are tested natively.

mod best;
mod by_batch;
mod charts;
mod columns;
mod filter;
mod finder;
mod kept_experiments;
mod kept_result;
mod kept_sweep;
mod model_card;
mod opening;
mod plots;
mod scaling;
mod series;

pub use best::{BestFigure, BestFigures};
pub use by_batch::BatchLines;
pub use charts::{latency_curves, latency_histogram, throughput_over_time};
pub use columns::{ReportCells, column_title, narrow_columns, report_table, take_alike, visible_columns, with_pareto};
pub use filter::Filter;
pub use finder::{BestRow, Requirements, cores_of};
pub use kept_experiments::{KeptRun, keep_experiment, restore_run};
pub use kept_result::{Keepable, KeptResult, KeptStudy, result_item, study_item};
pub use kept_sweep::{KeptHead, KeptRequest, RestoredSweep, keep_row, kept_reports, restore_sweep};
pub use model_card::{ModelRuns, model_facts};
pub use opening::{Opening, opening_of, opening_of_run};
pub use plots::{RowNames, configuration_text, cost_latency, fronts, throughput_by_configuration, throughput_latency};
pub use scaling::{Scaling, scaling};
pub use series::SeriesColours;
