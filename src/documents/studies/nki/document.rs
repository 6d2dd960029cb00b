//! The document of a kernel: its time and what bounds it, errors at their lines, settings beside each other, the source line by line.

use ns_base::Order as _;
use ns_base::convert::{f64_to_i64, u64_to_f64, usize_to_f64};
use ns_base::units::{capital, format_bytes, format_count, format_number, format_range, format_share};
use ns_forms::options::command_line;
use ns_forms::studies::NkiStudy;
use ns_machine::cost::limit_words;
use ns_nki::{Answer, Check, Line, Occupancy, Problem, Ranked, Ranking, chip_of, instance_of_chip};
use ns_view::document::{Block, Document, Figure, Finding, Plot, Source, SourceLine, Tile, Tone};
use ns_view::plot::{Bars, Lanes, LineStyle, Lines, Scatter};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// The results of a kernel, or of several beside each other, as one document.
#[derive(Clone, Copy, Debug)]
pub struct KernelDocument<'a> {
    pub instance: &'a str,
    /// The file and its text, to show each line with its cost; without them the lines that do something are a table.
    pub source: Option<(&'a str, &'a str)>,
    /// The cases, the fastest first.
    pub ranking: &'a Ranking,
    /// The files of the first case, by the numbers of its errors.
    pub files: &'a [String],
    /// The command that gives the same; empty for none.
    pub command: &'a str,
}

impl KernelDocument<'_> {
    /// The document; it is empty without a case.
    pub fn document(&self) -> Document {
        let Some(best) = self.ranking.ranked.first() else { return Document::default() };
        let mut blocks = Vec::new();
        if let Some(answer) = &best.answer {
            blocks.push(Block::Tiles(tiles(answer)));
            blocks.extend(findings(answer, self.files));
        }
        if self.ranking.ranked.len() > 1 {
            blocks.extend(settings(self.ranking));
        }
        if let Some(answer) = best.answer.as_ref().filter(|answer| answer.builds) {
            blocks.push(Block::Plots(vec![engines(answer), gains(answer)]));
            let counts = answer.instructions.iter().map(|(name, n)| format!("{} {name}", format_count(*n)));
            blocks.push(Block::Text(format!("Instructions: {}.", counts.collect::<Vec<_>>().join(", "))));
            blocks.extend(answer.occupancy.iter().flat_map(|all| [timeline(all), space(all)]).map(Block::Plot));
        }
        if let Some(answer) = &best.answer {
            let source_block = self.source.map(|(file, text)| Block::Source(source(file, text, answer, self.files)));
            blocks.extend(source_block.or_else(|| (!answer.lines.is_empty()).then(|| lines(answer))));
        }
        if !self.command.is_empty() {
            blocks.push(Block::Command(self.command.to_owned()));
        }
        // A kernel that names its chip itself is on that; an instance that was chosen is of the chip of the answer.
        let chip = best.answer.as_ref().map(|answer| answer.chip.as_str());
        let own = chip.filter(|chip| chip_of(self.instance).is_ok_and(|usual| usual != *chip));
        let place = own.and_then(instance_of_chip).unwrap_or(self.instance);
        Document { title: format!("{} on {place}", best.label()), blocks }
    }
}

