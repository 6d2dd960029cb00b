//! Profiles as files of other tools.
//!
//! Data that a format cannot express is left out and said ([`WriteFormat::leaves_out`]); docs/formats/written.md lists what each keeps.

pub(super) mod chrome;
mod csv;
mod lanes;
mod left_out;
mod message;
mod perfetto;
mod plugin;
mod run_name;
mod speedscope;
mod xplane;

use chrome::write_to_string;
use serde::{Deserialize, Serialize};

use ns_base::{Diagnostics, names};
use ns_container::zip;
use ns_profile::Profile;

names! {
    /// A format that profiles are written in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum WriteFormat {
        /// Chrome trace JSON: everything.
        Chrome = "chrome",
        /// Perfetto's protocol buffers: slices, instants, async operations, counters, flows.
        Perfetto = "perfetto",
        /// speedscope: slices of threads.
        Speedscope = "speedscope",
        /// A table of slices.
        SlicesCsv = "csv",
        /// An `XSpace` of XLA: slices of threads.
        XPlane = "xplane",
        /// A run directory of the Neuron plugin, in a zip archive.
        NeuronPlugin = "neuron-plugin",
        /// A log directory of TensorBoard, for the Neuron plugin and for XProf, in a zip archive.
        TensorBoard = "tensorboard",
    }

    /// All formats.
    pub const ALL: [Self; _];
    /// The name of the format in commands and links.
    pub const fn name(self) -> &'static str;
    /// The format with a name.
    pub fn from_name(name: &str) -> Option<Self>;
}

impl WriteFormat {
    /// The ending of the names of its files.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Chrome => ".trace.json",
            Self::Perfetto => ".pftrace",
            Self::Speedscope => ".speedscope.json",
            Self::SlicesCsv => ".slices.csv",
            Self::XPlane => ".xplane.pb",
            Self::NeuronPlugin => ".neuron.zip",
            Self::TensorBoard => ".logdir.zip",
        }
    }

    /// The media type of its files.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Chrome | Self::Speedscope => "application/json",
            Self::SlicesCsv => "text/csv",
            Self::NeuronPlugin | Self::TensorBoard => "application/zip",
            Self::Perfetto | Self::XPlane => "application/octet-stream",
        }
    }

    /// What the format cannot hold of a profile, or holds as something else: counted by kind, each with its first example.
    pub fn leaves_out(self, profile: &Profile) -> Diagnostics {
        left_out::left_out(profile, self)
    }

    /// The bytes of a profile as a file of this format.
    pub fn write(self, profile: &Profile) -> Vec<u8> {
        match self {
            Self::Chrome => write_to_string(profile).into_bytes(),
            Self::Perfetto => perfetto::write(profile),
            Self::Speedscope => speedscope::write(profile).into_bytes(),
            Self::SlicesCsv => csv::write(profile),
            Self::XPlane => xplane::write(profile),
            Self::NeuronPlugin => zip::write(&plugin::run_directory(profile, "")),
            Self::TensorBoard => zip::write(&plugin::log_directory(profile)),
        }
    }
}
