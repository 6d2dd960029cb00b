//! One integration binary: a module per area.
mod compiler;
