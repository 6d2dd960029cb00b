//! Products that the compiler removed because nothing reads their results: a benchmark that counts them does not
//! measure them.

use serde::{Deserialize, Serialize};

/// The number of matrix products and convolutions of a program as written, and after the passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedProducts {
    /// Number of products in the model as written.
    pub asked: u64,
    /// Number of products after the passes.
    pub computed: u64,
}

impl RemovedProducts {
    /// The products that were removed; `None` when all remain. Passes may also make products of other operations.
    pub const fn of(asked: u64, computed: u64) -> Option<Self> {
        if computed < asked { Some(Self { asked, computed }) } else { None }
    }

    /// What the compiler removed from a model and what to do, in two sentences.
    pub fn sentence(self, model: &str) -> String {
        let Self { asked, computed } = self;
        let gone = asked - computed;
        format!(
            "{model}: the compiler removed {gone} of {asked} products, because nothing reads their results or because they repeat \
             others; a call computes {computed}, so a rate that counts {asked} is too high. Feed each product to the next, or read \
             every result; compile --hlo writes the program before and after"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_removed_products_are_reported() {
        assert_eq!(RemovedProducts::of(3, 3), None);
        assert_eq!(RemovedProducts::of(3, 4), None);
        let said = RemovedProducts::of(1_000, 1).unwrap().sentence("matmult");
        assert!(
            said.starts_with("matmult: the compiler removed 999 of 1000 products") && said.contains("--hlo"),
            "{said}"
        );
    }
}
