//! Permutations of dimensions: dimension `i` of the transposed value is dimension `permutation[i]` of the original.

use ns_base::convert::usize_to_u32;

/// One permutation in place of `inner` and then `outer`; `None` when they do not fit together.
pub(super) fn composed(inner: &[u32], outer: &[u32]) -> Option<Vec<u32>> {
    outer.iter().map(|&d| inner.get(d as usize).copied()).collect()
}

pub(super) fn inverse(permutation: &[u32]) -> Vec<u32> {
    let mut back = vec![0; permutation.len()];
    for (i, &d) in permutation.iter().enumerate() {
        if let Some(slot) = back.get_mut(d as usize) {
            *slot = usize_to_u32(i);
        }
    }
    back
}

/// Whether every dimension stays.
pub(super) fn is_identity(permutation: &[u32]) -> bool {
    permutation.iter().zip(0..).all(|(p, i)| *p == i)
}

/// Whether a broadcast along these dimensions repeats one number per row along the row.
pub(super) fn is_row_of_each(dimensions: &[u32], rank: usize) -> bool {
    rank > 0 && dimensions.iter().copied().eq(0..usize_to_u32(rank) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_and_its_inverse_cancel() {
        let turn = [0, 3, 1, 2];
        assert_eq!(inverse(&turn), [0, 2, 3, 1]);
        assert!(is_identity(&composed(&turn, &inverse(&turn)).unwrap()));
        assert!(!is_identity(&turn));
        assert_eq!(composed(&[1, 0], &[2]), None);
        assert!(is_row_of_each(&[0, 1], 3) && !is_row_of_each(&[0, 2], 3));
    }
}
