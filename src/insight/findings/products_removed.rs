//! Matrix products that the compiler removed before the program ran.

use super::context::Context;
use super::{Effect, Finding, Rule};
use crate::spans::length_ns;

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let Some((asked, computed)) = c.run.products.filter(|(asked, computed)| computed < asked) else {
        return Vec::new();
    };
    let gone = asked - computed;
    let title = format!(
        "The compiler removed {gone} of the model\u{2019}s {asked} matrix products: a call computes {computed}."
    );
    let detail = "Nothing reads the results of the others, or they repeat others, so they are not in this timeline; a rate that \
        counts them is too high. Feed each product to the next, or read every result. compile --hlo writes the program before and \
        after the passes.";
    // The whole execution does other work than was asked for.
    let window_ns = length_ns(&[c.run.window]);
    let finding = Finding::new(Rule::ProductsRemoved, Effect::Cost, window_ns, title, detail)
        .count("products_asked", asked)
        .count("products_computed", computed);
    vec![finding]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::only;
    use crate::testing::TestRun;

    #[test]
    fn it_speaks_when_products_are_gone_and_is_silent_otherwise() {
        let t = TestRun::new(0, 100);
        for (products, said) in [(None, 0), (Some((2, 2)), 0), (Some((2, 3)), 0), (Some((1_000, 1)), 1)] {
            let mut run = t.run();
            run.window = run.total;
            run.products = products;
            let found = only(find, &run);
            assert_eq!(found.len(), said, "{products:?}");
            assert!(found.iter().all(|f| f.title.contains("removed 999 of the model") && f.time_ns == 100));
        }
    }
}
