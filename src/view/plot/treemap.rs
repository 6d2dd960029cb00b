//! Shares of a whole as rectangles with areas proportional to the shares, close to squares.

use ns_base::Order;

/// A part of a treemap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreemapTile {
    /// Position of its value among the given values.
    pub item: usize,
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl TreemapTile {
    /// Whether the tiles share a part of an edge.
    pub fn touches(&self, other: &Self) -> bool {
        const SLACK: f64 = 1e-6;
        let meet = |a: f64, length: f64, b: f64, other: f64| (a + length).min(b + other) - a.max(b);
        let (x, y) = (meet(self.x, self.width, other.x, other.width), meet(self.y, self.height, other.y, other.height));
        x.max(y) > SLACK && x.min(y) > -SLACK
    }
}

/// Divides a rectangle among values by the squarified method (Bruls, Huizing, van Wijk, 2000): rows of tiles are laid
/// along the shorter side; a row takes more tiles as long as that makes them closer to squares. The largest value is first,
/// at the top left. Values that are not finite or not above 0 get no tile.
pub fn treemap(values: &[f64], width: f64, height: f64) -> Vec<TreemapTile> {
    let mut order: Vec<usize> = (0..values.len()).filter(|&i| values[i].is_finite() && values[i] > 0.0).collect();
    order.order_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    let sum: f64 = order.iter().map(|&i| values[i]).sum();
    let mut tiles = Vec::with_capacity(order.len());
    if !(sum > 0.0 && width > 0.0 && height > 0.0) {
        return tiles;
    }
    let scale = width * height / sum;
    let mut free = Free { x: 0.0, y: 0.0, width, height };
    let mut rest: &[usize] = &order;
    while !rest.is_empty() {
        let areas = |n: usize| rest[..n].iter().map(|&i| values[i] * scale);
        let mut n = 1;
        while n < rest.len() && worst(areas(n + 1), free.side()) <= worst(areas(n), free.side()) {
            n += 1;
        }
        let row: Vec<(usize, f64)> = rest[..n].iter().map(|&i| (i, values[i] * scale)).collect();
        free.lay(&row, n == rest.len(), &mut tiles);
        rest = &rest[n..];
    }
    tiles
}

/// The area that is not covered yet.
struct Free {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Free {
    fn side(&self) -> f64 {
        self.width.min(self.height)
    }

    /// Lays a row of tiles along the shorter side; the last row takes the remaining area.
    fn lay(&mut self, row: &[(usize, f64)], last: bool, tiles: &mut Vec<TreemapTile>) {
        let area: f64 = row.iter().map(|(_, a)| a).sum();
        let upright = self.width >= self.height;
        let (side, other) = if upright { (self.height, self.width) } else { (self.width, self.height) };
        let thickness = if last || side <= 0.0 { other } else { (area / side).min(other) };
        let mut at = 0.0;
        for &(item, tile) in row {
            let length = if area > 0.0 { side * tile / area } else { 0.0 };
            tiles.push(if upright {
                TreemapTile { item, x: self.x, y: self.y + at, width: thickness, height: length }
            } else {
                TreemapTile { item, x: self.x + at, y: self.y, width: length, height: thickness }
            });
            at += length;
        }
        if upright {
            self.x += thickness;
            self.width -= thickness;
        } else {
            self.y += thickness;
            self.height -= thickness;
        }
    }
}

/// The worst aspect ratio of the tiles in a row along a side.
fn worst(areas: impl Iterator<Item = f64>, side: f64) -> f64 {
    let (mut sum, mut least, mut most) = (0.0, f64::INFINITY, 0.0_f64);
    for area in areas {
        sum += area;
        least = least.min(area);
        most = most.max(area);
    }
    let (side, sum) = (side * side, sum * sum);
    (side * most / sum).max(sum / (side * least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_the_paper() {
        // Values 6, 6, 4, 3, 2, 2, 1 in 6 by 4: the first two are at the left, each 3 by 2.
        let tiles = treemap(&[6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0], 6.0, 4.0);
        let sizes: Vec<_> = tiles.iter().map(|t| (t.item, t.x, t.y, t.width, t.height)).collect();
        assert_eq!(sizes[..2], [(0, 0.0, 0.0, 3.0, 2.0), (1, 0.0, 2.0, 3.0, 2.0)]);
        assert_eq!(tiles.len(), 7);
        assert!(tiles[0].touches(&tiles[1]) && tiles[1].touches(&tiles[0]) && !tiles[0].touches(&tiles[6]));
        assert!(treemap(&[f64::NAN, 0.0, -1.0], 6.0, 4.0).is_empty());
    }

    proptest! {
        #[test]
        fn areas_are_shares_and_tiles_do_not_overlap(
            values in prop::collection::vec(0.01f64..100.0, 1..40), width in 10f64..2000.0, height in 10f64..2000.0,
        ) {
            let tiles = treemap(&values, width, height);
            let sum: f64 = values.iter().sum();
            prop_assert_eq!(tiles.len(), values.len());
            for (i, t) in tiles.iter().enumerate() {
                let share = t.width * t.height / (width * height);
                prop_assert!((share - values[t.item] / sum).abs() < 1e-6);
                prop_assert!(t.x >= -1e-6 && t.y >= -1e-6 && t.x + t.width <= width + 1e-6 && t.y + t.height <= height + 1e-6);
                for o in &tiles[i + 1..] {
                    let apart = o.x + 1e-6 >= t.x + t.width || t.x + 1e-6 >= o.x + o.width
                        || o.y + 1e-6 >= t.y + t.height || t.y + 1e-6 >= o.y + o.height;
                    prop_assert!(apart);
                }
            }
        }
    }
}
