//! Columns of whole numbers that take only as many bytes as they need: a block of rows is stored as its least value and
//! the distances from it, all as wide as the widest. Names, tracks and times of neighbours are close to one another, so
//! most columns take one or two bytes per row, and constant columns take none.

use std::marker::PhantomData;

use ns_base::convert::{low8, low16, low32};

/// Rows of a block: few enough that neighbours are close, enough that the fixed cost of a block does not matter.
const BLOCK_ROWS: usize = 1024;

/// A value that a column can hold.
pub(super) trait Cell: Copy {
    /// The value as a number, by any one-to-one mapping that keeps neighbours close.
    fn to_number(self) -> i64;
    /// The value of a number.
    fn of_number(number: i64) -> Self;
}

macro_rules! cells {
    ($($cell:ty: $low:ident),*) => { $(
        impl Cell for $cell {
            fn to_number(self) -> i64 {
                i64::from(self)
            }
            fn of_number(number: i64) -> Self {
                $low(number.cast_unsigned())
            }
        }
    )* };
}
cells!(u32: low32, u16: low16, u8: low8);

impl Cell for i64 {
    fn to_number(self) -> i64 {
        self
    }
    fn of_number(number: i64) -> Self {
        number
    }
}

impl Cell for u64 {
    fn to_number(self) -> i64 {
        self.cast_signed()
    }
    fn of_number(number: i64) -> Self {
        number.cast_unsigned()
    }
}

macro_rules! id_cells {
    ($($cell:ty: $low:ident),*) => { $(
        impl Cell for $cell {
            fn to_number(self) -> i64 {
                i64::from(self.0)
            }
            fn of_number(number: i64) -> Self {
                Self($low(number.cast_unsigned()))
            }
        }
    )* };
}
id_cells!(ns_base::StrId: low32, super::ArgsId: low32, super::TrackId: low32, super::SliceFlags: low8);

impl Cell for bool {
    fn to_number(self) -> i64 {
        i64::from(self)
    }
    fn of_number(number: i64) -> Self {
        number != 0
    }
}

/// A block of at most [`BLOCK_ROWS`] values: the least value, and the distance of each value from it.
#[derive(Clone, Debug)]
enum Block {
    Same(i64),
    Bytes(i64, Box<[u8]>),
    Shorts(i64, Box<[u16]>),
    Words(i64, Box<[u32]>),
    Whole(Box<[i64]>),
}

impl Block {
    fn of(values: &[i64]) -> Self {
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for &value in values {
            (low, high) = (low.min(value), high.max(value));
        }
        Self::within(values, low, high)
    }

    /// A block in the narrowest form for values from `low` to `high`.
    fn within(values: &[i64], low: i64, high: i64) -> Self {
        let above = |v: &i64| v.wrapping_sub(low).cast_unsigned();
        match high.cast_unsigned().wrapping_sub(low.cast_unsigned()) {
            0 => Self::Same(low),
            1..=0xff => Self::Bytes(low, values.iter().map(|v| low8(above(v))).collect()),
            0x100..=0xffff => Self::Shorts(low, values.iter().map(|v| low16(above(v))).collect()),
            0x1_0000..=0xffff_ffff => Self::Words(low, values.iter().map(|v| low32(above(v))).collect()),
            _ => Self::Whole(values.into()),
        }
    }

    fn get(&self, at: usize) -> i64 {
        match self {
            Self::Same(value) => *value,
            Self::Bytes(low, above) => low.wrapping_add(i64::from(above[at])),
            Self::Shorts(low, above) => low.wrapping_add(i64::from(above[at])),
            Self::Words(low, above) => low.wrapping_add(i64::from(above[at])),
            Self::Whole(values) => values[at],
        }
    }

    /// Changes a value in place; false when the block is too narrow for it.
    fn set(&mut self, at: usize, value: i64) -> bool {
        match self {
            Self::Same(same) => *same == value,
            Self::Bytes(low, above) => u8::try_from(value.wrapping_sub(*low)).map(|v| above[at] = v).is_ok(),
            Self::Shorts(low, above) => u16::try_from(value.wrapping_sub(*low)).map(|v| above[at] = v).is_ok(),
            Self::Words(low, above) => u32::try_from(value.wrapping_sub(*low)).map(|v| above[at] = v).is_ok(),
            Self::Whole(values) => {
                values[at] = value;
                true
            }
        }
    }

    /// [`Self::set`] for a value that does not fit. The block becomes wider than necessary, so that this is rare.
    fn widen(&mut self, rows: usize, at: usize, value: i64) {
        let mut values: Vec<i64> = (0..rows).map(|i| self.get(i)).collect();
        let (low, high) = values.iter().fold((value, value), |(low, high), &v| (low.min(v), high.max(v)));
        values[at] = value;
        let room = high.saturating_sub(low);
        let is_below = low == value;
        let (low, high) = if is_below { (low.saturating_sub(room), high) } else { (low, high.saturating_add(room)) };
        *self = Self::within(&values, low, high);
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Same(_) => 0,
            Self::Bytes(_, above) => above.len(),
            Self::Shorts(_, above) => above.len() * 2,
            Self::Words(_, above) => above.len() * 4,
            Self::Whole(values) => values.len() * 8,
        }
    }
}

/// A column that grows at its end without ever copying its content.
#[derive(Clone, Debug)]
pub(super) struct Column<T> {
    blocks: Vec<Block>,
    /// The values that do not fill a block yet.
    tail: Vec<i64>,
    /// Bytes of the blocks.
    block_bytes: usize,
    of: PhantomData<T>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { blocks: Vec::new(), tail: Vec::new(), block_bytes: 0, of: PhantomData }
    }
}

