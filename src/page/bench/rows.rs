//! Rows of the results: our own by their place in the sweep, imported ones by their order.

use std::rc::Rc;

use crate::bench::mlperf::MlperfResult;
use crate::bench::{Report, RowResult};
use crate::session::results::ReportCells;

/// Which row.
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
    /// Which one.
    pub id: RowId,
    /// What came of it.
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
    /// A row with its values worked out.
    #[must_use]
    pub fn new(id: RowId, result: Rc<RowResult>) -> Self {
        let cells = Rc::new(ReportCells::of(&result.report));
        Self { id, result, cells }
    }

    /// Its report.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.result.report
    }
}

/// What an MLPerf scenario gave on one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioRow {
    /// Its place in the sweep.
    pub row: u32,
    /// The configuration.
    pub label: String,
    /// Its verdict, or why it could not run.
    pub result: Result<MlperfResult, String>,
}
