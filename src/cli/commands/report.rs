//! `neuronscope report FILE...`

use anyhow::Result;

use super::reports;
use crate::args::ReportArgs;
use crate::shell::Shell;
use ns_session::reports::results_of;

pub(super) fn run(shell: &Shell, args: ReportArgs) -> Result<()> {
    reports::check(shell, &args.table)?;
    let mut all = Vec::new();
    for path in &args.files {
        let place = path.display().to_string();
        let mut imported = results_of(&place, &crate::file::read(shell, path)?, args.cost_per_hour)?;
        for diagnostic in imported.diagnostics.items() {
            shell.note(&format!("{place}: {diagnostic}"));
        }
        all.append(&mut imported.reports);
    }
    let files = reports::write_files(shell, &all, &args.table, None, None, &mut |line| shell.say(&line));
    reports::print(shell, &all, &args.table, None)?;
    files
}
