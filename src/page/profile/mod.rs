//! The state of the profile page.

mod action;
mod after;
mod kept_view;
mod looks;
mod open_run;
#[cfg(test)]
mod properties;
mod query_words;
mod runs;
mod state;
#[cfg(test)]
mod tests;
mod tool_setting;
mod tools;

pub use action::{ProfileAction, ProfileArrival, ShownAnswer};
pub use open_run::{CountedOperators, OpenRun};
pub use query_words::completions;
pub use state::{Flows, ProfileState, SAMPLE};
pub use tool_setting::ToolSetting;
pub use tools::{ToolGroup, tool_name, tools_of};