impl<T: Cell> Column<T> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.blocks.len() * BLOCK_ROWS + self.tail.len()
    }

    /// Adds a row.
    pub fn push(&mut self, value: T) {
        self.tail.push(value.to_number());
        if self.tail.len() == BLOCK_ROWS {
            self.add_block();
        }
    }

    fn add_block(&mut self) {
        let block = Block::of(&self.tail);
        self.block_bytes += block.bytes();
        self.blocks.push(block);
        self.tail.clear();
    }

    /// The value of a row, which must exist.
    pub fn get(&self, row: usize) -> T {
        T::of_number(match self.blocks.get(row / BLOCK_ROWS) {
            Some(block) => block.get(row % BLOCK_ROWS),
            None => self.tail[row - self.blocks.len() * BLOCK_ROWS],
        })
    }

    /// The value of the last row.
    pub fn last(&self) -> Option<T> {
        self.len().checked_sub(1).map(|row| self.get(row))
    }

    /// Changes a row, which must exist.
    pub fn set(&mut self, row: usize, value: T) {
        let (number, at) = (value.to_number(), row % BLOCK_ROWS);
        let Some(block) = self.blocks.get_mut(row / BLOCK_ROWS) else {
            self.tail[row - self.blocks.len() * BLOCK_ROWS] = number;
            return;
        };
        if !block.set(at, number) {
            self.block_bytes -= block.bytes();
            block.widen(BLOCK_ROWS, at, number);
            self.block_bytes += block.bytes();
        }
    }

    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.block_bytes + self.blocks.capacity() * size_of::<Block>() + self.tail.capacity() * 8
    }

    /// The rows in this order, which holds each of them once. The old column is freed.
    pub fn reorder(self, order: &[u32]) -> Self {
        reorder_numbers(self.of_cell(), order, 0).of_cell()
    }

    /// The same numbers as cells of another type.
    fn of_cell<U>(self) -> Column<U> {
        Column { blocks: self.blocks, tail: self.tail, block_bytes: self.block_bytes, of: PhantomData }
    }
}

impl Column<i64> {
    /// [`Column::reorder`] of times, which begin at `origin`.
    pub fn reorder_since(self, order: &[u32], origin: i64) -> Self {
        reorder_numbers(self, order, origin)
    }
}

/// One copy of the code for the columns of all types.
#[inline(never)]
fn reorder_numbers(column: Column<i64>, order: &[u32], origin: i64) -> Column<i64> {
    order.iter().map(|&row| column.get(row as usize).saturating_sub(origin)).collect()
}

impl<T: Cell> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut column = Self::default();
        values.into_iter().for_each(|value| column.push(value));
        column.tail.shrink_to_fit();
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Rng;

    /// Random values whose neighbours are as far apart as the row says: from equal to arbitrary.
    fn values(n: usize, seed: u64) -> Vec<i64> {
        let mut rng = Rng::new(seed, 1);
        let mut value = |i: usize| {
            let bits = [0, 7, 15, 31, 63][i / 1500 % 5];
            let random = u64::from(rng.next_u32()) << 32 | u64::from(rng.next_u32());
            i64::MIN / 3 + (random & ((1u64 << bits) - 1)) as i64
        };
        (0..n).map(&mut value).collect()
    }

    #[test]
    fn pushed_values_can_be_read() {
        for n in [0, 1, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 20_000] {
            let values = values(n, 5);
            let column: Column<i64> = values.iter().copied().collect();
            assert_eq!(column.len(), n);
            assert_eq!(column.iter().collect::<Vec<_>>(), values);
            assert_eq!(column.last(), values.last().copied());
        }
        let ends = [u64::MAX, 0, 1, u64::MAX - 1];
        let column: Column<u64> = (0..3000).map(|i| ends[i % 4]).collect();
        assert!(column.iter().enumerate().all(|(i, v)| v == ends[i % 4]));
    }

    #[test]
    fn set_values_can_be_read() {
        let (mut plain, news) = (values(6000, 7), values(20_000, 8));
        let mut column: Column<i64> = plain.iter().copied().collect();
        let mut rng = Rng::new(9, 1);
        for new in news.into_iter().chain([i64::MAX, i64::MIN, 0]) {
            let row = rng.next_u32() as usize % plain.len();
            plain[row] = new;
            column.set(row, new);
            assert_eq!(column.get(row), new);
        }
        assert_eq!(column.iter().collect::<Vec<_>>(), plain);
    }

    #[test]
    fn a_column_in_another_order_has_the_same_values() {
        let times = values(6000, 11);
        let order: Vec<u32> = (0..6000).map(|i| i * 7 % 6000).collect();
        let expected: Vec<i64> = order.iter().map(|&row| times[row as usize]).collect();
        let column: Column<i64> = times.iter().copied().collect();
        let since: Vec<i64> = column.clone().reorder_since(&order, 5).iter().collect();
        assert_eq!(since, expected.iter().map(|time| time - 5).collect::<Vec<_>>());
        assert_eq!(column.reorder(&order).iter().collect::<Vec<_>>(), expected);
        let ids: Column<u64> = times.iter().map(|time| time.cast_unsigned()).collect();
        assert_eq!(ids.reorder(&order).iter().map(u64::cast_signed).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn near_values_take_few_bytes() {
        let n = 100 * BLOCK_ROWS;
        let bytes = |column: Column<i64>| column.block_bytes as f64 / n as f64;
        assert_eq!(bytes((0..n).map(|_| -5).collect()), 0.0);
        assert_eq!(bytes((0..n).map(|i| i as i64 % 200).collect()), 1.0);
        assert_eq!(bytes((0..n).map(|i| 1_700_000_000_000_000_000 + i as i64 * 60).collect()), 2.0);
        assert_eq!(bytes((0..n).map(|i| i as i64 * 2_000_000).collect()), 4.0);
    }
}
