//! Golden-section search for the minimum of a function of one variable.

/// Tolerances at which a search stops.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    /// Width of the interval at which it stops.
    pub x: f64,
    /// Difference of two values, relative to their size, at which it stops.
    pub f: f64,
}

/// Approximate position of the minimum of `f` between `a` and `b`. The interval is widened so that the first two points are its ends.
pub(super) fn golden_search(mut f: impl FnMut(f64) -> f64, a: f64, b: f64, tolerance: Tolerance) -> f64 {
    let ratio = 2.0 / (1.0 + libm::sqrt(5.0));
    let between = |x: f64, y: f64| ratio * x + (1.0 - ratio) * y;
    let mut outer_a = (ratio * a - (1.0 - ratio) * b) / (2.0 * ratio - 1.0);
    let mut outer_b = (ratio * b - (1.0 - ratio) * a) / (2.0 * ratio - 1.0);
    let (mut x1, mut x2) = (between(outer_a, outer_b), between(outer_b, outer_a));
    let (mut f1, mut f2) = (f(x1), f(x2));
    let size = f1.abs().max(f2.abs());
    // The interval shrinks by the same ratio each time: no function needs this many iterations.
    const MOST_TURNS: u32 = 200;
    for _ in 0..MOST_TURNS {
        if (outer_a - outer_b).abs() < tolerance.x || (f1 - f2).abs() < tolerance.f * size {
            break;
        }
        if f2 < f1 {
            (outer_a, x1) = (x1, x2);
            x2 = between(x1, outer_b);
            (f1, f2) = (f2, f(x2));
        } else {
            (outer_b, x2) = (x2, x1);
            x1 = between(x2, outer_a);
            (f2, f1) = (f1, f(x1));
        }
    }
    if f2 < f1 { x2 } else { x1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_point_of_a_parabola() {
        let x = golden_search(|x| (x - 0.3) * (x - 0.3), -1.0, 1.0, Tolerance { x: 1e-6, f: 0.0 });
        assert!((x - 0.3).abs() < 1e-5, "{x}");
    }

    #[test]
    fn a_flat_function_ends() {
        golden_search(|_| f64::NAN, 0.0, 1.0, Tolerance { x: 0.0, f: 0.0 });
    }
}