/// The results of a study so far.
/// `left` cases are missing.
pub(super) fn document(study: &NkiStudy, ranking: &Ranking, files: &[String], left: usize) -> Document {
    // The lines of a list are not the author's.
    let source = (study.is_list() == Ok(false)).then_some((study.file(), study.source.as_str()));
    let command = command(study);
    let of = KernelDocument { instance: study.usual(), source, ranking, files, command: &command };
    let mut document = of.document();
    let done = ranking.ranked.len();
    if left > 0 && done > 0 {
        let total = done + left;
        let text = format!("{done} of {total} settings so far. Cancel keeps them, and Run then does what is missing.");
        document.blocks.insert(0, Block::Text(text));
    }
    document
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
        Tile::new("Bound by", capital(limit_words(bound)), format!("without this limit it takes {gain} \u{b5}s less"))
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

/// Advice as a sentence.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.is_empty() || text.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// Errors and what to look at, each with its place.
fn findings(answer: &Answer, files: &[String]) -> Vec<Block> {
    let finding = |tone: Tone, problem: &Problem| {
        let file = files.get(problem.file).map_or("", String::as_str);
        let place = if problem.line > 0 { format!("{file}, line {}: ", problem.line) } else { String::new() };
        let code = if problem.code.is_empty() { String::new() } else { format!(" [{}]", problem.code) };
        Block::Finding(Finding {
            tone,
            title: format!("{place}{}{code}.", problem.message.trim_end_matches('.')),
            text: sentence(&problem.fix),
        })
    };
    let check = answer.check.iter().map(|check| Block::Finding(compared(check, files)));
    let errors = answer.errors.iter().map(|problem| finding(Tone::Bad, problem));
    let warnings = answer.warnings.iter().map(|problem| finding(Tone::Warning, problem));
    let remarks = answer
        .remarks
        .iter()
        .map(|remark| Block::Finding(Finding { tone: Tone::Neutral, title: remark.clone(), text: String::new() }));
    errors.chain(check).chain(warnings).chain(remarks).collect()
}

/// The values beside those wanted.
fn compared(check: &Check, files: &[String]) -> Finding {
    let title = format!("Values beside {}", check.expression);
    if let Some(error) = check.error() {
        let number = |key: &str| check.found.get(key).and_then(serde_json::Value::as_u64).unwrap_or(0);
        let file = usize::try_from(number("file")).ok().and_then(|file| files.get(file));
        let place = file.filter(|_| number("line") > 0).map(|file| format!("{file}, line {}: ", number("line")));
        let title = format!("{}{title}: not compared.", place.unwrap_or_default());
        return Finding { tone: Tone::Bad, title, text: error };
    }
    let number = |key: &str| check.number(key).map_or("?".to_owned(), |x| format!("{x:.3e}"));
    let place = check.found.get("worst").map_or(String::new(), ToString::to_string);
    Finding {
        tone: Tone::Neutral,
        title: format!("{title}: the largest error is {} of the largest value.", number("relative_error")),
        text: format!("At {place} the kernel has {}, and {} is wanted.", number("got"), number("wanted")),
    }
}

/// What each engine does over time.
fn timeline(occupancy: &Occupancy) -> Figure {
    let end_us = occupancy.step_us * usize_to_f64(occupancy.sbuf_bytes.len());
    let rows = occupancy.busy_percent.iter().map(|(name, percent)| (capital(limit_words(name)), percent.clone()));
    Figure {
        title: "Engines over time".to_owned(),
        note: "The share of each moment for which an engine is at work. Open as timeline shows each instruction."
            .to_owned(),
        plot: Plot::Lanes(Lanes::new(0, f64_to_i64(end_us * 1e3), rows)),
    }
}

/// How full SBUF and PSUM are over time.
fn space(occupancy: &Occupancy) -> Figure {
    let line = |name: &str, bytes: &[u64]| {
        let points = bytes
            .iter()
            .zip(0u32..)
            .map(|(bytes, at)| (f64::from(at) * occupancy.step_us, u64_to_f64(*bytes) / 1024.0));
        (name.to_owned(), LineStyle::Steps, points.collect::<Vec<_>>())
    };
    let lines = [line("SBUF", &occupancy.sbuf_bytes), line("PSUM", &occupancy.psum_bytes)];
    Figure {
        title: "Space in use over time".to_owned(),
        note: "Of each partition, from the first to the last instruction that touches a tile.".to_owned(),
        plot: Plot::Lines(Lines::new("Time (\u{b5}s)", "KiB of a partition", lines, true)),
    }
}

/// The lines that do something.
fn lines(answer: &Answer) -> Block {
    let columns = vec![
        Column::new("line", "Line", ColumnKind::Text),
        Column::new("engine_us", "Engines (\u{b5}s)", ColumnKind::Number),
        Column::new("dma_us", "DMA (\u{b5}s)", ColumnKind::Number),
        Column::new("bytes", "Bytes", ColumnKind::Count),
        Column::new("count", "Instructions", ColumnKind::Count),
    ];
    let row = |line: &Line| {
        let place = Cell::Text(format!("{}:{}", line.file, line.line));
        vec![
            place,
            Cell::Number(line.engine_us),
            Cell::Number(line.dma_us),
            Cell::Count(line.bytes),
            Cell::Count(line.count),
        ]
    };
    let table = Table { columns, rows: answer.lines.iter().map(row).collect() };
    Block::Table { title: "Lines".to_owned(), file: "nki-lines".to_owned(), table }
}

fn engines(answer: &Answer) -> Figure {
    let bar = |(name, busy): (&String, &ns_nki::Busy)| (capital(limit_words(name)), name.clone(), 100.0 * busy.share);
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
    let bars = gains.into_iter().map(|(name, us)| (capital(limit_words(name)), "gain".to_owned(), us));
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
            (None, Some(bound)) => format!("bound by {}", limit_words(bound)),
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
            // A row opens the kernel with its settings alone, and with what bounds it.
            targets: ranking.ranked.iter().map(|case| format!("set={}", case.settings.join("; "))).collect(),
            faint: faint.collect(),
        },
    ]
}

