//! The lists of a device profile other than instructions and transfers, as tables: what each list shows, and its fields.

/// A list whose rows are values at a time.
pub(super) struct CounterList {
    /// Key of the list.
    pub list: &'static str,
    /// Name of the counter.
    pub name: &'static str,
    /// Field that tells counters of one name apart; empty if there is one.
    pub id: &'static str,
    /// Field whose value names the series of the first field in `series`; empty if the fields name the series.
    pub series_by: &'static str,
    /// Fields with values.
    pub series: &'static [&'static str],
    /// Whether another entry of this table counts the row already.
    pub is_repeated: bool,
}

const fn counter(list: &'static str, name: &'static str, series: &'static [&'static str]) -> CounterList {
    CounterList { list, name, id: "", series_by: "", series, is_repeated: false }
}

pub(super) const COUNTERS: [CounterList; 5] = [
    counter("pending_dma", "Pending DMA", &["value"]),
    CounterList { series_by: "id", ..counter("semaphore_update", "Semaphores", &["value"]) },
    counter("dma_throughput", "DMA throughput (bytes/s)", &["transfer_rate", "hbm_transfer_rate"]),
    CounterList {
        is_repeated: true,
        ..counter("dma_throughput", "DMA total (bytes)", &["total_transfer_bytes", "hbm_total_transfer_bytes"])
    },
    CounterList {
        id: "type",
        ..counter(
            "instruction_usage",
            "On-chip memory in use (share)",
            &["usage_avg", "partition_0_usage", "partition_32_usage", "partition_64_usage", "partition_96_usage"],
        )
    },
];

/// A list whose rows are spans.
pub(super) struct SpanList {
    /// Key of the list.
    pub list: &'static str,
    /// Fields of start, end and duration; a row has a start and one of the others.
    pub times: [&'static str; 3],
    pub track: SpanTrack,
}

/// The track of a row, and its name there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanTrack {
    /// The limit of the utilisation of the tensor engine, `k` of `n`.
    Throttle,
    /// Layers of the model, a track for each depth of the path.
    Layers,
    /// Active time of an engine as the tool worked it out.
    Active,
}

pub(super) const SPANS: [SpanList; 3] = [
    SpanList { list: "ham", times: ["timestamp", "", "duration"], track: SpanTrack::Throttle },
    SpanList { list: "layer_summary", times: ["start", "end", "duration"], track: SpanTrack::Layers },
    SpanList { list: "active_time", times: ["start_ts", "end_ts", "duration_ns"], track: SpanTrack::Active },
];
