//! The timeline on a canvas: [`Controller`] holds what is on the screen and asks the worker for more, `painter` paints
//! it, the pointer and the keyboard move it. Nothing here re-renders the page while a person drags.

mod change;
mod controller;
mod drawing;
mod keyboard;
mod painter;
mod picture;
mod pointer;

pub use change::{Change, Hover};
pub use controller::Controller;
