//! `neuronscope devices`

use anyhow::Result;

use super::text;
use crate::args::DevicesArgs;
use ns_session::{Hardware, costs, costs_markdown};
use ns_view::terminal::document;

pub(super) fn run(args: DevicesArgs) -> Result<()> {
    let hardware = || Hardware::of(args.name.as_deref().unwrap_or_default());
    match (args.costs, args.json) {
        (true, true) => text::print_json(&costs()),
        (true, false) => text::print(costs_markdown().as_bytes()),
        (false, true) => text::print_json(&hardware()?),
        (false, false) => text::print(document(&hardware()?.document()).as_bytes()),
    }
}
