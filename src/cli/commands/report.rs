//! `neuronscope report FILE...`

use anyhow::Result;

use super::reports;
use crate::args::ReportArgs;
use crate::host;
use ns_session::reports::results_of;

pub(super) fn run(args: ReportArgs) -> Result<()> {
    reports::check(&args.table)?;
    let mut all = Vec::new();
    for path in &args.files {
        let place = path.display().to_string();
        let mut imported = results_of(&place, &crate::file::read(path)?, args.cost_per_hour)?;
        for diagnostic in imported.diagnostics.items() {
            host::say(&format!("note: {place}: {diagnostic}"));
        }
        all.append(&mut imported.reports);
    }
    let files = reports::write_files(&all, &args.table, None, None, &mut |line| host::say(&line));
    reports::print(&all, &args.table, None)?;
    files
}
