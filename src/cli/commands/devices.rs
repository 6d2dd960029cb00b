//! `neuronscope devices`

use anyhow::Result;

use super::text;
use crate::args::DevicesArgs;
use ns_session::{Hardware, costs, costs_markdown};
use ns_view::terminal::document;

pub(super) fn run(args: DevicesArgs) -> Result<()> {
    match (args.costs, args.json) {
        (true, true) => text::print_json(&costs()),
        (true, false) => text::print(costs_markdown().as_bytes()),
        (false, true) => text::print_json(&Hardware::all()),
        (false, false) => text::print(document(&Hardware::all().document()).as_bytes()),
    }
}
