//! Rows of the results: rows of the sweep by their position in it, imported ones by their order.

use std::rc::Rc;

use ns_bench::mlperf::MlperfResult;
use ns_bench::{Report, RowResult};
use ns_session::results::ReportCells;

/// Identifies a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowId {
    /// A configuration of the sweep.
    Own(u32),
    /// A row of a file.
    Imported(u32),
}

/// A row of the results. Cloning costs nothing.
#[derive(Clone, Debug)]
pub struct ResultRow {
    pub id: RowId,
    pub result: Rc<RowResult>,
    /// Its values for tables.
    pub cells: Rc<ReportCells>,
}

impl PartialEq for ResultRow {
    /// Whether both are the same result, not merely an equal one.
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && Rc::ptr_eq(&self.result, &other.result)
    }
}

impl ResultRow {
    /// A row with its computed values.
    pub fn new(id: RowId, result: Rc<RowResult>) -> Self {
        let cells = Rc::new(ReportCells::of(&result.report));
        Self { id, result, cells }
    }

    pub fn report(&self) -> &Report {
        &self.result.report
    }
}

/// Result of an MLPerf scenario for one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioRow {
    /// Its position in the sweep.
    pub row: u32,
    pub label: String,
    /// Its verdict, or the reason why it could not run.
    pub result: Result<MlperfResult, String>,
}
