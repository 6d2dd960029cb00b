//! Columns of numbers as bytes: a tile has hundreds of thousands of numbers, and the page, which must not block for long,
//! copies them block by block instead of one by one.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

use super::SliceRef;

/// A number with a fixed size in bytes, the least significant byte first.
pub(super) trait Plain: Copy {
    /// Appends the numbers as bytes.
    fn pack(column: &[Self]) -> Vec<u8>;
    /// The numbers in these bytes; `None` if the last number is incomplete.
    fn unpack(bytes: &[u8]) -> Option<Vec<Self>>;
}

macro_rules! plain {
    ($($number:ty),+) => {$(
        impl Plain for $number {
            fn pack(column: &[Self]) -> Vec<u8> {
                let mut bytes = Vec::with_capacity(size_of_val(column));
                for number in column {
                    bytes.extend_from_slice(&number.to_le_bytes());
                }
                bytes
            }

            fn unpack(bytes: &[u8]) -> Option<Vec<Self>> {
                let (numbers, rest) = bytes.as_chunks();
                rest.is_empty().then(|| numbers.iter().map(|b| Self::from_le_bytes(*b)).collect())
            }
        }
    )+};
}

plain!(u16, u32, i64, u64, f64);

impl Plain for SliceRef {
    fn pack(column: &[Self]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(size_of_val(column));
        for slice in column {
            bytes.extend_from_slice(&slice.0.to_le_bytes());
        }
        bytes
    }

    fn unpack(bytes: &[u8]) -> Option<Vec<Self>> {
        let (numbers, rest) = bytes.as_chunks();
        rest.is_empty().then(|| numbers.iter().map(|b| Self(u32::from_le_bytes(*b))).collect())
    }
}

/// Serializer for `#[serde(with = "packed")]`.
pub(super) fn serialize<S: Serializer, T: Plain>(column: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(&T::pack(column))
}

/// Deserializer for `#[serde(with = "packed")]`.
pub(super) fn deserialize<'de, D: Deserializer<'de>, T: Plain>(deserializer: D) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_bytes(PackedColumn(PhantomData))
}

struct PackedColumn<T>(PhantomData<T>);

impl<T: Plain> Visitor<'_> for PackedColumn<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bytes of a column")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<T>, E> {
        T::unpack(bytes).ok_or_else(|| E::invalid_length(bytes.len(), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NO_SLICE, TimelineTile, TrackTile, sample};
    use super::*;

    #[test]
    fn a_tile_survives_packing() {
        let mut tile = sample::tile();
        let mut extreme = TrackTile::default();
        extreme.push_merged(NO_SLICE, u16::MAX, u32::MAX, i64::MIN, u64::MAX, u32::MAX);
        extreme.value = vec![-0.5, f64::MAX];
        tile.tracks.push(extreme);
        let sent = postcard::to_allocvec(&tile).expect("is plain data");
        assert_eq!(postcard::from_bytes::<TimelineTile>(&sent).expect("was just written"), tile);
    }

    #[test]
    fn a_cut_column_is_refused() {
        assert_eq!(u32::unpack(&[1, 0, 0, 0, 2, 0]), None);
        assert_eq!(u32::unpack(&[1, 0, 0, 0, 2, 0, 0, 0]), Some(vec![1, 2]));
        assert_eq!(i64::unpack(&[]), Some(vec![]));
    }
}
