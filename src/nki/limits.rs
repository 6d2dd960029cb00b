//! A kernel without one limit of the core.

use ns_machine::cost::Limit;

use crate::setup::Setup;

impl Setup {
    /// The setup without a limit.
    pub fn without(&self, limit: Limit) -> Self {
        let mut setup = Self { costs: self.costs.without(limit), with_limits: false, ..self.clone() };
        match limit {
            Limit::Sbuf => setup.decisions.sbuf = false,
            Limit::Psum => setup.decisions.psum = false,
            _ => {}
        }
        setup
    }
}
