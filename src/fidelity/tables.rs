//! Tables of figures: those that ship with the crate, and what a table is, by its columns.

/// Figures of models. `ORIGINS.md` beside the tables says where they come from.
pub(super) static PUBLISHED: &str = include_str!("published.csv");
/// Figures of text generation.
pub(super) static DECODE: &str = include_str!("decode.csv");
/// Figures of served models.
pub(super) static SERVED: &str = include_str!("served.csv");
/// Figures of instructions and transfers.
static INSTRUCTIONS: &str = include_str!("instructions.csv");

/// The text of a table that ships with the crate, by the name of its file: `published`.
pub fn shipped_table(name: &str) -> Option<&'static str> {
    match name {
        "published" => Some(PUBLISHED),
        "decode" => Some(DECODE),
        "served" => Some(SERVED),
        "instructions" => Some(INSTRUCTIONS),
        _ => None,
    }
}

/// What the rows of a table are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Instructions, transfers and rates.
    Measured,
    /// NKI kernels.
    Kernels,
    /// Language models behind servers.
    Served,
    /// Throughput and latency of models.
    Published,
}

/// The columns that only a table of a kind has together.
const COLUMNS: [(TableKind, &[&str]); 4] = [
    (TableKind::Measured, &["what", "metric", "unit", "value"]),
    (TableKind::Kernels, &["variant", "kernel", "shapes", "measured_us"]),
    (TableKind::Served, &["metric", "value_ms", "tp"]),
    (TableKind::Published, &["model", "throughput"]),
];

impl TableKind {
    /// The kind of a table, by the first line of its CSV; `None` if it has the columns of none.
    pub fn of(csv: &[u8]) -> Option<Self> {
        let csv = csv.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(csv);
        let line = csv.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let header = String::from_utf8_lossy(line).to_ascii_lowercase();
        let has = |name: &&str| header.split(',').any(|column| column.trim().trim_matches('"') == *name);
        COLUMNS.iter().find(|(_, columns)| columns.iter().all(&has)).map(|(kind, _)| *kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_known_by_its_columns() {
        let kinds = ["published", "decode", "served", "instructions"]
            .map(|n| TableKind::of(shipped_table(n).unwrap().as_bytes()));
        let published = Some(TableKind::Published);
        assert_eq!(kinds, [published, published, Some(TableKind::Served), Some(TableKind::Measured)]);
        assert_eq!(TableKind::of(b"\xEF\xBB\xBF\"Model\", Throughput\r\nresnet50,1\n"), published);
        assert_eq!(TableKind::of(b"variant,kernel,shapes,measured_us,x"), Some(TableKind::Kernels));
        for other in ["", "model,throughput_avg\n", "a\nmodel,throughput\n"] {
            assert_eq!(TableKind::of(other.as_bytes()), None, "{other}");
        }
        assert_eq!(shipped_table("own"), None);
    }
}
