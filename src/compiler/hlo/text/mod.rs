//! HLO as text: one instruction a line, as XLA prints it, with the framework's names as metadata.
//!
//! ```text
//! HloModule SyncTensorsGraph.18, workflow=mark_step
//!
//! ENTRY {
//!   %p0 = f32[2] parameter(0), weight="layer2.bias", metadata={op_type="xla__device_data" op_name="NN[model]/Linear[layer2]/bias"}
//!   %dot = f32[4,4] dot(%p4, %transpose.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
//!   %fused_0 = f32[4,4] fusion(%dot, %p2), calls={
//!     %broadcast.1 = f32[4,4] broadcast(%p2), dimensions={1}
//!     ROOT %add = f32[4,4] add(%dot, %broadcast.1)
//!   }
//!   ROOT %tanh = f32[4,4] tanh(%fused_0)
//! }
//! ```
//! A fusion's members are written inside it and name the module's values directly. Only tests read such a text (`tests/support`).

mod printer;
mod window;

pub use printer::{expressions, print};
