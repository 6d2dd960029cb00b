//! The document of a kernel: its time and what bounds it, errors at their lines, settings beside each other, the source line by line.

use super::spec::NkiStudy;
use crate::commands::quoted;
use ns_base::Order as _;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_bytes, format_count, format_number, format_range, format_share};
use ns_nki::{Answer, Line, List, Problem, Ranked, Ranking};
use ns_view::document::{Block, Document, Figure, Finding, Plot, Source, SourceLine, Tile, Tone};
use ns_view::plot::{Bars, Scatter};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// The results so far; `list` is that of the first case.
pub(super) fn document(study: &NkiStudy, ranking: &Ranking, list: Option<&List>) -> Document {
    let Some(best) = ranking.ranked.first() else { return Document::default() };
    let mut blocks = Vec::new();
    if let Some(answer) = &best.answer {
        blocks.push(Block::Tiles(tiles(answer)));
        blocks.extend(findings(answer, list));
    }
    if ranking.ranked.len() > 1 {
        blocks.extend(settings(ranking));
    }
    if let Some(answer) = best.answer.as_ref().filter(|answer| answer.builds) {
        blocks.push(Block::Plots(vec![engines(answer), gains(answer)]));
    }
    if let Some(answer) = &best.answer {
        blocks.push(Block::Source(source(study, answer, list)));
    }
    blocks.push(Block::Command(command(study)));
    Document { title: format!("{} on {}", best.label(), study.instance), blocks }
}

fn tiles(answer: &Answer) -> Vec<Tile> {
    let Some((total, [low, high])) = answer.total_us.zip(answer.interval_us) else {
        let first = answer.errors.first();
        let code = first.map(|error| error.code.clone()).unwrap_or_default();
        return vec![Tile { tone: Tone::Bad, ..Tile::new("Builds", "no".to_owned(), code) }];
    };
    let of = |bytes: u64| format_bytes(u64_to_f64(bytes));
    let range = format_range(low, high, "\u{b5}s");
    let moved = answer.hbm.read_bytes + answer.hbm.write_bytes;
    let bound = answer.bound.as_ref().map(|bound| {
        let gain = format_number(answer.saves_us.get(bound).copied().unwrap_or_default());
        Tile::new("Bound by", words(bound), format!("without this limit it takes {gain} \u{b5}s less"))
    });
    let tensor = answer.engines.get("tensor").map(|busy| {
        Tile::new(
            "Tensor engine",
            format_share(100.0 * busy.share),
            format!("busy {} \u{b5}s", format_number(busy.busy_us)),
        )
    });
    let spill = match answer.spill.bytes {
        0 => Tile::new("Spills", "none".to_owned(), format!("{} of a partition at most", of(answer.sbuf_peak_bytes))),
        bytes => Tile { tone: Tone::Bad, ..Tile::new("Spills", of(bytes), "SBUF has no room for them".to_owned()) },
    };
    let memory = format!(
        "{} read, {} written; each once is {}",
        of(answer.hbm.read_bytes),
        of(answer.hbm.write_bytes),
        of(answer.hbm.floor_bytes)
    );
    let time = Tile::new("Time", format!("{} \u{b5}s", format_number(total)), format!("{range} in 8 of 10 cases"));
    let moved = Tile::new("Device memory", of(moved), memory);
    [Some(time), bound, tensor, Some(moved), Some(spill)].into_iter().flatten().collect()
}

/// A name of the answer in words.
fn words(name: &str) -> String {
    name.replace("dma", "DMA").replace('_', " ")
}

/// Advice as a sentence.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.is_empty() || text.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// Errors and what to look at, each with its place.
fn findings(answer: &Answer, list: Option<&List>) -> Vec<Block> {
    let finding = |tone: Tone, problem: &Problem| {
        let file = list.and_then(|list| list.files.get(problem.file)).map_or("", String::as_str);
        let place = if problem.line > 0 { format!("{file}, line {}: ", problem.line) } else { String::new() };
        let code = if problem.code.is_empty() { String::new() } else { format!(" [{}]", problem.code) };
        Block::Finding(Finding {
            tone,
            title: format!("{place}{}{code}.", problem.message.trim_end_matches('.')),
            text: sentence(&problem.fix),
        })
    };
    let errors = answer.errors.iter().map(|problem| finding(Tone::Bad, problem));
    let warnings = answer.warnings.iter().map(|problem| finding(Tone::Warning, problem));
    let remarks = answer
        .remarks
        .iter()
        .map(|remark| Block::Finding(Finding { tone: Tone::Neutral, title: remark.clone(), text: String::new() }));
    errors.chain(warnings).chain(remarks).collect()
}

fn engines(answer: &Answer) -> Figure {
    let bar = |(name, busy): (&String, &ns_nki::Busy)| (words(name), name.clone(), 100.0 * busy.share);
    Figure {
        title: "How busy each engine is".to_owned(),
        note: "Of the time of the kernel; transfers are those of all DMA engines together.".to_owned(),
        plot: Plot::Bars(Bars::new(answer.engines.iter().map(bar)), "%".to_owned()),
    }
}

/// What the kernel would gain without each limit.
fn gains(answer: &Answer) -> Figure {
    let mut gains: Vec<(&String, f64)> = answer.saves_us.iter().map(|(name, us)| (name, *us)).collect();
    gains.order_by(|a, b| b.1.total_cmp(&a.1));
    let bars = gains.into_iter().map(|(name, us)| (words(name), "gain".to_owned(), us));
    Figure {
        title: "What each limit costs".to_owned(),
        note: "The same kernel, simulated without one limit at a time: the time that it would take less.".to_owned(),
        plot: Plot::Bars(Bars::new(bars), "\u{b5}s".to_owned()),
    }
}

