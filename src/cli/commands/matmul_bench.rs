//! `neuronscope matmul-bench`

use std::io::IsTerminal;

use anyhow::{Result, bail};

use super::cpu::SystemClock;
use crate::experiment_args::MatmulBenchArgs;
use crate::shell::Shell;
use ns_experiment::micro::SpeedupClass;
use ns_session::reports::ProductComparison;

pub(super) fn run(shell: &Shell, args: MatmulBenchArgs) -> Result<()> {
    let mut comparison = ProductComparison::default();
    args.options.put_into(&mut comparison, &[])?;
    let (clock, is_terminal) = (SystemClock::new(), std::io::stdout().is_terminal());
    let mut is_timed = false;
    for product in comparison.run(&clock)? {
        is_timed |= product.class().is_some();
        let line = if args.json { product.json()? } else { product.line() };
        // Red where the device is slower, green where it is faster; plain in a file.
        let line = match product.class().filter(|_| is_terminal && !args.json) {
            Some(SpeedupClass::Slower) => format!("\u{1b}[31m{line}\u{1b}[0m"),
            Some(SpeedupClass::Faster) => format!("\u{1b}[32m{line}\u{1b}[0m"),
            Some(SpeedupClass::Same) | None => line,
        };
        shell.print(format!("{line}\n").as_bytes())?;
    }
    if is_timed { Ok(()) } else { bail!("no product could be timed") }
}
