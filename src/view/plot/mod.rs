//! Plots as geometry and texts: the page draws them as SVG with hover and keyboard, tests print them.

mod axis;
mod bars;
mod chart;
mod frame;
mod heat_map;
mod lanes;
mod lines;
mod log_axis;
mod pareto;
mod pie;
mod roofline;
mod scatter;
mod shape;
mod treemap;

pub use axis::{Axis, AxisTick};
pub use bars::{Bar, Bars};
pub use chart::{Chart, LegendEntry, Spot, legend};
pub use frame::Frame;
use frame::{LEFT, apart, nearest};
pub use heat_map::{HeatCell, HeatMap, HeatRow};
pub use lanes::{Lane, Lanes};
pub use lines::{Line, LineMark, LineStyle, Lines, Series, averaged};
pub use pareto::pareto_front;
pub use pie::{Pie, PieSlice};
pub use roofline::{RoofPoint, RooflinePlot};
pub use scatter::{Mark, Scatter, ScatterPoint, XLimit};
pub use shape::{Anchor, Form, Ink, Place, Shape, to_svg};
pub use treemap::{TreemapTile, treemap};
