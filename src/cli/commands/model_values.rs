//! Arrays in files, for `--inputs` and `--expect` of `inspect` and `numerics`.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::file::FileSource;
use crate::inspect_args::ArraysArgs;
use crate::shell::Shell;
use ns_readers::read_npz;
use ns_session::Value;

/// The arrays of a file by their names.
type Arrays = Vec<(String, Value)>;

/// The arrays of a file of `numpy.savez`. Fails when it cannot be read.
pub(super) fn read_arrays(shell: &Shell, path: &Path) -> Result<Arrays> {
    read_npz(&FileSource::open(shell, path)?).with_context(|| path.display().to_string())
}

/// Inputs and expected results; `None` when no arrays are given. Fails when only the inputs are given, or a file cannot be read.
pub(super) fn read_both(shell: &Shell, args: &ArraysArgs) -> Result<Option<[Arrays; 2]>> {
    match (&args.inputs, &args.expect) {
        (Some(inputs), Some(expect)) => Ok(Some([read_arrays(shell, inputs)?, read_arrays(shell, expect)?])),
        (Some(_), None) => bail!("--inputs needs --expect FILE.npz with the expected results"),
        _ => Ok(None),
    }
}
