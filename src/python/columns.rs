//! The rows of a table as Arrow columns, for programs that take Arrow's C data interface (pyarrow, polars, DuckDB) and for NumPy.
//!
//! A command's answer is JSON. Its columns are made of this text once, without Python objects; whoever takes them shares their memory.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, NullArray, RecordBatch, RecordBatchIterator,
    RecordBatchOptions, StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, Field, Fields, Schema};
use indexmap::IndexMap;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Arrow's name for the capsule of a stream of columns.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// The longest text whose strings the offsets of a column can count.
const MOST_BYTES: usize = i32::MAX as usize;

/// The columns of a table.
#[pyclass(frozen, module = "neuronscope._core")]
pub struct Columns {
    batch: RecordBatch,
}

#[pymethods]
impl Columns {
    /// `rows` is a JSON list of objects.
    #[new]
    fn new(py: Python<'_>, rows: &[u8]) -> PyResult<Self> {
        py.detach(|| columns(rows)).map(|batch| Self { batch }).map_err(PyValueError::new_err)
    }

    /// Their names, in the order in which the rows first have them.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_columns()
    }

    /// Arrow's PyCapsule interface. A column has one type, so no other schema can be had.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
    }

    /// A column of numbers without gaps, as NumPy takes it; `None` for any other.
    fn numbers(&self, name: &str) -> Option<Numbers> {
        let column = self.batch.column_by_name(name)?;
        let is_of_numbers =
            column.as_primitive_opt::<Int64Type>().is_some() || column.as_primitive_opt::<Float64Type>().is_some();
        (is_of_numbers && column.null_count() == 0).then(|| Numbers(Arc::clone(column)))
    }
}

/// A column of numbers, which NumPy reads where it is.
#[pyclass(frozen, module = "neuronscope._core")]
pub struct Numbers(ArrayRef);

#[pymethods]
impl Numbers {
    /// NumPy's array interface. The array keeps this object, and so the memory; it may not write there.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (kind, address) = match self.0.as_primitive_opt::<Int64Type>() {
            Some(whole) => ("i8", whole.values().as_ptr().expose_provenance()),
            None => ("f8", self.0.as_primitive::<Float64Type>().values().as_ptr().expose_provenance()),
        };
        let order = if cfg!(target_endian = "little") { '<' } else { '>' };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", PyTuple::new(py, [self.0.len()])?)?;
        interface.set_item("typestr", format!("{order}{kind}"))?;
        interface.set_item("data", (address, true))?;
        Ok(interface)
    }
}

/// A value as it stands in the text; `None` where a row has none.
type Cell<'a> = Option<&'a str>;

fn columns(rows: &[u8]) -> Result<RecordBatch, String> {
    if rows.len() > MOST_BYTES {
        return Err(format!(
            "the table has {} bytes of text, more than the {MOST_BYTES} that columns can hold: ask for fewer rows or columns",
            rows.len()
        ));
    }
    let cells: Vec<&RawValue> =
        serde_json::from_slice(rows).map_err(|e| format!("the table is no list of JSON: {e}"))?;
    let cells: Vec<Cell<'_>> = cells.into_iter().map(|cell| Some(cell.get())).collect();
    let (fields, arrays) = parts(&cells).map_err(|e| format!("the table has no columns: {e}"))?;
    let schema = Arc::new(Schema::new(fields));
    let options = RecordBatchOptions::new().with_row_count(Some(cells.len()));
    RecordBatch::try_new_with_options(schema, arrays, &options).map_err(|e| format!("the table has no columns: {e}"))
}

