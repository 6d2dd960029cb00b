//! A Parquet file that is written row by row.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Result, bail};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use ns_base::convert::i64_to_f64;

/// Rows that are kept in memory until they are written.
const GROUP_ROWS: usize = 65_536;

/// Type of a column. Every column may hold nulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// UTF-8.
    Text,
    /// 64 bits, signed.
    Integer,
    /// A double.
    Number,
    /// True or false.
    Bool,
}

/// A column's name and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub name: String,
    pub kind: Kind,
}

impl Field {
    /// A column.
    pub fn new(name: &str, kind: Kind) -> Self {
        Self { name: name.to_owned(), kind }
    }
}

/// The value of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Text(&'a str),
    Integer(i64),
    Number(f64),
    Bool(bool),
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }
}

impl From<Option<i64>> for Value<'_> {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Self::Null, Self::Integer)
    }
}

impl From<Option<f64>> for Value<'_> {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Self::Null, Self::Number)
    }
}

/// The values of a column that wait to be written; nulls are only in the levels.
enum Waiting {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Number(Vec<f64>),
    Bool(Vec<bool>),
}

struct Column {
    name: String,
    /// 0 for null, 1 for a value.
    levels: Vec<i16>,
    waiting: Waiting,
}

/// A file that is being written.
pub(super) struct Sheet<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: u64,
}

impl<W: Write + Send> Sheet<W> {
    /// Begins a file. `table` names the documented table in the file's metadata. Fails when the file cannot be written.
    pub fn new(out: W, table: &str, fields: &[Field]) -> Result<Self> {
        let types = fields.iter().map(|f| Ok(Arc::new(column_type(f)?))).collect::<Result<Vec<_>>>()?;
        let schema = Arc::new(Type::group_type_builder("schema").with_fields(types).build()?);
        let about = [("neuronscope.table", table), ("neuronscope.version", env!("CARGO_PKG_VERSION"))];
        let about = about.map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("neuronscope {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(about.to_vec()))
            .build();
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
        let column = |f: &Field| Column { name: f.name.clone(), levels: Vec::new(), waiting: Waiting::of(f.kind) };
        Ok(Self { file, columns: fields.iter().map(column).collect(), rows: 0 })
    }

    /// Adds a row: a value for each column. Fails when the row does not fit the columns, or cannot be written.
    pub fn push(&mut self, row: &[Value<'_>]) -> Result<()> {
        if row.len() != self.columns.len() {
            bail!("a row has {} values for {} columns", row.len(), self.columns.len());
        }
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(*value)?;
        }
        self.rows += 1;
        if self.columns.first().is_some_and(|c| c.levels.len() >= GROUP_ROWS) { self.write_group() } else { Ok(()) }
    }

    /// Writes the remaining rows and ends the file; returns how many rows it has. Fails when the file cannot be written.
    pub fn finish(mut self) -> Result<u64> {
        if self.columns.first().is_some_and(|c| !c.levels.is_empty()) {
            self.write_group()?;
        }
        self.file.close()?;
        Ok(self.rows)
    }

    fn write_group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let Some(writer) = group.next_column()? else { bail!("column {} has no place in the file", column.name) };
            column.write(writer)?;
        }
        group.close()?;
        Ok(())
    }
}

fn column_type(field: &Field) -> Result<Type> {
    let (physical, logical) = match field.kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Integer => (Physical::INT64, None),
        Kind::Number => (Physical::DOUBLE, None),
        Kind::Bool => (Physical::BOOLEAN, None),
    };
    let builder = Type::primitive_type_builder(&field.name, physical);
    Ok(builder.with_repetition(Repetition::OPTIONAL).with_logical_type(logical).build()?)
}

impl Waiting {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(Vec::new()),
            Kind::Integer => Self::Integer(Vec::new()),
            Kind::Number => Self::Number(Vec::new()),
            Kind::Bool => Self::Bool(Vec::new()),
        }
    }
}

impl Column {
    fn push(&mut self, value: Value<'_>) -> Result<()> {
        match (&mut self.waiting, value) {
            (_, Value::Null) => {
                self.levels.push(0);
                return Ok(());
            }
            // Neighbouring cells often have the same text, which is then kept once.
            (Waiting::Text(list), Value::Text(text)) => match list.last() {
                Some(last) if last.data() == text.as_bytes() => list.push(last.clone()),
                _ => list.push(ByteArray::from(text)),
            },
            (Waiting::Integer(list), Value::Integer(number)) => list.push(number),
            (Waiting::Number(list), Value::Number(number)) => list.push(number),
            // Counts below 2^53 fit a double without loss.
            (Waiting::Number(list), Value::Integer(number)) => list.push(i64_to_f64(number)),
            (Waiting::Bool(list), Value::Bool(truth)) => list.push(truth),
            (_, value) => bail!("column {} cannot hold {value:?}", self.name),
        }
        self.levels.push(1);
        Ok(())
    }

    fn write(&mut self, mut writer: SerializedColumnWriter<'_>) -> Result<()> {
        let levels = Some(self.levels.as_slice());
        match &self.waiting {
            Waiting::Text(list) => writer.typed::<ByteArrayType>().write_batch(list, levels, None)?,
            Waiting::Integer(list) => writer.typed::<Int64Type>().write_batch(list, levels, None)?,
            Waiting::Number(list) => writer.typed::<DoubleType>().write_batch(list, levels, None)?,
            Waiting::Bool(list) => writer.typed::<BoolType>().write_batch(list, levels, None)?,
        };
        writer.close()?;
        self.levels.clear();
        match &mut self.waiting {
            Waiting::Text(list) => list.clear(),
            Waiting::Integer(list) => list.clear(),
            Waiting::Number(list) => list.clear(),
            Waiting::Bool(list) => list.clear(),
        }
        Ok(())
    }
}
