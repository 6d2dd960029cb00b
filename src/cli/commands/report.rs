//! `neuronscope report FILE...`

use anyhow::{Result, anyhow};

use super::reports;
use crate::args::ReportArgs;
use crate::host;
use ns_bench::ModelIndex;
use ns_bench::import::read_reports_at;

/// A larger file is no model index: an entry has some hundred bytes.
const MOST_INDEX_BYTES: usize = 8 << 20;

pub(super) fn run(args: ReportArgs) -> Result<()> {
    reports::check(&args.table)?;
    let mut all = Vec::new();
    for path in &args.files {
        let place = path.display().to_string();
        let bytes = crate::file::read(path)?;
        let mut imported = read_reports_at(&place, &bytes, args.cost_per_hour).map_err(|refusal| {
            let is_index = |text| ModelIndex::read(text).is_ok();
            match bytes.len() < MOST_INDEX_BYTES && std::str::from_utf8(&bytes).is_ok_and(is_index) {
                true => anyhow!("{place}: is a model index, not results; neuronscope bench {place} runs it"),
                false => refusal.into(),
            }
        })?;
        for diagnostic in imported.diagnostics.items() {
            host::say(&format!("note: {place}: {diagnostic}"));
        }
        all.append(&mut imported.reports);
    }
    let files = reports::write_files(&all, &args.table, None, None, &mut |line| host::say(&line));
    reports::print(&all, &args.table, None)?;
    files
}
