//! The example that pages open with when their address names nothing.

/// A model that people know, and of which AWS published figures.
pub const EXAMPLE_MODEL: &str = "bert-base-uncased";

/// The cheapest instance that runs it.
pub const EXAMPLE_INSTANCE: &str = "inf2.xlarge";
