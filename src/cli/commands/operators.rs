//! `neuronscope operators SOURCE`

use anyhow::Result;

use super::analysis::{list, print_headed};
use crate::analysis_args::OperatorsArgs;
use crate::driver::Driver;
use crate::shell::Shell;
use crate::source;
use ns_analysis::members::MemberOrder;
use ns_session::{GroupsOf, Listing, MembersOf};

pub(super) fn run(shell: &Shell, args: OperatorsArgs) -> Result<()> {
    let mut driver = Driver::new(shell);
    let info = source::open(&mut driver, &args.source)?;
    let (line, profile) = (args.chosen.level.line(&info), info.profile);
    let (of, by) = (args.chosen.slice_filter(), args.by);
    let what = match args.members {
        Some(name) => Listing::Members(MembersOf { of, by, name, order: MemberOrder::Longest }),
        None => Listing::Groups(GroupsOf { by, range: of.range, tracks: of.tracks, level: of.level }),
    };
    let listed = list(&mut driver, profile, what, &args.output)?;
    print_headed(&driver, &line, &listed, &args.output)
}
