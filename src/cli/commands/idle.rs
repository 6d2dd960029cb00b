//! `neuronscope idle SOURCE` and `neuronscope critical-path SOURCE`

use anyhow::Result;

use super::analysis::{list, print_listed};
use crate::analysis_args::{PathArgs, SpanArgs};
use crate::driver::Driver;
use crate::shell::Shell;
use crate::source;
use ns_base::{Interval, TraceNs};
use ns_session::Listing;

pub(super) fn run(shell: &Shell, args: SpanArgs) -> Result<()> {
    show(shell, args, Listing::Idle)
}

pub(super) fn run_path(shell: &Shell, args: PathArgs) -> Result<()> {
    let instances = args.instances.instances();
    show(shell, args.span, |range| Listing::CriticalPath(range, instances))
}

fn show(shell: &Shell, args: SpanArgs, what: impl FnOnce(Option<Interval<TraceNs>>) -> Listing) -> Result<()> {
    let mut driver = Driver::new(shell);
    let profile = source::open(&mut driver, &args.source)?.profile;
    let listed = list(&mut driver, profile, what(args.range), &args.output)?;
    print_listed(&driver, &listed, &args.output)
}