/// An object of JSON in the order of its text.
struct Row<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Row<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Row<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a row, which is an object")
            }

            fn visit_map<M: serde::de::MapAccess<'de>>(self, mut map: M) -> Result<Row<'de>, M::Error> {
                let mut cells = Vec::new();
                while let Some((name, value)) = map.next_entry::<Key<'de>, &RawValue>()? {
                    cells.push((name.0, value));
                }
                Ok(Row(cells))
            }
        }
        from.deserialize_map(Visitor)
    }
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// The columns of objects, by name.
fn parts(rows: &[Cell<'_>]) -> Result<(Fields, Vec<ArrayRef>), ArrowError> {
    let mut by_name: IndexMap<Cow<'_, str>, Vec<Cell<'_>>> = IndexMap::new();
    for (n, row) in rows.iter().enumerate() {
        let Some(row) = row else { continue };
        for (name, value) in of_json::<Row<'_>>(row)?.0 {
            let cells = by_name.entry(name).or_default();
            // Rows before this one may not have the column.
            cells.resize(n, None);
            cells.push(Some(value.get()).filter(|text| *text != "null"));
        }
    }
    let mut columns = (Vec::new(), Vec::new());
    for (name, mut cells) in by_name {
        cells.resize(rows.len(), None);
        let array = array(&cells)?;
        columns.0.push(Field::new(name, array.data_type().clone(), true));
        columns.1.push(array);
    }
    Ok((columns.0.into(), columns.1))
}

fn of_json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ArrowError> {
    serde_json::from_str(text).map_err(|e| ArrowError::JsonError(e.to_string()))
}

/// What the cells of a column have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Whole,
    Real,
    Text,
    List,
    Object,
    /// Nothing: the cells stay the JSON that they are.
    Mixed,
}

impl Kind {
    fn of(text: &str) -> Self {
        match text.bytes().next() {
            Some(b't' | b'f') => Self::Bool,
            Some(b'"') => Self::Text,
            Some(b'[') => Self::List,
            Some(b'{') => Self::Object,
            _ if text.parse::<i64>().is_ok() => Self::Whole,
            _ => Self::Real,
        }
    }

    const fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Whole | Self::Real, Self::Real) | (Self::Real, Self::Whole) => Self::Real,
            (a, b) if a as u8 == b as u8 => a,
            _ => Self::Mixed,
        }
    }
}

fn array(cells: &[Cell<'_>]) -> Result<ArrayRef, ArrowError> {
    let Some(kind) = cells.iter().flatten().map(|text| Kind::of(text)).reduce(Kind::with) else {
        return Ok(Arc::new(NullArray::new(cells.len())));
    };
    Ok(match kind {
        Kind::Bool => Arc::new(cells.iter().map(|cell| cell.map(|text| text == "true")).collect::<BooleanArray>()),
        // The parser of the standard library is exact; that of JSON is not.
        Kind::Whole => {
            Arc::new(cells.iter().map(|cell| cell.and_then(|text| text.parse().ok())).collect::<Int64Array>())
        }
        Kind::Real => {
            Arc::new(cells.iter().map(|cell| cell.and_then(|text| text.parse().ok())).collect::<Float64Array>())
        }
        Kind::Text => {
            let texts = cells.iter().map(|cell| cell.map(of_json::<Cow<'_, str>>).transpose());
            Arc::new(texts.collect::<Result<StringArray, _>>()?)
        }
        Kind::Mixed => Arc::new(cells.iter().copied().collect::<StringArray>()),
        Kind::List => list(cells)?,
        Kind::Object => {
            let (fields, arrays) = parts(cells)?;
            let nulls = validity(cells);
            Arc::new(if arrays.is_empty() {
                StructArray::new_empty_fields(cells.len(), nulls)
            } else {
                StructArray::try_new(fields, arrays, nulls)?
            })
        }
    })
}

fn list(cells: &[Cell<'_>]) -> Result<ArrayRef, ArrowError> {
    let (mut items, mut lengths) = (Vec::new(), Vec::new());
    for cell in cells {
        let own = cell.map(of_json::<Vec<&RawValue>>).transpose()?.unwrap_or_default();
        lengths.push(own.len());
        items.extend(own.iter().map(|item| Some(item.get()).filter(|text| *text != "null")));
    }
    let items = array(&items)?;
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    Ok(Arc::new(ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), items, validity(cells))?))
}

fn validity(cells: &[Cell<'_>]) -> Option<NullBuffer> {
    Some(NullBuffer::from_iter(cells.iter().map(Option::is_some))).filter(|nulls| nulls.null_count() > 0)
}
