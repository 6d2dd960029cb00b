//! Numbers of one type as numbers of another, each under a name that says what happens at the edge.
//!
//! A cast with `as` says nothing there, so rooms that are done refuse it (`clippy::cast_*`). Where a type holds every value of the
//! other one, `From` does it.

/// A count as a real number: exact up to 2^53, the nearest one above.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "what the function is for")]
pub const fn real(n: u64) -> f64 {
    n as f64
}

/// A length as a real number: exact up to 2^53, the nearest one above.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "what the function is for")]
pub const fn real_len(n: usize) -> f64 {
    n as f64
}

/// A number as one of single precision: exact up to 2^24, the nearest one above.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "what the function is for")]
pub const fn single(n: u32) -> f32 {
    n as f32
}

/// The whole part: 0 for what is negative or not a number, the greatest number for what is greater.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what the function is for")]
pub const fn whole(x: f64) -> u64 {
    x as u64
}

/// The whole part as a length: 0 for what is negative or not a number, the greatest length for what is greater.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what the function is for")]
pub const fn whole_len(x: f64) -> usize {
    x as usize
}

/// A number as a place in memory. Where places have 32 bits and the number has more it is the last place, at which nothing is.
#[must_use]
pub fn place(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// A length as a 32-bit number: the greatest one for what is greater.
#[must_use]
pub fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_numbers_are_exact_up_to_their_digits() {
        assert_eq!(real(1 << 53), 9_007_199_254_740_992.0);
        assert_eq!(real((1 << 53) + 1), 9_007_199_254_740_992.0);
        assert_eq!((real_len(7), single(1 << 24), single((1 << 24) + 1)), (7.0, 16_777_216.0, 16_777_216.0));
    }

    #[test]
    fn what_does_not_fit_ends_at_the_edge() {
        assert_eq!([whole(2.9), whole(-1.0), whole(f64::NAN), whole(f64::INFINITY)], [2, 0, 0, u64::MAX]);
        assert_eq!([whole_len(2.9), whole_len(-1.0), whole_len(1e300)], [2, 0, usize::MAX]);
        assert_eq!([narrow(3), narrow(usize::MAX)], [3, u32::MAX]);
        assert_eq!(place(3), 3);
        assert_eq!([1u8].get(place(u64::MAX)), None);
    }
}
