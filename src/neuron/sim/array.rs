//! The array of the tensor engine: the tile in it, and its clock.

use super::Observer;
use super::prices::{Pace, Price, Tile};
use super::throttle::TensorClock;
use ns_base::SimTime;
use ns_machine::cost::CostTable;

/// An array between two instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Array {
    /// Its clock, if its utilisation limits it.
    clock: Option<TensorClock>,
    /// The limit of its last instruction; 8 is none.
    eighths: u32,
    tile: Tile,
}

impl Array {
    /// An array without a tile.
    pub fn new(costs: &CostTable) -> Self {
        let throttle = costs.engine.tensor_throttle;
        let clock = throttle.map(|throttle| TensorClock::new(throttle, costs.core.partitions));
        Self { clock, eighths: 8, tile: Tile::default() }
    }

    /// Runs an instruction from `start`; returns what it costs, and how much later its results leave the array.
    #[inline]
    pub fn run<'p, O: Observer + ?Sized>(
        &mut self,
        start: SimTime,
        price: &'p Price,
        observer: &mut O,
    ) -> (&'p Pace, SimTime) {
        if let Some(tile) = price.tile {
            self.tile = tile;
        }
        let mut pace = &price.paces[0];
        if let Some(clock) = &mut self.clock {
            pace = clock.pace(start, &price.paces);
            let eighths = clock.eighths();
            if eighths != self.eighths {
                self.eighths = eighths;
                observer.clock_limit(start, eighths);
            }
            clock.work(start, pace.work, self.tile.elements);
        }
        (pace, if price.is_product { self.tile.crossing } else { SimTime::ZERO })
    }
}
