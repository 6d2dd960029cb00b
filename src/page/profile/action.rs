//! Actions on the profile page.

use super::state::Flows;
use super::tool_setting::ToolSetting;
use crate::{RunState, Shared};
use ns_analysis::GroupBy;
use ns_base::{Interval, TraceNs};
use ns_session::share::{ProfileLink, Tool};
use ns_session::{OperatorTable, ProfileInfo, ProfileSpec, SearchHits};
use ns_view::table::Sort;
use ns_view::timeline::{Annotation, Area, Arrangement, GroupKind, SliceDetails, SliceLink, SliceRef, TrackId};

/// A profile that arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileArrival<Worker> {
    pub info: Box<ProfileInfo>,
    pub engine: Worker,
    /// The name that the Neuron plugin would give a run made now.
    pub run_name: String,
}

/// An answer about the shown run.
#[derive(Clone, Debug, PartialEq)]
pub enum ShownAnswer {
    /// Everything about this slice; `None` if the run does not have it.
    Details(SliceRef, Option<Shared<SliceDetails>>),
    /// The slice beside this one, which is selected next.
    Neighbour(SliceRef, Shared<SliceDetails>),
    /// The slice that a finding names: it is shown on the timeline, with some room around it.
    Located(Shared<SliceDetails>),
    Hits(SearchHits),
    /// Flow arrows.
    Flows(Flows),
}

/// Actions on the page; `Worker` is the shell's handle of the worker that holds a profile.
#[derive(Clone, Debug, PartialEq)]
pub enum ProfileAction<Worker> {
    /// A link was opened.
    Load(Box<ProfileLink>),
    /// A link was opened that names neither a model nor a file: it is another view of what is shown.
    LoadView(Box<ProfileLink>),
    /// The opened link names a simulated run, which is made unless it is open.
    WantRun {
        /// Whether it is the link that the page was opened with.
        is_first: bool,
    },
    /// The browser went back or forward to another view of this page.
    Revisit(Box<ProfileLink>),
    /// The specification of the model in the form was edited.
    Edit(ProfileSpec),
    /// A run of this was asked for.
    RunAsked(ProfileSpec),
    /// A run or the reading of a file was started that answers this wish; `None` for the last one.
    Start(Option<u32>, String),
    /// The run made progress.
    Progress(RunState),
    /// The run ended with a profile.
    Ready(ProfileArrival<Worker>),
    /// A base run for a comparison ended with a profile; it is not shown.
    ReadyBeside(ProfileArrival<Worker>),
    /// The run ended without a profile.
    End(RunState),
    /// The file of the link was not found: the user has to provide it.
    NoFile,
    /// A file of this name was provided: its first view is shown, or it is compared if that is wanted.
    FileGiven(String),
    /// A model file of this name was provided, which is profiled once it is open.
    ModelGiven(String),
    /// The model file of this name is open under this text, or cannot be opened for this reason.
    ModelOpened(String, Result<String, String>),
    /// A benchmark run of the shown model was requested: its timeline is shown when it arrives.
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
    /// An answer about a run arrived. An answer is late if the user has gone on since: then it changes nothing.
    Answer(u32, Box<ShownAnswer>),
    /// The search was edited.
    Search(String),
    /// The next hit of the search is selected and shown, or the previous one: now, or once the hits are known.
    NextHit(bool),
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
    /// Flow arrows are switched off.
    NoFlows,
    /// A head of the table was pressed.
    Sort(Sort),
    /// A core was chosen for the second pie.
    Core(Option<(u32, u32)>),
    /// Operators are counted in the span on the screen, or in all of the profile.
    InView(bool),
    /// An operator table of a span arrived.
    Operators(u32, Option<Interval<TraceNs>>, OperatorTable),
    /// Another query is asked.
    Ask(String),
    /// Slices are grouped by something else.
    GroupBy(GroupBy),
    /// Tools show another level; `None` for the default one.
    Level(Option<String>),
    /// A track has to be brought into sight on the timeline.
    ShowTrack(TrackId),
    /// The track is in sight.
    TrackShown,
    /// Slices of a group are highlighted on the timeline.
    Highlight(GroupKind, String),
    /// Another setting that the link remembers was chosen in a tool.
    Adjust(ToolSetting),
    /// Shows a slice on the timeline that a table names.
    Jump(SliceLink),
    /// Shows a span on the timeline with some room around it, and selects the slice that belongs to it, if there is one.
    ShowSpan(Interval<TraceNs>, Option<SliceRef>),
}
