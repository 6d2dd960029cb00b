//! Helpers of the commands that analyse: asking the session, and printing tables.

use anyhow::{Result, bail};

use crate::analysis_args::ListingOutput;
use crate::driver::Driver;
use crate::remarks::with_remarks;
use crate::shell::to_json;
use ns_analysis::opcode::name_in;
use ns_session::{AnalysisRequest, Answer, LinkedTable, Listing, Message, ProfileKey, Question, Reply, Rows};
use ns_view::table::{Cell, Table};
use ns_view::terminal;

/// Asks for the rows of a table that the flags select.
pub(super) fn list(
    driver: &mut Driver<'_>,
    profile: ProfileKey,
    what: Listing,
    output: &ListingOutput,
) -> Result<LinkedTable> {
    let limit = if output.json || output.csv { u32::MAX } else { u32::try_from(output.top).unwrap_or(u32::MAX) };
    let rows = Rows { limit, ..Rows::ALL };
    match driver.run(AnalysisRequest::List(what, rows).of(profile), None)? {
        Some(Message::Answer(Reply::Listed(listed))) => Ok(*listed),
        _ => bail!("the session returned no table"),
    }
}

/// Asks any other question.
pub(super) fn analyse(driver: &mut Driver<'_>, profile: ProfileKey, question: Question) -> Result<Answer> {
    match driver.run(AnalysisRequest::Analyse(question).of(profile), None)? {
        Some(Message::Answer(Reply::Analysed(answer))) => Ok(*answer),
        _ => bail!("the session returned no answer"),
    }
}

/// Prints an answer as JSON, with what was noticed in the profiles that it is about.
pub(super) fn print_json(driver: &Driver<'_>, answer: &impl serde::Serialize) -> Result<()> {
    driver.shell.print(&with_remarks(to_json(answer)?, driver.remarks())?)
}

/// As [`print_listed`], below a line that JSON and CSV leave out.
pub(super) fn print_headed(driver: &Driver, line: &str, listed: &LinkedTable, output: &ListingOutput) -> Result<()> {
    if !output.json && !output.csv {
        driver.shell.print_lines(line)?;
    }
    print_listed(driver, listed, output)
}

/// Prints a table as the flags say: the first rows as text, or all rows as CSV or JSON.
pub(super) fn print_listed(driver: &Driver, listed: &LinkedTable, output: &ListingOutput) -> Result<()> {
    if output.json {
        return print_json(driver, &serde_json::Value::Array(json_rows(&listed.table)));
    }
    if output.csv {
        return driver.shell.print(listed.table.to_csv().as_bytes());
    }
    let mut out = table_text(&listed.table, output.top);
    if listed.total > output.top as u64 {
        out.push_str(&format!("... and {} more (--top N shows more)\n", listed.total - output.top as u64));
    }
    for note in &listed.notes {
        out.push_str(&format!("{note}\n"));
    }
    driver.shell.print_lines(&out)
}

/// The first rows of a table as text.
pub(super) fn table_text(table: &Table, top: usize) -> String {
    let mark = |numeric: bool| if numeric { ">" } else { "" };
    let headings: Vec<String> = table.columns.iter().map(|c| format!("{}{}", mark(c.is_numeric()), c.title)).collect();
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .take(top)
        .map(|row| row.iter().zip(&table.columns).map(|(cell, c)| name_in(&cell.text(c.kind), 72)).collect())
        .collect();
    terminal::table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), &rows)
}

/// The rows of a table, each with the keys of its columns.
pub(super) fn json_rows(table: &Table) -> Vec<serde_json::Value> {
    let value = |cell: &Cell| match cell {
        Cell::Text(t) => serde_json::Value::from(t.as_str()),
        Cell::Count(n) => serde_json::Value::from(*n),
        Cell::Number(v) => serde_json::Value::from(*v),
        Cell::Missing => serde_json::Value::Null,
    };
    let row = |row: &Vec<Cell>| {
        let members = table.columns.iter().zip(row).map(|(c, cell)| (c.id.clone(), value(cell)));
        serde_json::Value::Object(members.collect())
    };
    table.rows.iter().map(row).collect()
}
