//! The order in which torch adds up a row of single precision numbers on a CPU.
//!
//! The mean relative error is a float32 sum, whose last bits depend on the order of its additions. torch adds in lanes of
//! a vector register, four registers side by side, in cascades of at least sixteen; the lanes are added last, after the elements that
//! do not fill a register.

/// Lanes of a 256-bit register, the width that torch's sums use.
const LANES: usize = 8;
/// Registers that are filled side by side.
const ROWS: usize = 4;
/// Levels of partial sums.
const LEVELS: usize = 4;

type Register = [f32; LANES];

/// The sum of a contiguous row.
pub(super) fn sum_f32(values: &[f32]) -> f32 {
    let (vectors, rest) = values.as_chunks::<LANES>();
    let lanes = row_sum(vectors);
    let tail = rest.iter().fold(0.0, |sum, v| sum + v);
    lanes.iter().fold(tail, |sum, v| sum + v)
}

fn add(into: &mut Register, other: &Register) {
    for (a, b) in into.iter_mut().zip(other) {
        *a += b;
    }
}

fn row_sum(vectors: &[Register]) -> Register {
    let (groups, rest) = vectors.as_chunks::<ROWS>();
    let mut partial = cascade(groups);
    let [first, others @ ..] = &mut partial;
    for vector in rest {
        add(first, vector);
    }
    for other in others {
        add(first, other);
    }
    partial[0]
}

/// Sums of each row, in blocks whose sums are added up level by level.
fn cascade(groups: &[[Register; ROWS]]) -> [Register; ROWS] {
    let log2 = usize::BITS - groups.len().saturating_sub(1).leading_zeros();
    let power = (log2 as usize / LEVELS).max(4);
    let (step, mask) = (1usize << power, (1usize << power) - 1);
    let mut levels = [[[0.0; LANES]; ROWS]; LEVELS];
    let mut i = 0;
    while i + step <= groups.len() {
        for group in &groups[i..i + step] {
            add_rows(&mut levels[0], group);
        }
        i += step;
        for level in 1..LEVELS {
            let lower = std::mem::replace(&mut levels[level - 1], [[0.0; LANES]; ROWS]);
            add_rows(&mut levels[level], &lower);
            if i & (mask << (level * power)) != 0 {
                break;
            }
        }
    }
    let [lowest, higher @ ..] = &mut levels;
    for group in &groups[i..] {
        add_rows(lowest, group);
    }
    for level in higher {
        add_rows(lowest, level);
    }
    levels[0]
}

fn add_rows(into: &mut [Register; ROWS], other: &[Register; ROWS]) {
    for (a, b) in into.iter_mut().zip(other) {
        add(a, b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_added_once() {
        for n in [0usize, 1, 7, 8, 9, 31, 64, 100, 513, 4_096, 20_000] {
            let ones = vec![1.0f32; n];
            assert_eq!(sum_f32(&ones), n as f32, "{n}");
            let powers: Vec<f32> = (0..n).map(|i| if i % 2 == 0 { 2.0 } else { -1.0 }).collect();
            assert_eq!(sum_f32(&powers), (n.div_ceil(2) * 2) as f32 - (n / 2) as f32);
        }
    }
}
