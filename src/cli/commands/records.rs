//! `neuronscope records FILE...`

use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;

use super::aggregate::files_of;
use super::analysis::json_rows;
use crate::driver::Driver;
use crate::experiment_args::RecordsArgs;
use crate::file::FileSource;
use crate::shell::Shell;
use ns_session::share::ExperimentLink;
use ns_session::{
    ByteSource as _, ExperimentSpec, JobRequest, JobResult, Message, QuestionRequest, RecordsAsk, RecordsKey,
    RecordsRead, RecordsResult, RecordsSource, Reply, records_page,
};
use ns_view::document::{Block, Document};
use ns_view::terminal;

pub(super) fn run(shell: &Shell, args: RecordsArgs) -> Result<()> {
    let mut spec = ExperimentSpec::default();
    args.options.put_into(&mut spec, &[])?;
    let mut driver = Driver::apart(shell);
    let set = RecordsKey::default();
    let mut read = RecordsRead::default();
    for path in files_of(shell, &args.files)? {
        read = read_file(&mut driver, set, &path)?;
    }
    if read.remarks > 0 {
        let (n, lines) = (read.remarks, if read.remarks == 1 { "remark" } else { "remarks" });
        driver.say(&format!("note: {n} {lines} on the lines of these files: --view lines has them"));
    }
    let ask = QuestionRequest::Records(set, RecordsAsk::Show(Box::new(spec.clone())));
    let Some(Message::Answer(Reply::Records(result))) = driver.run(ask, None)? else {
        bail!("the session did not answer about the records");
    };
    let RecordsResult { mut document, problems, .. } = *result;
    let names = if read.packed.is_some() { Vec::new() } else { read.files.into_iter().map(|(name, _)| name).collect() };
    let link = ExperimentLink { spec, data: read.packed, files: names, plan: None };
    let page = args.page.save_page(shell, || records_page(&link, &document, &args.page.live));
    if args.json {
        shell.print_json(&ViewTables::of(&document))?;
    } else {
        // Who reads this has just typed the command.
        document.blocks.retain(|block| !matches!(block, Block::Command(_)));
        shell.print_lines(&terminal::document(&document))?;
    }
    page?;
    match problems.first() {
        Some(problem) => bail!("--{problem}"),
        None => Ok(()),
    }
}

/// Reads a file into a set; returns what the set holds now.
fn read_file(driver: &mut Driver<'_>, set: RecordsKey, path: &Path) -> Result<RecordsRead> {
    let file = FileSource::open(driver.shell, path)?;
    let name = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let source = RecordsSource::File { name, size: file.size() };
    match driver.run(JobRequest::ReadRecords(set, source), Some(Box::new(file)))? {
        Some(Message::Done(JobResult::Records(read))) => Ok(read),
        _ => bail!("{}: reading was stopped", path.display()),
    }
}

/// A view as JSON: its tables by the names of their files.
#[derive(Serialize)]
struct ViewTables<'a> {
    title: &'a str,
    tables: serde_json::Map<String, serde_json::Value>,
}

impl<'a> ViewTables<'a> {
    fn of(document: &'a Document) -> Self {
        let mut tables = serde_json::Map::new();
        add_tables(&document.blocks, &mut tables);
        Self { title: &document.title, tables }
    }
}

fn add_tables(blocks: &[Block], tables: &mut serde_json::Map<String, serde_json::Value>) {
    for block in blocks {
        match block {
            Block::Table { file, table, .. } | Block::Rows { file, table, .. } => {
                tables.insert(file.clone(), json_rows(table).into());
            }
            Block::Beside(parts) => parts.iter().for_each(|part| add_tables(&part.blocks, tables)),
            _ => {}
        }
    }
}
