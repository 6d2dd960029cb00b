//! What the machine does: the discrete-event simulator of one NeuronCore, the runtime around it, and the numbers it
//! computes.

#![cfg_attr(
    not(test),
    warn(
        clippy::cast_lossless,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss
    )
)]

pub mod gpsimd;
pub mod numerics;
pub mod runtime;
pub mod sim;
