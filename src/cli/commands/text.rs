//! What is printed: texts, tables, JSON.

use std::io::Write as _;

use anyhow::Context as _;

use crate::host;
use ns_base::printable;
pub(super) use ns_view::terminal::table;

/// Prints a value as JSON. Fails as [`print`].
pub(super) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&to_json(value)?)
}

/// A value as the lines of JSON that [`print_json`] prints. Fails when it cannot be written as JSON.
pub(super) fn to_json(value: &impl serde::Serialize) -> anyhow::Result<Vec<u8>> {
    let mut json = serde_json::to_vec_pretty(value)?;
    json.push(b'\n');
    Ok(json)
}

/// Writes lines of text with names of files in them, without what acts on a terminal. Fails as [`print`].
pub(super) fn print_lines(text: &str) -> anyhow::Result<()> {
    print(printable(text, true).as_bytes())
}

/// Writes to stdout, or to the host; a closed pipe (`| head`) is not an error. Fails when stdout cannot be written to for another
/// reason.
pub(super) fn print(bytes: &[u8]) -> anyhow::Result<()> {
    if host::give(|host| host.print(bytes)).is_some() {
        return Ok(());
    }
    let mut stdout = std::io::stdout().lock();
    checked(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// As [`print`] takes what stdout said. Fails as [`print`].
pub(crate) fn checked(printed: std::io::Result<()>) -> anyhow::Result<()> {
    match printed {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(e).context("the output cannot be written to stdout")
        }
        _ => Ok(()),
    }
}
