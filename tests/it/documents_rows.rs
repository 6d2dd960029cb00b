//! docs/documents.md: a row's command prints what the row says, and a row of the page or of Python names a test that exists.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Output;

use crate::folder::Folder;
use crate::shell::{blocks, page};

const PAGE: &str = "docs/documents.md";

/// The headings of the page, with the rows that each has: a row added or lost is seen here.
const ROWS: [(&str, usize); 5] = [
    ("Neuron microbenchmark guide", 25),
    ("NeuronPerf benchmark guide", 65),
    ("Profiling PyTorch Neuron with TensorBoard", 36),
    ("PyTorch/XLA benchmarks README", 32),
    ("Neuron custom C++ operators MLP performance tutorial", 22),
];

/// Rows that may say that something is not there, and that it differs.
const MOST_WITHOUT: usize = 4;
const MOST_DIFFERENT: usize = 2;

/// Folders of tests that a row may name, and what stands before a test's name there.
const TESTS: [(&str, &str); 2] = [("tests/e2e/", "test(\""), ("src/python/tests/", "def ")];

/// What a row claims about its command.
#[derive(Debug, PartialEq)]
enum Claim {
    Prints(String),
    DoesNotPrint(String),
    Exits(i32),
    /// A test of the browser or of the Python package: its file and its name.
    Shown(String, String),
}

#[derive(Debug)]
struct Row {
    /// The line of the page, counted from 1.
    line: usize,
    command: String,
    claims: Vec<Claim>,
    /// `yes`, `differs` or `no`.
    state: String,
    reason: String,
}

/// The part of the page below a heading.
fn chapter<'a>(page: &'a str, heading: &str) -> &'a str {
    let start = format!("\n## {heading}\n");
    let (_, rest) = page.split_once(&start).unwrap_or_else(|| panic!("{PAGE} has no chapter {heading}"));
    rest.split("\n## ").next().unwrap()
}

/// The cells of a table's line, whose code may hold `\|`.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\0");
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| cell.trim().replace('\0', "|")).collect()
}

/// The text between backticks at the start, and the rest.
fn code(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('`')?.split_once('`')
}

fn claim(text: &str) -> Option<(Claim, &str)> {
    if let Some(rest) = text.strip_prefix("exit ") {
        let (number, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
        return Some((Claim::Exits(number.parse().ok()?), rest));
    }
    if let Some(rest) = text.strip_prefix("not ") {
        return code(rest).map(|(words, rest)| (Claim::DoesNotPrint(words.into()), rest));
    }
    let (words, rest) = code(text)?;
    let shown = words.split_once(": \"").filter(|(file, _)| TESTS.iter().any(|(folder, _)| file.starts_with(folder)));
    let claim = match shown {
        Some((file, name)) => Claim::Shown(file.into(), name.strip_suffix('"')?.into()),
        None => Claim::Prints(words.into()),
    };
    Some((claim, rest))
}

/// The cell `prints`: claims with commas between them.
fn claims(cell: &str) -> Option<Vec<Claim>> {
    let (first, mut rest) = claim(cell)?;
    let mut all = vec![first];
    while !rest.is_empty() {
        let (next, after) = claim(rest.strip_prefix(", ")?)?;
        all.push(next);
        rest = after;
    }
    Some(all)
}

fn row(line: usize, text: &str) -> Result<Row, String> {
    let cells = cells(text);
    let [_, _, command, prints, state] = &cells[..] else {
        return Err(format!("{PAGE}:{line}: {} cells instead of 5", cells.len()));
    };
    let claims = claims(prints).ok_or(format!("{PAGE}:{line}: the cell cannot be read: {prints}"))?;
    let (head, reason) = state.split_once(':').unwrap_or((state, ""));
    let is_shown = matches!(claims[..], [Claim::Shown(..)]);
    let command = if is_shown { command } else { code(command).map_or("", |(command, _)| command) };
    if command.is_empty() {
        return Err(format!("{PAGE}:{line}: no command"));
    }
    let (command, state, reason) = (command.to_owned(), head.to_owned(), reason.trim().to_owned());
    Ok(Row { line, command, claims, state, reason })
}

/// The rows of a document, or every line that is not one.
fn rows(page: &str, heading: &str) -> Result<Vec<Row>, String> {
    let title = format!("## {heading}");
    let lines = (1..).zip(page.lines()).skip_while(|(_, text)| *text != title).skip(1);
    let is_row = |text: &str| text.starts_with('|') && !text.starts_with("|---") && !text.starts_with("| section |");
    let mut wrong = String::new();
    let mut rows = Vec::new();
    for (line, text) in lines.take_while(|(_, text)| !text.starts_with("## ")).filter(|(_, text)| is_row(text)) {
        match row(line, text) {
            Ok(row) => rows.push(row),
            Err(why) => writeln!(wrong, "{why}").unwrap(),
        }
    }
    if wrong.is_empty() { Ok(rows) } else { Err(wrong) }
}

/// Text whose runs of blanks are one: columns of a table are as wide as their longest cell.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a row claims that its command does not do.
fn broken(row: &Row, output: &Output) -> Vec<String> {
    let printed =
        words(&format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)));
    let mut broken = Vec::new();
    for claim in &row.claims {
        match claim {
            Claim::Prints(text) if !printed.contains(&words(text)) => broken.push(format!("does not print `{text}`")),
            Claim::DoesNotPrint(text) if printed.contains(&words(text)) => broken.push(format!("prints `{text}`")),
            _ => {}
        }
    }
    let exit = row.claims.iter().find_map(|claim| if let Claim::Exits(code) = claim { Some(*code) } else { None });
    if output.status.code() != Some(exit.unwrap_or(0)) {
        broken.push(format!("ends with {}", output.status));
    }
    if !broken.is_empty() {
        broken.push(format!("it prints: {}", printed.chars().take(1500).collect::<String>()));
    }
    broken
}

