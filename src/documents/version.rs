//! The build, and the version of its messages.

/// Changed with every change of a message. A page and a worker that differ refuse each other.
pub const PROTOCOL_VERSION: u32 = 48;

/// Identifies the build; page and worker of one build have the same id.
pub fn build_id() -> String {
    format!("{} p{PROTOCOL_VERSION}", env!("CARGO_PKG_VERSION"))
}
