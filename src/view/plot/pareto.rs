//! The Pareto front: the points that cannot be improved in one respect without becoming worse in the other.

use ns_base::Order;

/// Positions of the points that no other point beats, by ascending `x`: smaller `x` and larger `y` are better (latency and
/// throughput). Points that are not finite are never on the front; equal points are all on it.
pub fn pareto_front(points: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> =
        (0..points.len()).filter(|&i| points[i].0.is_finite() && points[i].1.is_finite()).collect();
    order.order_by(|&a, &b| points[a].0.total_cmp(&points[b].0).then(points[b].1.total_cmp(&points[a].1)));
    let mut front: Vec<usize> = Vec::new();
    for i in order {
        let beaten = front.last().is_some_and(|&last| points[i].1 <= points[last].1 && points[i] != points[last]);
        if !beaten {
            front.push(i);
        }
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unbeaten_points_are_on_the_front() {
        let points = [(3.25, 307.0), (5.6, 2_746.0), (6.0, 329.0), (10.2, 2_809.0), (f64::NAN, 9e9), (5.6, 2_000.0)];
        assert_eq!(pareto_front(&points), [0, 1, 3]);
        assert_eq!(pareto_front(&[(1.0, 1.0), (1.0, 1.0)]), [0, 1]);
        assert!(pareto_front(&[]).is_empty());
    }

    #[test]
    fn every_point_off_the_front_is_beaten_by_one_on_it() {
        let points: Vec<(f64, f64)> =
            (0..200_u32).map(|i| (f64::from(i * 7_919 % 101), f64::from(i * 104_729 % 97))).collect();
        let front = pareto_front(&points);
        for (i, p) in points.iter().enumerate() {
            let beats = |f: &(f64, f64)| f.0 <= p.0 && f.1 >= p.1 && f != p;
            assert_eq!(front.contains(&i), !points.iter().any(beats), "{p:?}");
        }
    }
}