/// Runs a document's commands in their order, in a folder with the files of its chapter.
fn run(heading: &str) {
    let page = page(PAGE);
    let folder = Folder::new("rows");
    std::os::unix::fs::symlink(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"), folder.join("tests")).unwrap();
    for (kind, text) in blocks(chapter(&page, heading)) {
        let (_, name) = kind.split_once(' ').unwrap_or_else(|| panic!("a block of {PAGE} has no name: {kind}"));
        folder.write(name, text);
    }
    let mut wrong = String::new();
    for row in rows(&page, heading).unwrap_or_else(|e| panic!("{e}")) {
        if matches!(row.claims[..], [Claim::Shown(..)]) {
            continue;
        }
        for what in broken(&row, &folder.run(&row.command)) {
            writeln!(wrong, "{PAGE}:{}: {}: {what}", row.line, row.command).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn rows_of_the_microbenchmark_guide() {
    run(ROWS[0].0);
}

#[test]
fn rows_of_the_benchmark_guide() {
    run(ROWS[1].0);
}

#[test]
fn rows_of_the_profiler() {
    run(ROWS[2].0);
}

#[test]
fn rows_of_the_suite() {
    run(ROWS[3].0);
}

#[test]
fn rows_of_custom_operators() {
    run(ROWS[4].0);
}

#[test]
fn every_line_has_a_row_with_a_known_state() {
    let page = page(PAGE);
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    for (heading, count) in ROWS {
        let rows = rows(&page, heading).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(rows.len(), count, "rows of {heading}");
        let listed = page.lines().any(|line| {
            let cells = cells(line);
            cells.len() == 2 && cells[0].starts_with(&format!("[{heading}](#")) && cells[1] == count.to_string()
        });
        assert!(listed, "the first table of {PAGE} has no row of {heading} with {count} lines");
        for row in rows {
            let is_told = match row.state.as_str() {
                "yes" => true,
                "differs" => !row.reason.is_empty(),
                // What to type instead is code.
                "no" => row.reason.contains('`'),
                _ => false,
            };
            assert!(is_told, "{PAGE}:{}: yes, differs: WHY, or no: WHY AND `WHAT INSTEAD`", row.line);
            *states.entry(row.state).or_default() += 1;
        }
    }
    assert_eq!(states.values().sum::<usize>(), 180);
    assert!(states["no"] <= MOST_WITHOUT && states["differs"] <= MOST_DIFFERENT, "{states:?}");
}

#[test]
fn tests_of_rows_exist() {
    let page = page(PAGE);
    let rows = ROWS.iter().flat_map(|(heading, _)| rows(&page, heading).unwrap_or_else(|e| panic!("{e}")));
    for row in rows {
        for claim in &row.claims {
            let Claim::Shown(file, name) = claim else { continue };
            let start = TESTS.iter().find(|(folder, _)| file.starts_with(folder)).map_or("", |(_, start)| start);
            let end = if start == "def " { "(" } else { "\"" };
            let has = crate::shell::page(file).contains(&format!("{start}{name}{end}"));
            assert!(has, "{PAGE}:{}: {file} has no test \"{name}\"", row.line);
        }
    }
}

#[test]
fn cells_are_claims() {
    let text = |t: &str| t.to_owned();
    assert_eq!(cells("| a | `b \\| c` | |"), ["a", "`b | c`", ""]);
    assert_eq!(
        claims("`28.10 s`, not `a, b`, exit 2"),
        Some(vec![Claim::Prints(text("28.10 s")), Claim::DoesNotPrint(text("a, b")), Claim::Exits(2)])
    );
    assert_eq!(
        claims("`tests/e2e/x.test.mjs: \"it's shown\"`"),
        Some(vec![Claim::Shown(text("tests/e2e/x.test.mjs"), text("it's shown"))])
    );
    assert_eq!(claims("something"), None);
    assert!(row(7, "| a | b | c | `d` | yes |").unwrap_err().starts_with("docs/documents.md:7: no command"));
}
