//! Roles by the names that JAX gives parameters.

use super::Naming;
use crate::import::program::Role;

/// Collections of variables that are trained.
const TRAINED: [&str; 3] = ["params", "parameters", "trainable_variables"];

/// Collections that belong to a model and are not trained.
const KEPT: [&str; 8] =
    ["batch_stats", "state", "stats", "buffers", "cache", "constants", "opt_state", "non_trainable_variables"];

/// Last parts of the names of weights.
const WEIGHTS: [&str; 7] = ["kernel", "weight", "bias", "scale", "embedding", "gamma", "beta"];

/// Role and dotted path of a parameter whose name is a path of a parameter tree.
pub(super) fn role_of(naming: &Naming) -> Option<(Role, String)> {
    let labelled = pieces_of_label(&naming.label);
    let pieces = if labelled.len() > 1 { labelled } else { pieces_of_name(&naming.name) };
    if pieces.len() < 2 {
        return None;
    }
    let find = |set: &[&str]| pieces.iter().position(|p| set.contains(&p.as_str()));
    let path = |from: usize| pieces[from.min(pieces.len() - 1)..].join(".");
    if let Some(at) = find(&TRAINED) {
        return Some((Role::Weight, path(at + 1)));
    }
    if let Some(at) = find(&KEPT) {
        return Some((Role::Buffer, path(at + 1)));
    }
    let last = pieces.last()?;
    WEIGHTS.contains(&last.as_str()).then(|| (Role::Weight, path(1)))
}

/// `variables['params']['layer1']['bias']`, `params['a'].b[0]`.
fn pieces_of_label(label: &str) -> Vec<String> {
    // A slash is part of a path of modules, unless it stands in a name: `['WeightNorm_0']['Dense_0/kernel/scale']`.
    let outside: String = label.split(['\'', '"']).step_by(2).collect();
    if !outside.contains('[') && !outside.contains('.') || outside.contains('/') {
        return Vec::new();
    }
    let pieces = label.split(['[', ']', '.', '\'', '"']).filter(|p| !p.is_empty());
    pieces.map(str::to_owned).collect()
}

/// `variables__params____layer1____bias__.1`.
fn pieces_of_name(name: &str) -> Vec<String> {
    let stem = match name.rsplit_once('.') {
        Some((stem, number)) if number.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => name,
    };
    stem.split("__").filter(|p| !p.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(name: &str, label: &str) -> Option<(Role, String)> {
        role_of(&Naming { name: name.to_owned(), label: label.to_owned(), is_open: false })
    }

    #[test]
    fn paths_of_parameter_trees() {
        let weight = |path: &str| Some((Role::Weight, path.to_owned()));
        assert_eq!(role("variables__params____layer_1____kernel__.1", ""), weight("layer_1.kernel"));
        assert_eq!(role("Arg_0.1", "variables['params']['layer1']['bias']"), weight("layer1.bias"));
        assert_eq!(role("params__linear____w__.3", ""), weight("linear.w"));
        assert_eq!(role("x.1", "model.layers[0].weight"), weight("layers.0.weight"));
        assert_eq!(role("a.1", "v['params']['Norm_0']['Dense_0/kernel/scale']"), weight("Norm_0.Dense_0/kernel/scale"));
        assert_eq!(role("a.1", "v['batch_stats']['n']['mean']"), Some((Role::Buffer, "n.mean".to_owned())));
        assert_eq!(
            (role("xs_0_.1", "xs[0]"), role("p0.1", ""), role("p0.1", "NN[model]/Linear[a]/xla__device_data")),
            (None, None, None)
        );
    }
}
