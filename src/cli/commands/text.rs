//! Tables for a terminal.

use std::borrow::Cow;
use std::io::Write as _;

use anyhow::Context as _;

use crate::host;
use ns_base::printable;

/// Lays out rows under headings; a column is right-aligned when its heading starts with `>`, which is not shown.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    // Names come from files.
    let rows: Vec<Vec<Cow<'_, str>>> =
        rows.iter().map(|row| row.iter().map(|cell| printable(cell, false)).collect()).collect();
    let mut widths: Vec<usize> = headings.iter().map(|h| h.trim_start_matches('>').chars().count()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let right: Vec<bool> = headings.iter().map(|h| h.starts_with('>')).collect();
    let line = |cells: &[Cow<'_, str>]| {
        let mut text = String::new();
        for ((cell, width), right) in cells.iter().zip(&widths).zip(&right) {
            if !text.is_empty() {
                text.push_str("  ");
            }
            if *right {
                text.push_str(&format!("{cell:>width$}"));
            } else {
                text.push_str(&format!("{cell:<width$}"));
            }
        }
        text.trim_end().to_owned() + "\n"
    };
    let names: Vec<Cow<'_, str>> = headings.iter().map(|h| Cow::Borrowed(h.trim_start_matches('>'))).collect();
    let mut out = line(&names);
    for row in &rows {
        out.push_str(&line(row));
    }
    out
}

/// Prints a value as JSON.
///
/// # Errors
/// As [`print`].
pub(super) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&to_json(value)?)
}

/// A value as the lines of JSON that [`print_json`] prints.
///
/// # Errors
/// When it cannot be written as JSON.
pub(super) fn to_json(value: &impl serde::Serialize) -> anyhow::Result<Vec<u8>> {
    let mut json = serde_json::to_vec_pretty(value)?;
    json.push(b'\n');
    Ok(json)
}

/// Writes lines of text with names of files in them, without what acts on a terminal.
///
/// # Errors
/// As [`print`].
pub(super) fn print_lines(text: &str) -> anyhow::Result<()> {
    print(printable(text, true).as_bytes())
}

/// Writes to stdout, or to the host; a closed pipe (`| head`) is not an error.
///
/// # Errors
/// When stdout cannot be written to for another reason.
pub(super) fn print(bytes: &[u8]) -> anyhow::Result<()> {
    if host::give(|host| host.print(bytes)).is_some() {
        return Ok(());
    }
    let mut stdout = std::io::stdout().lock();
    checked(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// As [`print`] takes what stdout said.
///
/// # Errors
/// As [`print`].
pub(crate) fn checked(printed: std::io::Result<()>) -> anyhow::Result<()> {
    match printed {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(e).context("the output cannot be written to stdout")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["dot".to_owned(), "279".to_owned()], vec!["maximum".to_owned(), "6".to_owned()]];
        assert_eq!(table(&["Op", ">ns"], &rows), "Op        ns\ndot      279\nmaximum    6\n");
    }
}
