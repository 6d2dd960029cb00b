//! Records of experiments: a row for each repeat.

use std::io::Write;

use anyhow::Result;

use super::sheet::{Field, Kind, Sheet, Value};
use ns_experiment::record::{FLAT_METRICS, FlatRecord, LineNotes};

/// Columns before the metrics, in their order.
const COLUMNS: [(&str, Kind); 18] = [
    ("source", Kind::Text),
    ("line", Kind::Integer),
    ("timestamp", Kind::Number),
    ("suite_name", Kind::Text),
    ("model_name", Kind::Text),
    ("accelerator", Kind::Text),
    ("accelerator_model", Kind::Text),
    ("xla", Kind::Text),
    ("xla_flags", Kind::Text),
    ("dynamo", Kind::Text),
    ("torch_xla2", Kind::Text),
    ("test", Kind::Text),
    ("batch_size", Kind::Integer),
    ("repeat", Kind::Integer),
    ("iterations_per_run", Kind::Integer),
    ("verification_code", Kind::Text),
    ("error", Kind::Text),
    ("sample", Kind::Integer),
];

/// A file of records that is being written.
pub(crate) struct RecordSheet<W: Write + Send> {
    sheet: Sheet<W>,
    notes: LineNotes,
}

impl<W: Write + Send> RecordSheet<W> {
    /// Begins a file. Fails when the file cannot be written.
    pub fn new(out: W) -> Result<Self> {
        let fields = COLUMNS.into_iter().chain(FLAT_METRICS.map(|name| (name, Kind::Number)));
        let fields: Vec<Field> = fields.map(|(name, kind)| Field::new(name, kind)).collect();
        Ok(Self { sheet: Sheet::new(out, "records", &fields)?, notes: LineNotes::default() })
    }

    /// Takes a line. A line that is not a record is noted and left out. Fails when the file cannot be written.
    pub fn push_line(&mut self, line: &[u8], source: &str, number: u64) -> Result<()> {
        match FlatRecord::of(line) {
            Ok(record) => self.push(&record, source, number),
            Err(error) => {
                self.notes.add("lines are not records and are left out", || format!("{source}:{number}: {error}"));
                Ok(())
            }
        }
    }

    fn push(&mut self, record: &FlatRecord, source: &str, number: u64) -> Result<()> {
        for name in &record.left_out {
            self.notes.add("metrics have no column and are left out", || format!("{source}:{number}: {name}"));
        }
        for sample in 0..record.rows() {
            let mut row: Vec<Value<'_>> = vec![
                Value::Text(source),
                Value::Integer(i64::try_from(number).unwrap_or(i64::MAX)),
                record.timestamp.into(),
                record.suite_name.as_deref().into(),
                Value::Text(&record.model_name),
                record.accelerator.as_deref().into(),
                record.accelerator_model.as_deref().into(),
                record.xla.as_deref().into(),
                record.xla_flags.as_deref().into(),
                record.dynamo.as_deref().into(),
                record.torch_xla2.as_deref().into(),
                record.test.as_deref().into(),
                record.batch_size.into(),
                record.repeat.into(),
                record.iterations_per_run.into(),
                record.verification_code.as_deref().into(),
                record.error.as_deref().into(),
                (!record.is_without_times()).then_some(i64::try_from(sample).unwrap_or(i64::MAX)).into(),
            ];
            row.extend(record.metrics.iter().map(|list| Value::from(list.get(sample).copied())));
            self.sheet.push(&row)?;
        }
        Ok(())
    }

    /// Ends the file; returns how many rows it has, and the notes about its lines. Fails when the file cannot be written.
    pub fn finish(self) -> Result<(u64, LineNotes)> {
        Ok((self.sheet.finish()?, self.notes))
    }
}
