//! Where the batch lies in an array.

/// The dimension that holds the batch. Its size is `outer x batch x inner`, so a dimension that was merged from several keeps its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Mark {
    pub dimension: usize,
    /// Positions of the dimension that belong to one sample and follow each other.
    pub inner: u64,
}

impl Mark {
    /// Sizes at another batch size.
    pub fn resize(self, dims: &mut [u64], from: u64, to: u64) {
        if let Some(size) = dims.get_mut(self.dimension) {
            *size = (*size / from).saturating_mul(to);
        }
    }

    /// Elements that belong to one sample and follow each other, in row-major order.
    pub fn stride(self, dims: &[u64]) -> u64 {
        dims.iter().skip(self.dimension + 1).product::<u64>() * self.inner
    }

    /// The mark of a reshaped array whose samples are runs of `stride` elements. `None` where two dimensions may hold the batch (only a
    /// batch of one can hide between them) or none does.
    pub fn of_stride(dims: &[u64], stride: u64, batch: u64) -> Option<Self> {
        let mut found = Vec::new();
        let mut suffix = 1u64;
        for (dimension, size) in dims.iter().enumerate().rev() {
            let whole = suffix * size;
            if suffix <= stride
                && stride * batch <= whole
                && stride.is_multiple_of(suffix)
                && whole.is_multiple_of(stride * batch)
            {
                found.push(Self { dimension, inner: stride / suffix });
            }
            suffix = whole;
        }
        found.reverse();
        // A dimension that is nothing but the batch comes first, the outermost where several have one element.
        let exact = found.iter().find(|m| m.inner == 1 && dims[m.dimension] == batch);
        match (exact, found.as_slice()) {
            (Some(mark), _) | (None, [mark]) => Some(*mark),
            // [rows, 1, columns] became a matrix: each row is a sample's. With more dimensions the columns became heads, each with its samples.
            (None, [rows, columns]) => Some(if dims.len() == 2 { *rows } else { *columns }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch_dim(dims: &[u64], stride: u64, batch: u64) -> Option<(usize, u64)> {
        Mark::of_stride(dims, stride, batch).map(|m| (m.dimension, m.inner))
    }

    #[test]
    fn a_reshape_keeps_the_batch_where_its_elements_lie() {
        // [8, 128, 768] as rows, as heads, and with the batch in the middle.
        assert_eq!(batch_dim(&[1024, 768], 128 * 768, 8), Some((0, 128)));
        assert_eq!(batch_dim(&[8, 128, 12, 64], 128 * 768, 8), Some((0, 1)));
        assert_eq!(batch_dim(&[1024, 768], 768, 8), Some((0, 1)));
        assert_eq!(batch_dim(&[128, 96, 64], 768, 8), Some((1, 12)));
        // One sample: the batch is a dimension of one, or a part of the rows.
        assert_eq!(batch_dim(&[1, 128, 12, 64], 128 * 768, 1), Some((0, 1)));
        assert_eq!(batch_dim(&[128, 768], 128 * 768, 1), Some((0, 128)));
        assert_eq!(batch_dim(&[128, 768], 768, 1), Some((0, 1)));
        assert_eq!(batch_dim(&[128, 12, 64], 768, 1), Some((1, 12)));
        assert_eq!(batch_dim(&[7, 5], 8, 8), None);
    }

    #[test]
    fn a_mark_knows_its_run_and_its_size() {
        let mark = Mark { dimension: 0, inner: 128 };
        let mut dims = vec![1024, 768];
        assert_eq!(mark.stride(&dims), 128 * 768);
        mark.resize(&mut dims, 8, 2);
        assert_eq!(dims, [256, 768]);
    }
}
