//! Sorting of short lists.

use std::cmp::Ordering;

/// Sorts a short list by insertion; equal elements keep their order. The standard library's sort is five kilobytes of wasm for each
/// type that is sorted, this one a few hundred bytes. Its time grows with the square of the length: for lists of at most
/// some hundreds.
pub fn sort_short_by<T>(list: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    for end in 1..list.len() {
        let mut at = end;
        while at > 0 && compare(&list[at - 1], &list[at]) == Ordering::Greater {
            list.swap(at - 1, at);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_the_stable_sort(keys in prop::collection::vec(0_u8..6, 0..40)) {
            let mut list: Vec<(u8, usize)> = keys.into_iter().enumerate().map(|(at, key)| (key, at)).collect();
            let mut expected = list.clone();
            expected.sort_by_key(|(key, _)| *key);
            sort_short_by(&mut list, |a, b| a.0.cmp(&b.0));
            prop_assert_eq!(list, expected);
        }
    }
}
