//! Whole artifacts: what the product writes, compared byte for byte.

mod bench;
