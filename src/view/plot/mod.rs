//! Plots as geometry and words: the page draws them as SVG with hover and keyboard, tests print them.

mod axis;
mod bars;
mod pie;
mod scatter;

pub use axis::{Axis, AxisTick};
pub use bars::{Bar, Bars};
pub use pie::{Pie, PieSlice};
pub use scatter::{Mark, Scatter, ScatterPoint};
