//! Rows of a table of published figures, read by column name.

use csv::{ReaderBuilder, StringRecord};
use ns_base::{Refusal, refuse};

/// One published row: the fields that a prediction needs, and the throughput it is compared with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublishedRow {
    /// Model as the table names it.
    pub model: String,
    /// Framework and release: `PyTorch 2.9`.
    pub framework: String,
    /// Instance type as the table writes it.
    pub instance: String,
    /// Samples of one inference.
    pub batch_size: Option<u32>,
    /// Sequence length, or the image size as `224x224`.
    pub sequence_or_image: String,
    /// Number of models or cores, if the table has it.
    pub n_models_or_cores: Option<u32>,
    /// The cell of that number as it is written: `TP=24; DP=1`.
    pub n_models_text: String,
    /// Workers per model, if the table has it.
    pub workers_per_model: Option<u32>,
    /// `inference`, or the row's other subject.
    pub kind: String,
    pub throughput_unit: String,
    /// Median latency, milliseconds. Like the throughput it is no input to a prediction.
    pub latency_p50_ms: Option<f64>,
    /// 99th percentile of the latency, milliseconds.
    pub latency_p99_ms: Option<f64>,
    /// Requests in flight, rounded; the number of cores and workers follows from it.
    pub outstanding_requests: Option<u32>,
    /// The row's subject: `Text Generation; Real Time; Tensor Parallel`.
    pub task: String,
    /// Number formats: `FP16; autocast=Matmult-BF16; weights=int8`.
    pub dtype: String,
    /// What the table has no column for: `TTFT_p50_ms=25; Input Length=128`.
    pub notes: String,
    /// Published throughput. Only compared with the prediction, never an input to it.
    pub published: Option<f64>,
}

/// Reads a table. Columns are found by name; their order and additional columns do not matter. Fails when it is not CSV, or a
/// required column is missing.
pub fn read_rows(csv: &[u8]) -> Result<Vec<PublishedRow>, Refusal> {
    // Spreadsheets put a byte order mark before the first name.
    let text = String::from_utf8_lossy(csv.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(csv));
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|e| csv_error(&e))?.clone();
    let columns = Columns::of(&headers)?;
    reader.records().map(|record| Ok(columns.row(&record.map_err(|e| csv_error(&e))?))).collect()
}

fn csv_error(error: &csv::Error) -> Refusal {
    refuse!("line {}: {error}", error.position().map_or(0, csv::Position::line))
}

/// Position of each column.
struct Columns {
    model: usize,
    instance: Option<usize>,
    batch_size: Option<usize>,
    throughput: Option<usize>,
    framework: Option<usize>,
    sequence: Option<usize>,
    cores: Option<usize>,
    kind: Option<usize>,
    unit: Option<usize>,
    latency_p50: Option<usize>,
    latency_p99: Option<usize>,
    outstanding: Option<usize>,
    task: Option<usize>,
    dtype: Option<usize>,
    notes: Option<usize>,
}

impl Columns {
    fn of(headers: &StringRecord) -> Result<Self, Refusal> {
        let find = |name: &str| headers.iter().position(|h| h.trim().eq_ignore_ascii_case(name));
        let need = |column: &'static str| {
            find(column).ok_or_else(|| {
                let found = headers.iter().collect::<Vec<_>>().join(", ");
                refuse!("the table has no column {column}; its columns are {found}")
            })
        };
        Ok(Self {
            model: need("model")?,
            instance: find("instance"),
            batch_size: find("batch_size"),
            throughput: find("throughput"),
            framework: find("framework"),
            sequence: find("sequence_length_or_image"),
            cores: find("n_models_or_cores"),
            kind: find("kind"),
            unit: find("throughput_unit"),
            latency_p50: find("latency_p50_ms"),
            latency_p99: find("latency_p99_ms"),
            outstanding: find("derived_outstanding_requests"),
            task: find("task"),
            dtype: find("dtype"),
            notes: find("notes"),
        })
    }

    fn row(&self, record: &StringRecord) -> PublishedRow {
        let text = |i: usize| record.get(i).unwrap_or("").trim().to_owned();
        let optional = |i: Option<usize>| i.map(text).unwrap_or_default();
        let cores = optional(self.cores);
        PublishedRow {
            model: text(self.model),
            framework: optional(self.framework),
            instance: optional(self.instance),
            batch_size: whole_number(&optional(self.batch_size)),
            sequence_or_image: optional(self.sequence),
            n_models_or_cores: named_number(&cores, "n_models").or_else(|| first_number(&cores)),
            n_models_text: cores.clone(),
            workers_per_model: named_number(&cores, "workers_per_model"),
            kind: optional(self.kind),
            throughput_unit: optional(self.unit),
            latency_p50_ms: number(&optional(self.latency_p50)),
            latency_p99_ms: number(&optional(self.latency_p99)),
            outstanding_requests: number(&optional(self.outstanding)).and_then(rounded),
            task: optional(self.task),
            dtype: optional(self.dtype),
            notes: optional(self.notes),
            published: number(&optional(self.throughput)).filter(|t| *t > 0.0),
        }
    }
}

/// A number, with commas between thousands or without.
fn number(text: &str) -> Option<f64> {
    text.replace(',', "").parse().ok().filter(|x: &f64| x.is_finite())
}

/// A whole number, however a spreadsheet wrote it: `8`, `8.0`.
fn whole_number(text: &str) -> Option<u32> {
    number(text).filter(|x| libm::trunc(*x) == *x).and_then(rounded)
}

/// The number of one key: `16` for `n_models` in `n_models=16; workers_per_model=2`.
fn named_number(text: &str, name: &str) -> Option<u32> {
    let named = text.split(';').filter_map(|part| part.split_once('='));
    named.filter(|(key, _)| key.trim() == name).find_map(|(_, value)| whole_number(value.trim()))
}

/// The first number: `1` in `1 core`.
fn first_number(text: &str) -> Option<u32> {
    text.split_whitespace().next().and_then(whole_number)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0.5 to a million, as the line says")]
fn rounded(x: f64) -> Option<u32> {
    (x.is_finite() && (0.5..1e6).contains(&x)).then(|| libm::round(x) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_in_any_order() {
        let rows = read_rows(b"throughput,extra,instance,model,batch_size\n10.5,x,Inf2.xlarge,resnet50,1\n").unwrap();
        assert_eq!((rows[0].model.as_str(), rows[0].batch_size, rows[0].published), ("resnet50", Some(1), Some(10.5)));
        let error = read_rows(b"name,throughput\na,1\n").unwrap_err().to_string();
        assert_eq!(error, "the table has no column model; its columns are name, throughput");
    }

    #[test]
    fn changes_of_spreadsheets_are_undone() {
        let text =
            "\u{feff}model,throughput,batch_size,n_models_or_cores\r\n\r\n\"a, \"\"b\"\"\",\"1,998.2\",8.0,1 core\r\n";
        let rows = read_rows(text.as_bytes()).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].model.as_str(), rows[0].published), ("a, \"b\"", Some(1998.2)));
        assert_eq!((rows[0].batch_size, rows[0].n_models_or_cores), (Some(8), Some(1)));
        let text = b"model,n_models_or_cores\nr,n_models=16; workers_per_model=2; pipeline_size=1\n\xff,\n";
        let rows = read_rows(text).unwrap();
        assert_eq!((rows[0].n_models_or_cores, rows[0].workers_per_model), (Some(16), Some(2)));
        assert_eq!((rows.len(), rows[1].n_models_or_cores), (2, None));
    }
}