/// The settings beside each other: time over bytes, and a table, the fastest first.
fn settings(ranking: &Ranking) -> Vec<Block> {
    let moved = |answer: &Answer| answer.hbm.read_bytes + answer.hbm.write_bytes + answer.spill.bytes;
    let series = |answer: &Answer| if answer.spill.bytes > 0 { "spills" } else { "fits" };
    let point = |case: &Ranked| {
        let answer = case.answer.as_ref()?;
        Some((series(answer).to_owned(), u64_to_f64(moved(answer)) / 1e6, answer.total_us?, case.label()))
    };
    let plot = Scatter::new("Bytes moved (MB)", "Time (\u{b5}s)", ranking.ranked.iter().filter_map(point));
    let columns = vec![
        Column::new("settings", "Settings", ColumnKind::Text),
        Column::new("total_us", "Time (\u{b5}s)", ColumnKind::Exact).least_first(),
        Column::new("tensor_percent", "Tensor engine", ColumnKind::Percent),
        Column::new("moved_bytes", "Bytes moved", ColumnKind::Count).least_first(),
        Column::new("spill_bytes", "Spilled bytes", ColumnKind::Count).least_first(),
        Column::new("note", "Note", ColumnKind::Text),
    ];
    let row = |case: &Ranked| {
        let Some(answer) = &case.answer else {
            let error = Cell::Text(case.error.clone().unwrap_or_default());
            return vec![Cell::Text(case.label()), Cell::Missing, Cell::Missing, Cell::Missing, Cell::Missing, error];
        };
        let note = match (answer.errors.first(), &answer.bound) {
            (Some(error), _) => format!("does not build: {}", error.message),
            (None, Some(bound)) => format!("bound by {}", words(bound)),
            (None, None) => String::new(),
        };
        let tensor = answer.engines.get("tensor").map(|busy| 100.0 * busy.share);
        let built = |count: u64| if answer.builds { Cell::Count(count) } else { Cell::Missing };
        vec![
            Cell::Text(case.label()),
            answer.total_us.map_or(Cell::Missing, Cell::Number),
            tensor.map_or(Cell::Missing, Cell::Number),
            built(moved(answer)),
            built(answer.spill.bytes),
            Cell::Text(note),
        ]
    };
    let faint = ranking.ranked.iter().enumerate().filter(|(_, case)| case.total_us().is_none()).map(|(at, _)| at);
    let count = ranking.ranked.len();
    let note = format!(
        "{count} settings of the kernel; {} build.",
        ranking.ranked.iter().filter(|c| c.total_us().is_some()).count()
    );
    vec![
        Block::Plot(Figure { title: "Time over bytes".to_owned(), note, plot: Plot::Scatter(plot) }),
        Block::Rows {
            title: "Settings, the fastest first".to_owned(),
            file: "nki-settings".to_owned(),
            table: Table { columns, rows: ranking.ranked.iter().map(row).collect() },
            targets: Vec::new(),
            faint: faint.collect(),
        },
    ]
}

/// The source with time and bytes of every line, and its errors.
fn source(study: &NkiStudy, answer: &Answer, list: Option<&List>) -> Source {
    let of_file = |file: &str| file.rsplit('/').next() == Some(study.file());
    let total: f64 = answer.lines.iter().map(|line| line.engine_us + line.dma_us).sum();
    let line = |(at, text): (usize, &str)| {
        let number = ns_base::convert::u64_to_u32(at as u64 + 1);
        let cost: Option<&Line> = answer.lines.iter().find(|line| line.line == number && of_file(&line.file));
        let values = cost.map_or_else(Vec::new, |line| {
            let us = [line.engine_us + line.dma_us, line.engine_us, line.dma_us].map(format_number);
            let bytes = format_bytes(u64_to_f64(line.bytes));
            [format_count(line.count)].into_iter().chain(us).chain([bytes]).collect()
        });
        let is_here = |problem: &&Problem| {
            problem.line == number
                && list.and_then(|list| list.files.get(problem.file)).is_some_and(|file| of_file(file))
        };
        let here = answer.errors.iter().filter(is_here);
        SourceLine {
            text: text.to_owned(),
            values,
            share: cost.map_or(0.0, |line| (line.engine_us + line.dma_us) / total.max(1e-9)),
            notes: here.map(|problem| problem.message.clone()).collect(),
            column: 0,
        }
    };
    Source {
        name: format!("{}, with what each line does", study.file()),
        columns: ["Count", "Time (\u{b5}s)", "Engines (\u{b5}s)", "DMA (\u{b5}s)", "Bytes"].map(str::to_owned).to_vec(),
        lines: study.source.lines().enumerate().map(line).collect(),
    }
}

/// The command that gives the same result; the source is first saved as a file.
fn command(study: &NkiStudy) -> String {
    let default = NkiStudy::default();
    let mut words = vec!["neuronscope nki".to_owned(), quoted(&study.target())];
    for (key, flag) in [("shapes", "shapes"), ("instance", "instance"), ("flag", "flag")] {
        let text = study.text(key);
        if !text.is_empty() && (key == "shapes" || text != default.text(key)) {
            words.push(format!("--{flag} {}", quoted(&text)));
        }
    }
    words.extend(study.set_parts().map(|part| format!("--set {}", quoted(part))));
    format!("# with the source above saved as {}\n{}", study.file(), words.join(" "))
}
