//! The timeline on a canvas: [`Controller`] holds what is on the screen and asks the worker for more, `painter` paints
//! it, the pointer and the keyboard move it. The page does not re-render during a drag.

mod change;
mod controller;
mod drawing;
mod keyboard;
mod painter;
mod picture;
mod pointer;

pub use change::{Change, Hover};
pub use controller::Controller;
