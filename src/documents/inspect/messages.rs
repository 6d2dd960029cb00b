//! Requests of a shell about a model, and the answers.

use serde::{Deserialize, Serialize};

use ns_base::convert::u64_to_f64;
use ns_base::units::format_bytes;
use ns_device::OpenedModel;
use ns_forms::InspectSpec;
use ns_forms::share::LinkedFile;
use ns_view::document::Document;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InspectAsk {
    /// Open a model file, whose [`ns_container::ByteSource`] is sent along, and show it.
    Open {
        /// The view to show; the file replaces its model.
        spec: Box<InspectSpec>,
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        size: u64,
    },
    /// Show a model. It is compiled and simulated when it is not the one that was shown last.
    Show(Box<InspectSpec>),
    /// A file of the view to save. Answered by `Message::File` of `ns_session`.
    Save(Box<InspectSpec>, InspectFile),
}

/// A file that can be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InspectFile {
    /// The picture of the open modules.
    Svg,
    Csv,
    /// The program before the first pass, and after the last one.
    Hlo,
}

impl InspectAsk {
    /// The request in words, for the message after a crash.
    pub fn describe(&self) -> String {
        match self {
            Self::Open { name, size, .. } => format!("the model file {name} ({})", format_bytes(u64_to_f64(*size))),
            Self::Show(_) => "the picture of a model".to_owned(),
            Self::Save(..) => "the download".to_owned(),
        }
    }
}

/// A line of the tree: a module or an operator that is visible.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TreeRow {
    /// Its number in the picture.
    pub node: u32,
    /// Its path, as links name it.
    pub id: String,
    pub title: String,
    /// A few words about it: operators, or a shape.
    pub note: String,
    /// Its time; empty if it has none.
    pub time: String,
    /// Modules around it; 0 for those of the model itself.
    pub depth: u32,
    /// Whether it is open, when it can be.
    pub is_open: Option<bool>,
    /// Its share of the model's time, 0 to 1.
    pub share: f64,
    /// Whether a search found it, or something in it while it is closed.
    pub is_found: bool,
    /// Its position among the nodes of its module, from 1, and the number of these nodes.
    pub place: (u32, u32),
}

/// A model to show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InspectResult {
    /// The request, with the values used for choices that were left open.
    pub spec: InspectSpec,
    pub title: String,
    /// Main figures, and obstacles on a NeuronCore.
    pub head: Document,
    /// What limits one call, as a sentence; empty if it was not simulated.
    pub limiter: String,
    /// The visible rows, from top to bottom.
    pub tree: Vec<TreeRow>,
    /// The picture, an `svg` element; empty in other views.
    pub picture: String,
    /// Size of the picture in pixels.
    pub size: (f64, f64),
    /// Documents that the view shows in addition to tree and picture, or instead of them.
    pub panel: Option<Document>,
    /// Details of the selection.
    pub details: Option<Document>,
    /// Paths of the first hundred hits.
    pub hits: Vec<String>,
    /// Number of hits.
    pub found: u64,
    /// For [`InspectAsk::Open`], the file that was opened and its name in links.
    pub opened: Option<Box<(OpenedModel, LinkedFile)>>,
}
