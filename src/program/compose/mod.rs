//! Families of operators that frameworks have and XLA does not, composed of XLA's operations.
//!
//! Each function pushes instructions on a [`Builder`] and returns the result. One file holds one family.

mod activation;
mod advanced_index;
mod attention;
mod einsum;
mod grid_sample;
mod math;
mod normalise;
mod patches;
mod pool;
mod recurrent;
mod resize;
mod scan;
mod smooth_resize;
mod softmax;
mod solve;
mod statistic;
mod unpool;

pub use activation::{
    Elu, celu, elu, gelu_erf, gelu_tanh, glu, hard_sigmoid, hard_swish, leaky_relu, log_sigmoid, mish, relu, selu,
    silu, softplus, softsign,
};
pub use advanced_index::{IndexPut, advanced_index, advanced_put, scatter_along};
pub use attention::{Attention, attention, attention_and_shares};
pub use einsum::einsum;
pub use grid_sample::{Between, Beyond, GridSample, grid_sample};
pub use math::{floor_divide, floor_modulo, one_hot, power_number, truncated_quotient};
pub use normalise::{Affine, batch_norm, group_norm, layer_norm, lp_normalise, rms_norm};
pub use patches::{Windows, patches, windows};
pub use pool::{
    PoolSpec, adaptive_average_pool, adaptive_max_places, adaptive_max_pool, average_pool, max_pool, max_pool_indices,
};
pub use recurrent::{CellKind, Layer, Recurrent, recurrent};
pub use resize::{Resize, ResizeMode, resize};
pub use scan::{cumulative, running_extreme, sort_places, top_places};
pub use smooth_resize::{Falloff, smooth_resize};
pub use softmax::{log_softmax, logsumexp, softmax};
pub use solve::{Elimination, cholesky, eliminate, identity_like, solve_triangle};
pub use statistic::{arg_extreme, distances, norm, variance};
pub use unpool::{Fold, affine_grid, fold_patches, unpool};

use super::{Binary, Builder, Built, ElementType, InstructionId};
use ns_base::convert::{usize_to_i64, usize_to_u32};
use ns_base::{Refusal, refuse};

/// `x` in single precision if its type has fewer bits: frameworks compute sums of many elements this way. Fails when `x` is not an
/// array.
pub fn widened(b: &mut Builder, x: InstructionId) -> Built {
    let element = b.array(x)?.element;
    if element.is_float() && element.bits() < 32 { b.convert(x, ElementType::F32) } else { Ok(x) }
}

/// `1 - x`.
fn one_minus(b: &mut Builder, x: InstructionId) -> Built {
    let one = b.number(b.element(x), 1.0)?;
    b.binary(Binary::Sub, one, x)
}

/// One number for each channel, broadcast over an array of sizes `dims` whose channels are dimension `channel`.
fn per_channel(b: &mut Builder, row: InstructionId, dims: &[u64], channel: usize) -> Built {
    b.broadcast_in(row, dims, vec![usize_to_u32(channel)])
}

/// The index of a dimension of an array; a negative number counts from the end. Fails when the array does not have the dimension.
pub fn dimension(rank: usize, at: i64) -> Result<usize, Refusal> {
    // For frameworks, an array of one number without dimensions has one dimension.
    let count = usize_to_i64(rank.max(1));
    let from_front = if at < 0 { at.saturating_add(count) } else { at };
    match usize::try_from(from_front) {
        Ok(d) if d < rank.max(1) => Ok(d),
        _ => Err(refuse!("an array of rank {rank} has no dimension {at}")),
    }
}
