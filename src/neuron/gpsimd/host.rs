//! Host time of a step whose graph is recorded op by op and started by `mark_step`.
//!
//! Host and device overlap: nothing in the step waits for its result, so a step takes as long as the slower of the two. The
//! host's time has a part for each step (loading a batch, moving it, starting the graph) and a part for each op that is
//! recorded. Both follow from two published rates of the same kind of loop on the same instance, the three-layer MLP
//! tutorial at batch 32: evaluation with a traced model, where the whole network is one call, and training with
//! `mark_step`. No figure of the custom operator tutorial is used.

use ns_base::convert::u64_to_f64;

/// MLP tutorial, evaluation with the traced model, steps per second.
const TRACED_STEPS_PER_S: f64 = 409.0;
/// MLP tutorial, training with `mark_step` and without a background loader, steps per second.
const TRACED_OPS: u64 = 1;
/// MLP tutorial, training with `mark_step` and without a background loader, steps per second.
const TRAINING_STEPS_PER_S: f64 = 95.0;
/// Linear layers of that MLP.
const TUTORIAL_LAYERS: u64 = 3;

/// Host time of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostCosts {
    /// Time of every step, nanoseconds.
    pub step_ns: f64,
    /// Time of every recorded op, nanoseconds.
    pub op_ns: f64,
}

impl HostCosts {
    /// The line through the two published steps.
    #[must_use]
    pub fn published() -> Self {
        let (few, many) = (1e9 / TRACED_STEPS_PER_S, 1e9 / TRAINING_STEPS_PER_S);
        let op_ns = (many - few) / u64_to_f64(training_ops(TUTORIAL_LAYERS) - TRACED_OPS);
        Self { step_ns: few - op_ns * u64_to_f64(TRACED_OPS), op_ns }
    }

    /// A step that records this many ops, nanoseconds.
    #[must_use]
    pub fn step(&self, ops: u64) -> f64 {
        self.step_ns + self.op_ns * u64_to_f64(ops)
    }

    /// The time that recording this many ops adds to the call of a traced model (one op), nanoseconds.
    #[must_use]
    pub fn recording(&self, ops: u64) -> f64 {
        self.op_ns * u64_to_f64(ops.saturating_sub(TRACED_OPS))
    }
}

/// Ops that the forward pass of an MLP records: a transpose and an addmm for each linear layer, an activation between each two,
/// and a log-softmax.
#[must_use]
pub const fn inference_ops(layers: u64) -> u64 {
    2 * layers + layers.saturating_sub(1) + 1
}

/// Ops of a training step: forward pass and loss, their gradients, and for each of the two parameters of a layer:
/// clearing the gradient, adding to it, and the update.
///
/// The gradient of a linear layer is a transpose, a product, a sum, a view and a transpose back for the weight and the
/// bias, and a transpose and a product for the input, which the first layer does not need.
#[must_use]
pub const fn training_ops(layers: u64) -> u64 {
    let loss = 1;
    let between = layers.saturating_sub(1);
    let gradients = 2 + 5 * layers + 2 * between + between;
    let update = 3 * 2 * layers;
    inference_ops(layers) + loss + gradients + update
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tutorials_steps_are_met() {
        let host = HostCosts::published();
        assert_eq!((inference_ops(3), training_ops(3)), (9, 51));
        assert!((1e9 / host.step(TRACED_OPS) - TRACED_STEPS_PER_S).abs() < 1e-6);
        assert!((1e9 / host.step(training_ops(3)) - TRAINING_STEPS_PER_S).abs() < 1e-6);
        assert!(host.step_ns > 0.0 && host.op_ns > 0.0);
    }
}
