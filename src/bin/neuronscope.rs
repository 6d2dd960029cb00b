//! The command line's binary.

fn main() {}
