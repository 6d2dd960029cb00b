//! `neuronscope operators-supported`

use anyhow::Result;
use serde::Serialize;

use crate::args::OperatorsSupportedArgs;
use crate::shell::Shell;
use ns_readers::{SUPPORTED_FORMATS, supported_operators};
use ns_session::engine_of;
use ns_view::terminal;

/// One operator as JSON.
#[derive(Serialize)]
struct Row {
    format: &'static str,
    operator: &'static str,
    kind: &'static str,
    engine: &'static str,
}

pub(super) fn run(shell: &Shell, args: &OperatorsSupportedArgs) -> Result<()> {
    let is_wanted = |format: &str| args.format.as_deref().is_none_or(|wanted| wanted == format);
    let rows = supported_operators().filter(|o| is_wanted(o.format)).map(|o| Row {
        format: o.format,
        operator: o.name,
        kind: o.kind.name(),
        engine: engine_of(o.kind),
    });
    let rows: Vec<Row> = rows.collect();
    if args.json {
        return shell.print_json(&rows);
    }
    let mut out = String::new();
    for (format, title) in SUPPORTED_FORMATS.into_iter().filter(|(format, _)| is_wanted(format)) {
        let of_format: Vec<&Row> = rows.iter().filter(|row| row.format == format).collect();
        out.push_str(&format!("{format}: {} {title}\n", of_format.len()));
        let cells = |row: &&Row| [row.operator, row.kind, row.engine].map(str::to_owned).to_vec();
        out.push_str(&terminal::table(
            &["Operator", "Kind", "Engine"],
            &of_format.iter().map(cells).collect::<Vec<_>>(),
        ));
        out.push('\n');
    }
    out.push_str(
        "Any other operator is placed by an estimate that --assume sets, and is listed in every result that uses it.\n",
    );
    shell.print(out.as_bytes())
}
