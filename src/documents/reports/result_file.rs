//! The results of benchmarks in a file: `neuronscope report`.

use ns_base::{Refusal, refuse};
use ns_bench::ModelIndex;
use ns_bench::import::{ImportedReports, read_reports_at};
use ns_forms::{Kind, sniff};

/// A larger file is no model index: an entry has some hundred bytes.
const MOST_INDEX_BYTES: usize = 8 << 20;

/// The reports of a file, at a price for an hour if one is given. Fails when it has none, and names the command that takes a file of another
/// kind.
pub fn results_of(file: &str, bytes: &[u8], cost_per_hour: Option<f64>) -> Result<ImportedReports, Refusal> {
    let is_index = |text| ModelIndex::read(text).is_ok();
    read_reports_at(file, bytes, cost_per_hour).map_err(|refusal| {
        if bytes.len() < MOST_INDEX_BYTES && std::str::from_utf8(bytes).is_ok_and(is_index) {
            return refuse!("{file}: is a model index, not results; neuronscope bench {file} runs it");
        }
        if sniff(bytes, file) == Kind::Figures {
            return refuse!("{file}: is a table of figures, not results; neuronscope validate {file} judges it");
        }
        refusal
    })
}