/// The source with time and bytes of every line, and its errors.
fn source(name: &str, text: &str, answer: &Answer, files: &[String]) -> Source {
    let of_file = |file: &str| file.rsplit('/').next() == Some(name);
    let total: f64 = answer.lines.iter().map(|line| line.engine_us + line.dma_us).sum();
    let line = |(at, text): (usize, &str)| {
        let number = ns_base::convert::u64_to_u32(at as u64 + 1);
        let cost: Option<&Line> = answer.lines.iter().find(|line| line.line == number && of_file(&line.file));
        let values = cost.map_or_else(Vec::new, |line| {
            let us = [line.engine_us + line.dma_us, line.engine_us, line.dma_us].map(format_number);
            let bytes = format_bytes(u64_to_f64(line.bytes));
            [format_count(line.count)].into_iter().chain(us).chain([bytes]).collect()
        });
        let is_here =
            |problem: &&Problem| problem.line == number && files.get(problem.file).is_some_and(|file| of_file(file));
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
        name: format!("{name}, with what each line does"),
        columns: ["Count", "Time (\u{b5}s)", "Engines (\u{b5}s)", "DMA (\u{b5}s)", "Bytes"].map(str::to_owned).to_vec(),
        lines: text.lines().enumerate().map(line).collect(),
    }
}

/// The command that gives the same result; a source that is not this program's is first saved as a file.
fn command(study: &NkiStudy) -> String {
    let line = command_line("nki", study, &NkiStudy::default(), &["kernel", "shapes"], |line, option, text| {
        match option.key() {
            "kernel" => line.word(&study.with_function(if study.is_edited() { study.file() } else { &study.kernel })),
            // A value that begins with a minus is read as one only with the equals sign.
            "check" if text.starts_with('-') => line.word(&format!("--check={text}")),
            _ => option.on(line, text),
        }
    });
    let first =
        if study.is_edited() { format!("# with the source above saved as {}\n", study.file()) } else { String::new() };
    first + &line.print()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_forms::options::Options as _;

    #[test]
    fn the_command_names_the_file_and_what_is_set() {
        let mut study = NkiStudy::default();
        assert!(command(&study).starts_with("neuronscope nki matmul --shapes lhs_t="), "{}", command(&study));
        let checked = |check: &str| command(&NkiStudy { check: check.to_owned(), ..NkiStudy::default() });
        assert!(
            checked("-rhs").ends_with(" --check=-rhs") && checked("rhs").ends_with(" --check rhs"),
            "{}",
            checked("-rhs")
        );
        for (key, text) in [("function", "made_up"), ("set", "ROWS=1,2; N=3"), ("lnc", "2"), ("without", "hoist,widen")]
        {
            NkiStudy::option(key).unwrap().set(&mut study, text).unwrap();
        }
        let line = command(&study);
        for part in ["matmul::made_up", "ROWS=1,2", "N=3", "--lnc 2", "--without hoist,widen"] {
            assert!(line.contains(part), "{part}: {line}");
        }
        study.source.push_str("# mine");
        let line = command(&study);
        assert!(line.contains("saved as kernel.py\nneuronscope nki kernel.py::made_up"), "{line}");
    }
}
