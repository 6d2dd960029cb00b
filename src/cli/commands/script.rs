//! `neuronscope run`

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::args::RunArgs;
use crate::file;
use crate::shell::Shell;
use ns_session::{neuronperf_command, refuse_script};

/// Names of Python, the first one first.
const PYTHONS: [&str; 2] = ["python3", "python"];

pub(super) fn run(shell: &Shell, args: &RunArgs) -> Result<()> {
    let Some(python) = PYTHONS.into_iter().find(|python| has_package(python)) else {
        let words: Vec<&str> = args.words.iter().filter_map(|word| word.to_str()).collect();
        let script = words.iter().position(|word| word.ends_with(".py"));
        let instead = script.and_then(|at| {
            let content = file::read(shell, Path::new(words[at])).unwrap_or_default();
            let flags = words[at + 1..].iter().copied();
            let arguments: Vec<String> = std::iter::once("").chain(flags).map(str::to_owned).collect();
            refuse_script(words[at], &content, &arguments, neuronperf_command)
        });
        let instead = instead.map(|refusal| format!("; {refusal}")).unwrap_or_default();
        bail!("no Python here ({}) has the package neuronscope: pip install neuronscope{instead}", PYTHONS.join(", "));
    };
    let ended = Command::new(python).args(["-m", "neuronscope"].map(OsStr::new)).args(&args.words).status();
    match ended.with_context(|| format!("{python} cannot be started"))? {
        status if status.success() => Ok(()),
        status => bail!("the script ended with {status}"),
    }
}

fn has_package(python: &str) -> bool {
    let mut check = Command::new(python);
    check.args(["-c", "import neuronscope"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    check.status().is_ok_and(|status| status.success())
}
