//! Results that are computed from the texts of files: each has its options as rows, a run and a text.

mod aggregation;
mod bench_index;
mod bench_records;
mod evaluation;
mod model_file;
mod model_index;
mod model_values;
mod plan;
mod products;
mod record_analysis;
mod result_file;
mod verification;

pub use aggregation::{AggregateResult, Aggregation, AggregationRun};
pub use bench_index::{index_to_run, put_index, settings_of_index};
pub use bench_records::{MetricsAsk, bench_records, check_metrics, is_count};
pub use evaluation::Evaluation;
pub use model_file::{ModelFileReport, OneCall};
pub use model_index::{
    IndexAnswer, NewIndex, append_indexes, copy_index, create_index, delete_index, filter_index, index_table,
    is_artifact, show_index,
};
pub use model_values::{ModelValues, model_results};
pub use plan::{PlanJson, configs_of, plan_text};
pub use products::{ProductComparison, ProductTimes};
pub use record_analysis::{AnalysisReport, RecordAnalysis, RecordAnalysisRun};
pub use result_file::results_of;
pub use verification::CaseVerification;
