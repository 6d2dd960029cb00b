//! CLIP: an image tower and a text tower.

mod clip_model;
mod layers;
mod towers;

pub(in crate::zoo) use clip_model::{CLIP_BASE, CLIP_LARGE};
pub use clip_model::{Clip, ClipConfig, Tower};
