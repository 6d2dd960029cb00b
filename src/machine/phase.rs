//! The parts of a training step, by the paths of its operations.

use ns_base::names;

/// The outermost scope of a training step.
pub const STEP_SCOPE: &str = "Training[step]";

names! {
    /// A part of a training step, by the scope that its operations are in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Phase {
        /// From the inputs to the loss.
        Forward = "forward",
        /// From the loss to the gradients.
        Backward = "backward",
        /// New values of the parameters.
        Update = "update",
    }

    /// All, in order.
    pub const ALL: [Self; _];
    /// Its name, which is the attribute in a scope: `backward`.
    pub const fn name(self) -> &'static str;
}

impl Phase {
    /// Its scope, for the class of a model or an optimizer: `Training[step]/NN[backward]`.
    pub fn scope(self, class: &str) -> String {
        format!("{STEP_SCOPE}/{class}[{}]", self.name())
    }

    /// The part that the path of an operation is in; `None` outside a training step.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let part = path.strip_prefix(STEP_SCOPE)?.strip_prefix('/')?.split('/').next()?;
        let attribute = part.strip_suffix(']')?.rsplit_once('[')?.1;
        Self::ALL.into_iter().find(|phase| phase.name() == attribute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_its_part() {
        for phase in Phase::ALL {
            assert_eq!(Phase::of_path(&format!("{}/Linear[l]/aten__mm_dot", phase.scope("NN"))), Some(phase));
        }
        for outside in
            ["NN[model]/Linear[forward]/x", "Training[step]", "Training[step]/x/y", "Training[step]/NN[model]/x"]
        {
            assert_eq!(Phase::of_path(outside), None, "{outside}");
        }
    }
}
