//! What happens on the page.

use super::state::Flows;
use crate::analysis::GroupBy;
use crate::base::{Interval, TraceNs};
use crate::insight::Insights;
use crate::page::{RunState, Shared};
use crate::session::share::{ProfileLink, Tool};
use crate::session::{OperatorTable, ProfileInfo, ProfileSpec, SearchHits};
use crate::view::table::Sort;
use crate::view::timeline::{Annotation, Area, Arrangement, GroupKind, SliceDetails, SliceLink, SliceRef, TrackId};

/// A profile that came.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrived<Worker> {
    /// What it is.
    pub info: Box<ProfileInfo>,
    /// Its worker.
    pub engine: Worker,
    /// What the Neuron plugin would call a run of this moment.
    pub run_name: String,
}

/// What happens on the page; `Worker` is what a shell calls the worker that holds a profile.
pub enum ProfileAction<Worker> {
    /// A link was opened.
    Load(Box<ProfileLink>),
    /// The link that was opened names a simulated run, which is to be made unless it is open.
    WantRun {
        /// Whether it is the link that the page was opened with.
        is_first: bool,
    },
    /// The browser went back or forth to another view of this page.
    Revisit(Box<ProfileLink>),
    /// What to profile was edited.
    Edit(ProfileSpec),
    /// A run or a file was started.
    Start(String),
    /// It went on.
    Progress(RunState),
    /// It ended with a profile.
    Ready(Arrived<Worker>),
    /// A run that another one is compared with ended with a profile; it is not shown.
    ReadyBeside(Arrived<Worker>),
    /// It ended without one.
    End(RunState),
    /// The file of the link is nowhere: whoever opened it has to give it.
    NoFile,
    /// A file of this name was given: its first view is shown, or it is compared where that is wanted.
    FileGiven(String),
    /// A benchmark run of what is shown was asked for: its timeline is shown when it comes.
    TraceAsked,
    /// Another run is shown.
    Show(u32),
    /// A run is closed.
    Close(u32),
    /// Another tool is shown.
    Tool(Tool),
    /// The timeline was moved.
    Span(Option<Interval<TraceNs>>),
    /// A slice was selected, or none.
    Select(Option<SliceRef>),
    /// What is known of the selected slice.
    Details(Option<Shared<SliceDetails>>),
    /// The search was edited.
    Search(String),
    /// What it found.
    Hits(SearchHits),
    /// A section was collapsed or opened.
    ToggleSection(usize),
    /// Tracks were pinned, hidden, folded or moved.
    Arrange(Arrangement),
    /// A mark or a range was put on the timeline; without a label it gets the next letter.
    Annotate(Interval<TraceNs>, Option<String>),
    /// Marks and ranges were edited.
    Annotations(Vec<Annotation>),
    /// An area was selected, or none.
    Area(Option<Area>),
    /// Flow arrows came, or are no longer wanted.
    Flows(Option<Flows>),
    /// A head of the table was pressed.
    Sort(Sort),
    /// A core was chosen for the second pie.
    Core(Option<(u32, u32)>),
    /// Operators are counted in the span on the screen, or in all of the profile.
    InView(bool),
    /// An operator table of a span came.
    Operators(u32, Option<Interval<TraceNs>>, OperatorTable),
    /// The analysis of a run came.
    Insights(u32, Option<Box<Insights>>),
    /// Another query is asked.
    Ask(String),
    /// Slices are grouped by something else.
    GroupBy(GroupBy),
    /// Tools look at another level; none for the default one.
    Level(Option<String>),
    /// A track is brought into sight on the timeline.
    ShowTrack(TrackId),
    /// It is in sight.
    TrackShown,
    /// Slices of a group are highlighted on the timeline.
    Highlight(GroupKind, String),
    /// Something else that the link remembers was chosen in a tool.
    Adjust(Box<dyn FnOnce(&mut ProfileLink)>),
    /// Shows a slice on the timeline that a table names.
    Jump(SliceLink),
    /// Shows a span on the timeline with some room around it, and selects a slice if there is one that belongs to it.
    ShowSpan(Interval<TraceNs>, Option<SliceRef>),
    /// Shows a slice on the timeline, with some room around it.
    GoTo(Shared<SliceDetails>),
}
