//! Sorting with one copy of the algorithm in a program.
//!
//! std compiles its sort again for every type and every comparison, 3 to 20 KB of wasm each time. [`Order`] sorts positions and calls the
//! comparison through a pointer, so that a further use costs some hundred bytes. Where millions of events are sorted, std's is faster.

use std::cmp::Ordering;

use crate::convert::usize_to_u32;

/// Stable sorting of slices.
pub trait Order<T> {
    /// Sorts by the order of the items, as `sort` does.
    fn order(&mut self)
    where
        T: Ord;

    /// Sorts by a comparison, as `sort_by` does.
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts by a key, as `sort_by_key` does.
    fn order_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
}

impl<T> Order<T> for [T] {
    #[inline]
    fn order(&mut self)
    where
        T: Ord,
    {
        self.order_by(T::cmp);
    }

    #[inline]
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering) {
        sort(&mut Items { items: self, compare });
    }

    #[inline]
    fn order_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.order_by(|a, b| key(a).cmp(&key(b)));
    }
}

/// Items by their position.
trait Positions {
    fn count(&self) -> usize;
    fn compare(&mut self, a: usize, b: usize) -> Ordering;
    fn swap(&mut self, a: usize, b: usize);
}

struct Items<'a, T, F> {
    items: &'a mut [T],
    compare: F,
}

impl<T, F: FnMut(&T, &T) -> Ordering> Positions for Items<'_, T, F> {
    fn count(&self) -> usize {
        self.items.len()
    }

    fn compare(&mut self, a: usize, b: usize) -> Ordering {
        (self.compare)(&self.items[a], &self.items[b])
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.items.swap(a, b);
    }
}

/// Sorts the positions, then moves each item to its own, along the cycles of the permutation.
fn sort(items: &mut dyn Positions) {
    let count = usize_to_u32(items.count());
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_by(|a, b| items.compare(*a as usize, *b as usize));
    for first in 0..count {
        let mut at = first;
        loop {
            let from = std::mem::replace(&mut order[at as usize], at);
            if from == first {
                break;
            }
            items.swap(at as usize, from as usize);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn orders_as_std_does() {
        let mut rng = Rng::new(7, 0);
        for count in [0, 1, 2, 3, 20, 21, 100, 1000] {
            let items: Vec<(u64, usize)> = (0..count).map(|i| (rng.next_u64() % 10, i)).collect();
            let (mut mine, mut std) = (items.clone(), items);
            mine.order_by_key(|item| item.0);
            std.sort_by_key(|item| item.0);
            assert_eq!(mine, std);
            mine.order();
            std.sort_unstable();
            assert_eq!(mine, std);
            mine.order_by(|a, b| b.1.cmp(&a.1));
            std.sort_by_key(|item| std::cmp::Reverse(item.1));
            assert_eq!(mine, std);
        }
    }

    #[test]
    fn items_need_not_be_copied() {
        let mut names: Vec<String> = ["pear", "fig", "apple", "fig"].map(str::to_owned).to_vec();
        names.order_by(|a, b| a.cmp(b));
        assert_eq!(names, ["apple", "fig", "fig", "pear"]);
    }
}
