//! Small parts of the page that know nothing of requests.

mod bar_chart;
mod check_field;
mod compile_fields;
mod data_table;
mod diagnostics;
mod field;
mod file_drop;
mod lanes_chart;
mod line_chart;
mod local_table;
mod notice_list;
mod pie_chart;
mod plot_frame;
mod progress;
mod roofline_chart;
mod scatter_plot;
mod slice_details;

pub use bar_chart::BarChart;
pub use check_field::CheckField;
pub use compile_fields::{AUTO_CAST_TYPES, AUTO_CASTS, CompileFields, OPT_LEVELS, pairs};
pub use data_table::DataTable;
pub use diagnostics::DiagnosticsPanel;
pub use field::{Field, SelectField, TextField};
pub use file_drop::{FileDrop, FilePicker};
pub use lanes_chart::LanesChart;
pub use line_chart::LineChart;
pub use local_table::LocalTable;
pub use notice_list::NoticeList;
pub use pie_chart::PieChart;
pub use progress::ProgressBar;
pub use roofline_chart::RooflineChart;
pub use scatter_plot::ScatterPlot;
pub use slice_details::{SliceDetailsPanel, place_of};
