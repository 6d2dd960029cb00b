//! `neuronscope idle SOURCE` and `neuronscope critical-path SOURCE`

use anyhow::Result;

use super::analysis::{list, print_listed};
use crate::analysis_args::{PathArgs, SpanArgs};
use crate::driver::Driver;
use crate::source;
use ns_base::{Interval, TraceNs};
use ns_session::Listing;

pub(super) fn run(args: SpanArgs) -> Result<()> {
    show(args, Listing::Idle)
}

pub(super) fn run_path(args: PathArgs) -> Result<()> {
    let instances = args.instances.instances();
    show(args.span, |range| Listing::CriticalPath(range, instances))
}

fn show(args: SpanArgs, what: impl FnOnce(Option<Interval<TraceNs>>) -> Listing) -> Result<()> {
    let mut driver = Driver::new();
    let profile = source::open(&mut driver, &args.source)?.profile;
    let listed = list(&mut driver, profile, what(args.range), &args.output)?;
    print_listed(&driver, &listed, &args.output)
}
