//! The host's part of a step of lazy tensors, from published rates.
//!
//! The three-layer MLP tutorial (784-120-84-10, batch 32, Trn1) has two loops of the same kind: evaluation with a traced
//! model, where the network is one call, and training, where each step records its ops and ends with `mark_step`. Both load
//! their batches between the steps. The difference of the two rates is the time of the ops: recording them, hashing
//! the graph, finding its program in the cache. No document divides it further. The rest of the evaluation's step, less the
//! call, is the loop's own work. No figure of the custom operator tutorial is used.

/// Evaluation with the traced model, steps per second.
const TRACED_STEPS_PER_S: u64 = 409;
/// Ops that the host records for a call of a traced model.
pub const TRACED_OPS: u64 = 1;
/// Training without a background loader, steps per second.
const TRAINING_STEPS_PER_S: u64 = 95;
/// Linear layers of the network.
const LAYERS: u64 = 3;
/// Bytes of its inputs: 32 images of 28 x 28 pixels, each of 4 bytes.
const INPUT_BYTES: u64 = 32 * 28 * 28 * 4;
/// Bytes of its outputs: 32 x 10 results of 4 bytes.
const OUTPUT_BYTES: u64 = 32 * 10 * 4;

const NS: u64 = 1_000_000_000;

/// Time for each op that a step records, nanoseconds, rounded.
pub(super) const RECORD_OP_NS: u64 = {
    let (few, many) = (NS / TRACED_STEPS_PER_S, NS / TRAINING_STEPS_PER_S);
    let ops = training_ops(LAYERS) - TRACED_OPS;
    (many - few + ops / 2) / ops
};

/// Time of the loop's own work in a step, nanoseconds, when a call and its copies take these times.
pub(super) const fn load_batch_ns(host_call_ns: u64, copy_bytes_per_us: u64) -> u64 {
    let copies = (INPUT_BYTES + OUTPUT_BYTES) * 1_000 / copy_bytes_per_us;
    (NS / TRACED_STEPS_PER_S).saturating_sub(host_call_ns + copies)
}

/// Ops that the forward pass of an MLP records: a transpose and an addmm for each linear layer, an activation between each two,
/// and a log-softmax.
const fn forward_ops(layers: u64) -> u64 {
    2 * layers + layers.saturating_sub(1) + 1
}

/// Ops of a training step of an MLP: forward pass and loss, their gradients, and for each of the two parameters of a layer:
/// clearing the gradient, adding to it, and the update.
///
/// The gradient of a linear layer is a transpose, a product, a sum, a view and a transpose back for the weight and the
/// bias, and a transpose and a product for the input, which the first layer does not need.
pub const fn training_ops(layers: u64) -> u64 {
    let loss = 1;
    let between = layers.saturating_sub(1);
    let gradients = 2 + 5 * layers + 2 * between + between;
    let update = 3 * 2 * layers;
    forward_ops(layers) + loss + gradients + update
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::CostTable;
    use ns_base::convert::u64_to_f64;

    #[test]
    fn the_tutorials_steps_are_met() {
        let runtime = CostTable::neuroncore_v2().runtime;
        assert_eq!((forward_ops(LAYERS), training_ops(LAYERS)), (9, 51));
        let call_ns = runtime.host_call_ns + (INPUT_BYTES + OUTPUT_BYTES) * 1_000 / runtime.host_copy_bytes_per_us;
        let step_ns = |ops: u64| runtime.load_batch_ns + call_ns + (ops - TRACED_OPS) * runtime.record_op_ns;
        let rate = |ops: u64| 1e9 / u64_to_f64(step_ns(ops));
        for (ops, published) in [(TRACED_OPS, TRACED_STEPS_PER_S), (training_ops(LAYERS), TRAINING_STEPS_PER_S)] {
            assert!((rate(ops) / u64_to_f64(published) - 1.0).abs() < 1e-5, "{ops}: {}", rate(ops));
        }
    }
}
