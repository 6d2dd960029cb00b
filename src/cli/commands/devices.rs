//! `neuronscope devices`

use anyhow::Result;

use crate::args::DevicesArgs;
use crate::shell::Shell;
use ns_session::{Hardware, costs, costs_markdown};
use ns_view::terminal::document;

pub(super) fn run(shell: &Shell, args: DevicesArgs) -> Result<()> {
    let hardware = || Hardware::of(args.name.as_deref().unwrap_or_default());
    match (args.costs, args.json) {
        (true, true) => shell.print_json(&costs()),
        (true, false) => shell.print(costs_markdown().as_bytes()),
        (false, true) => shell.print_json(&hardware()?),
        (false, false) => shell.print(document(&hardware()?.document()).as_bytes()),
    }
}
