//! Messages from a timeline to the page.

use ns_base::{Interval, TraceNs};
use ns_page::Shared;
use ns_view::timeline::{Area, Neighbour, SliceRef, TimelineTile, TrackId, Viewport};

/// A message to the page.
pub enum Change {
    /// The view came to rest: its span, or `None` if the whole profile is shown.
    View(Option<Interval<TraceNs>>, Viewport),
    /// A slice was selected, or none.
    Select(Option<SliceRef>),
    /// Go to the previous or next slice.
    Step(Neighbour),
    /// The header bar of a section was pressed.
    ToggleSection(usize),
    /// The name of a track was pressed.
    ToggleFold(TrackId),
    /// Pin the track of the selection.
    Pin,
    /// Move the track of the selection one place down, or up.
    Shift(bool),
    /// A track was dragged to the place of another one.
    Move(TrackId, TrackId),
    /// Hide the track of the selection.
    Hide,
    /// Go along a flow arrow of the selection: forward to its target, or back.
    Flow(bool),
    /// Put a mark or a range here; a range of the selected slice carries its name.
    Annotate(Interval<TraceNs>, bool),
    /// An area was selected, or none.
    Area(Option<Area>),
    /// Scroll down by a number of pixels.
    Scroll(f64),
    /// New slices arrived.
    Tile(Shared<TimelineTile>),
    /// The pointer is over a slice, or not.
    Hover(Option<Hover>),
    /// Show or hide the list of keys.
    Help,
    /// The worker could not answer.
    Failed(String),
}

/// The slice under the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Hover {
    pub title: String,
    /// Its duration in nanoseconds.
    pub duration_ns: u64,
    /// Number of slices that it represents.
    pub count: u32,
    /// Its value, if it belongs to a counter.
    pub value: Option<String>,
    /// Horizontal position of the pointer on the canvas.
    pub x: f64,
    /// Vertical position of the pointer on the canvas.
    pub y: f64,
}
