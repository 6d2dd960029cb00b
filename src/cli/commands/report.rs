//! `neuronscope report FILE...`

use anyhow::{Result, bail};

use super::reports;
use crate::args::ReportArgs;
use crate::host;
use ns_bench::ModelIndex;
use ns_bench::import::read_reports_at;

pub(super) fn run(args: ReportArgs) -> Result<()> {
    reports::check(&args.table)?;
    let mut all = Vec::new();
    for path in &args.files {
        let shown = path.display().to_string();
        let bytes = crate::file::read(path)?;
        if std::str::from_utf8(&bytes).is_ok_and(|text| ModelIndex::read(text).is_ok()) {
            bail!("{shown}: is a model index, not results; neuronscope bench {shown} runs it")
        }
        let mut imported = read_reports_at(&shown, &bytes, args.cost_per_hour)?;
        for diagnostic in imported.diagnostics.items() {
            host::say(&format!("note: {shown}: {diagnostic}"));
        }
        all.append(&mut imported.reports);
    }
    reports::write_files(&all, &args.table, None, None, &mut |line| host::say(&line))?;
    reports::print(&all, &args.table, None)
}
