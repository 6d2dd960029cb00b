//! `neuronscope bench`
use anyhow::{Result, bail};

use crate::cli::args::BenchArgs;

pub(super) fn run(_args: BenchArgs) -> Result<()> {
    bail!("in the making")
}
