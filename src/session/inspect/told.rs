//! What a shell may ask about a model, and what it is told.

use serde::{Deserialize, Serialize};

use super::spec::InspectSpec;
use crate::base::convert::real;
use crate::base::units::format_bytes;
use crate::device::OpenedModel;
use crate::session::share::LinkedFile;
use crate::view::document::Document;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InspectAsk {
    /// Open a model file, whose [`crate::session::ByteSource`] travels beside, and show it.
    Open {
        /// What to show; the file takes the place of its model.
        spec: Box<InspectSpec>,
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        size: u64,
    },
    /// Show a model. It is compiled and simulated when it is not the one that was shown last.
    Show(Box<InspectSpec>),
    /// A file to keep of what is shown. Told by [`Told::File`](crate::session::Told::File).
    Save(Box<InspectSpec>, InspectFile),
}

/// What can be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InspectFile {
    /// The picture of what is open.
    Svg,
    /// All operators.
    Csv,
    /// The program before the first pass, and as the last one leaves it.
    Hlo,
}

impl InspectAsk {
    /// What a person would call it, for the message after a crash.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Open { name, size, .. } => format!("the model file {name} ({})", format_bytes(real(*size))),
            Self::Show(_) => "the picture of a model".to_owned(),
            Self::Save(..) => "the download".to_owned(),
        }
    }
}

/// A line of the tree: a module or an operator that is seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TreeRow {
    /// Its number in the picture.
    pub node: u32,
    /// Its path, as links name it.
    pub id: String,
    /// Its name.
    pub title: String,
    /// A few words about it: operators and time, or a shape.
    pub note: String,
    /// Modules around it; 0 for those of the model itself.
    pub depth: u32,
    /// Whether it is open, when it can be.
    pub is_open: Option<bool>,
    /// Its share of the model's time, 0 to 1.
    pub share: f64,
    /// Whether a search found it, or something in it while it is closed.
    pub is_found: bool,
    /// Its place among those of one module, from 1, and their number.
    pub place: (u32, u32),
}

/// A model to show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InspectShown {
    /// What was asked, with what is used where the shell left it open.
    pub spec: InspectSpec,
    /// What it is called.
    pub title: String,
    /// First numbers, and what would stop it.
    pub head: Document,
    /// What is seen of it, from top to bottom.
    pub tree: Vec<TreeRow>,
    /// The picture, an `svg` element; empty in other views.
    pub picture: String,
    /// Size of the picture in pixels.
    pub size: (f64, f64),
    /// What the view shows beside or in place of tree and picture.
    pub panel: Option<Document>,
    /// Everything about what is selected.
    pub details: Option<Document>,
    /// Paths of what was found, the first hundred.
    pub hits: Vec<String>,
    /// How many were found.
    pub found: u64,
    /// Of [`InspectAsk::Open`], the file that was opened and how links name it.
    pub opened: Option<Box<(OpenedModel, LinkedFile)>>,
}
