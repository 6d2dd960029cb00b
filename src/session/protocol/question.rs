//! Questions that a shell may ask.

use serde::{Deserialize, Serialize};

use ns_analysis::Instances;
use ns_base::{Interval, TraceNs};
use ns_documents::analysis::{Listing, Question, Rows};
use ns_documents::experiments::{RecordsAsk, RecordsKey};
use ns_documents::pages::BenchPage;
use ns_documents::{OperatorKind, ProfileKey};
use ns_formats::WriteFormat;
use ns_insight::SliceRange;
use ns_view::timeline::{Annotation, GroupKind, Neighbour, SliceRef, TimelineQuery, TrackId};

/// A question that is answered at the next step.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionRequest {
    /// The models and instance types that can be run. Answered by [`Reply::Catalog`](super::Reply::Catalog).
    Catalog,
    /// Reports of a benchmark as one HTML file.
    BenchPage {
        /// The contents of the file.
        page: Box<BenchPage>,
        file_name: String,
    },
    /// A question about records of experiments. Answered by [`Reply::Records`](super::Reply::Records), or with a file.
    Records(RecordsKey, RecordsAsk),
    /// A question about a profile.
    Profile(ProfileKey, ProfileQuestion),
}

/// A question about a profile that is answered at the next step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ProfileQuestion {
    /// The shapes of some tracks in a span. Answered by [`Reply::Timeline`](super::Reply::Timeline).
    Timeline(TimelineQuery),
    /// Everything about one slice. Answered by [`Reply::Details`](super::Reply::Details).
    Details(SliceRef),
    /// Everything about the slice next to another one, on the same row. Answered by [`Reply::Details`](super::Reply::Details), without
    /// details at the end of the row.
    Step {
        /// The slice to start from.
        from: SliceRef,
        to: Neighbour,
    },
    /// Everything about a slice that a finding names by its row and span. Answered by [`Reply::Details`](super::Reply::Details),
    /// without details if it does not exist.
    Locate(SliceRange),
    /// Slices whose name contains a text, letter case ignored, in order of time. Answered by [`Reply::Search`](super::Reply::Search).
    Search {
        text: String,
        /// If given, the slices of the group with this name instead.
        by: Option<GroupKind>,
        /// The greatest number of hits that are listed (all are counted).
        limit: u32,
    },
    /// Time by operator. Answered by [`Reply::Operators`](super::Reply::Operators).
    Operators {
        kind: OperatorKind,
        /// Only this span, of each slice the part inside; the whole profile if absent.
        range: Option<Interval<TraceNs>>,
        /// The level of the table of slices, `all` for every level; the default level if absent.
        level: Option<String>,
        /// How the table of slices counts names.
        instances: Instances,
    },
    /// Flow arrows that touch a span. Answered by [`Reply::Flows`](super::Reply::Flows).
    Flows {
        span: Interval<TraceNs>,
        /// The greatest number of arrows.
        limit: u32,
    },
    /// How busy all of a profile is, in this number of equal parts of its span. Answered by
    /// [`Reply::Density`](super::Reply::Density).
    Density(u32),
    /// A file to save.
    Export {
        /// The kind of file.
        kind: ExportKind,
        /// Marks and ranges to write with it, if it is a Chrome trace.
        marks: Vec<Annotation>,
    },
}

/// A question about a profile that takes some steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AnalysisRequest {
    /// Some rows of a table. Answered by [`Reply::Listed`](super::Reply::Listed).
    List(Listing, Rows),
    /// All rows of a table as CSV, in a file of this name.
    ListCsv(Listing, String),
    /// A tree, a distribution or sentences. Answered by [`Reply::Analysed`](super::Reply::Analysed).
    Analyse(Question),
    /// The overview as one HTML file, with a link to the page that is at this address.
    Page(String),
}

/// The kinds of files that a profile can be exported to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportKind {
    /// The timeline as Chrome trace JSON.
    ChromeJson,
    /// The timeline in the format of another tool.
    Trace(WriteFormat),
    /// The slices of some tracks in a span, whole, as Chrome trace JSON.
    Area(Interval<TraceNs>, Vec<TrackId>),
    /// An operator table as CSV, for a span or the whole profile, and for a level or the default level.
    OperatorsCsv(OperatorKind, Option<Interval<TraceNs>>, Option<String>, Instances),
    /// The output of `neuronscope profile --json`: the device window and both operator tables of a simulated execution.
    ProfileJson,
    /// The output of `neuronscope profile --summary --json`: metrics, bounds, roofline, utilisation and findings of a
    /// simulated execution.
    SummaryJson,
    /// The output of `neuronscope open FILE --json`: counts, operators and diagnostics of a file.
    OpenJson,
}

impl QuestionRequest {
    /// The question in words.
    pub fn describe(&self) -> String {
        match self {
            Self::Catalog => "the list of models".to_owned(),
            Self::BenchPage { .. } => "the download".to_owned(),
            Self::Records(_, ask) => ask.describe().to_owned(),
            Self::Profile(_, question) => question.describe(),
        }
    }
}

impl ProfileQuestion {
    /// The question in words.
    pub fn describe(&self) -> String {
        let what = match self {
            Self::Timeline(_) => "a part of the timeline",
            Self::Details(_) | Self::Step { .. } | Self::Locate(_) => "the details of a slice",
            Self::Search { text, .. } => return format!("the search for '{text}'"),
            Self::Operators { .. } => "the operator table",
            Self::Flows { .. } => "flow arrows",
            Self::Density(_) => "the overview of the timeline",
            Self::Export { .. } => "the download",
        };
        what.to_owned()
    }
}

impl AnalysisRequest {
    /// The question in words.
    pub const fn describe(&self) -> &'static str {
        match self {
            Self::List(..) | Self::ListCsv(..) => "a table about the profile",
            Self::Analyse(_) => "a question about the profile",
            Self::Page(_) => "the download",
        }
    }
}
