//! A table of figures, and its rows beside their predictions.

use serde::Serialize;

use ns_base::{Refusal, refuse};
use ns_fidelity::{
    Coverage, Decoders, KernelComparison, KernelRow, KernelSummary, MeasuredRow, PublishedRow, RowComparison,
    ServedAnswer, ServedErrors, ServedRow, ServedValidator, Summary, TableKind, Validation, compare, coverage,
    is_generation, read_kernels, read_measured, read_rows, read_served, shipped_table, summarise_kernels, validate,
    validate_generation,
};
use ns_forms::studies::FidelityStudy;

/// A table of figures.
#[derive(Clone, Debug)]
pub enum FigureTable {
    /// Instructions, transfers and rates.
    Measured(Vec<MeasuredRow>),
    /// Figures of models.
    Published(Vec<PublishedRow>),
    /// Served models.
    Served(Vec<ServedRow>),
    /// NKI kernels, which the shell runs.
    Kernels(Vec<KernelRow>),
}

/// The rows of a table beside their predictions.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum FigureAnswer {
    Measured { measurements: Vec<RowComparison> },
    Published { rows: Vec<Validation>, summary: Summary, coverage: Vec<Coverage> },
    Served { rows: Vec<ServedAnswer>, groups: Vec<ServedErrors> },
    Kernels { kernels: Vec<KernelComparison>, summary: Vec<KernelSummary> },
}

impl FigureTable {
    /// The table of a study. Fails when it has none, or its text is no CSV, lacks a column or has no row.
    pub fn of(study: &FidelityStudy) -> Result<Self, Refusal> {
        let own = Some(study.rows.as_str()).filter(|rows| !rows.trim().is_empty());
        let missing = || {
            refuse!("there are no rows; give a CSV file with the columns model, instance, batch_size and throughput")
        };
        let text = own.or_else(|| shipped_table(&study.table)).ok_or_else(missing)?.as_bytes();
        let unlike = |what: &str, e: Refusal| refuse!("is not a table of {what}: {e}");
        let table = match TableKind::of(text) {
            Some(TableKind::Measured) => Self::Measured(read_measured(text).map_err(|e| unlike("measurements", e))?),
            Some(TableKind::Kernels) => Self::Kernels(read_kernels(text)?),
            Some(TableKind::Served) => Self::Served(read_served(text).map_err(|e| unlike("served models", e))?),
            Some(TableKind::Published) | None => {
                Self::Published(read_rows(text).map_err(|e| unlike("published figures", e))?)
            }
        };
        if table.len() == 0 { Err(refuse!("the table has no row")) } else { Ok(table) }
    }

    /// Its rows.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Measured(rows) => rows.len(),
            Self::Published(rows) => rows.len(),
            Self::Served(rows) => rows.len(),
            Self::Kernels(rows) => rows.len(),
        }
    }

    /// What a row is about: `resnet50`; empty for a row that the table does not have.
    pub(super) fn name_of(&self, row: usize) -> &str {
        let name = match self {
            Self::Measured(rows) => rows.get(row).map(|row| &row.what),
            Self::Published(rows) => rows.get(row).map(|row| &row.model),
            Self::Served(rows) => rows.get(row).map(|row| &row.model),
            Self::Kernels(rows) => rows.get(row).map(|row| &row.variant),
        };
        name.map_or("", String::as_str)
    }
}

/// Predicts the rows of a table, one after another.
#[derive(Default)]
pub(super) struct Predictions {
    measurements: Vec<RowComparison>,
    published: Vec<Validation>,
    served: Vec<ServedAnswer>,
    decoders: Decoders,
    validator: ServedValidator,
}

impl Predictions {
    /// Predicts a row of the table. Kernels are predicted by the shell, which has their files.
    pub fn add(&mut self, table: &FigureTable, row: usize) {
        match table {
            FigureTable::Measured(rows) => self.measurements.extend(rows.get(row).map(compare)),
            FigureTable::Published(rows) => self.published.extend(rows.get(row).map(|row| {
                if is_generation(row) { validate_generation(row, &mut self.decoders) } else { validate(row) }
            })),
            FigureTable::Served(rows) => self.served.extend(rows.get(row).map(|row| self.validator.answer(row))),
            FigureTable::Kernels(_) => {}
        }
    }

    /// The rows so far, with their errors.
    pub fn into_answer(self, table: &FigureTable) -> FigureAnswer {
        match table {
            FigureTable::Measured(_) => FigureAnswer::Measured { measurements: self.measurements },
            FigureTable::Published(_) => {
                let summary = Summary::of(self.published.iter());
                FigureAnswer::Published { rows: self.published, summary, coverage: coverage() }
            }
            FigureTable::Served(_) => FigureAnswer::Served { rows: self.served, groups: self.validator.errors() },
            FigureTable::Kernels(_) => FigureAnswer::of_kernels(Vec::new()),
        }
    }
}

impl FigureAnswer {
    /// Kernels that a shell ran.
    pub fn of_kernels(kernels: Vec<KernelComparison>) -> Self {
        Self::Kernels { summary: summarise_kernels(&kernels), kernels }
    }
}
