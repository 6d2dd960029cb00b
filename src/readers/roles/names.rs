//! Roles by the names that JAX gives parameters.

use rustc_hash::FxHashMap;

use super::Naming;
use ns_program::Role;

/// Collections of variables that are trained.
const TRAINED: [&str; 3] = ["params", "parameters", "trainable_variables"];

/// Collections that belong to a model and are not trained.
const KEPT: [&str; 8] =
    ["batch_stats", "state", "stats", "buffers", "cache", "constants", "opt_state", "non_trainable_variables"];

/// Last parts of the names of weights.
const WEIGHTS: [&str; 7] = ["kernel", "weight", "bias", "scale", "embedding", "gamma", "beta"];

/// Parts of the state of an optimiser, which has a copy of the parameter tree: `opt_state[0].mu['params']['kernel']`.
const OPTIMISER: [&str; 6] = ["mu", "nu", "trace", "momentum", "velocity", "count"];

/// Role and dotted path of each parameter whose name is a path of a parameter tree.
pub(super) fn roles_of(naming: &[Naming]) -> Vec<Option<(Role, String)>> {
    let mut roles: Vec<Option<(Role, String)>> = naming.iter().map(role_of).collect();
    let words: Vec<Vec<String>> = naming.iter().map(words).collect();
    // An argument with several weights in it is the model, whatever else it holds.
    let mut weights: FxHashMap<&str, u32> = FxHashMap::default();
    for (words, role) in words.iter().zip(&roles) {
        let Some((root, path)) = words.split_first() else { continue };
        let is_weight = matches!(role, Some((Role::Weight, _)));
        let has_word = path.iter().any(|word| WEIGHTS.contains(&word.as_str()));
        *weights.entry(root).or_default() += if is_weight { 2 } else { u32::from(has_word) };
    }
    for (words, role) in words.iter().zip(&mut roles).filter(|(_, role)| role.is_none()) {
        let Some((root, path)) = words.split_first() else { continue };
        if path.is_empty() || weights.get(root.as_str()).is_none_or(|&count| count < 2) {
            continue;
        }
        let is_state = path.iter().any(|p| OPTIMISER.contains(&p.as_str()) || KEPT.contains(&p.as_str()));
        *role = Some((if is_state { Role::Buffer } else { Role::Weight }, path.join(".")));
    }
    roles
}

/// The words of a path: `p.layers[0].weight`, or `p_layers_0__weight.1` as XLA spells it.
fn words(naming: &Naming) -> Vec<String> {
    let labelled = pieces_of_label(&naming.label);
    if labelled.len() > 1 {
        return labelled;
    }
    without_number(&naming.name).split('_').filter(|p| !p.is_empty()).map(str::to_owned).collect()
}

fn role_of(naming: &Naming) -> Option<(Role, String)> {
    let labelled = pieces_of_label(&naming.label);
    let pieces = if labelled.len() > 1 { labelled } else { pieces_of_name(&naming.name) };
    if pieces.len() < 2 {
        return None;
    }
    let find = |set: &[&str]| pieces.iter().position(|p| set.contains(&p.as_str()));
    let path = |from: usize| pieces[from.min(pieces.len() - 1)..].join(".");
    if let Some(at) = find(&TRAINED) {
        let is_state = pieces[..at].iter().flat_map(|p| p.split('_')).any(|p| OPTIMISER.contains(&p));
        return Some((if is_state { Role::Buffer } else { Role::Weight }, path(at + 1)));
    }
    if let Some(at) = find(&KEPT) {
        return Some((Role::Buffer, path(at + 1)));
    }
    let last = pieces.last()?;
    // XLA cuts a name at a slash: of `params['lstm/linear']['w']` remains `linear____w__`.
    let stem = without_number(&naming.name);
    let is_cut = naming.label.is_empty() && stem.find("__").is_some_and(|at| stem[at..].starts_with("____"));
    (is_cut || WEIGHTS.contains(&last.as_str())).then(|| (Role::Weight, path(1)))
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

/// `variables__params____layer1____bias__.1`, `s_0___params____bias__.1`.
fn pieces_of_name(name: &str) -> Vec<String> {
    let pieces = without_number(name).split("__").map(|p| p.trim_matches('_'));
    pieces.filter(|p| !p.is_empty()).map(str::to_owned).collect()
}

/// A name without the number that XLA appends.
fn without_number(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, number)) if number.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => name,
    }
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

    #[test]
    fn the_rest_of_an_argument_with_weights_belongs_to_the_model() {
        let roles = |names: &[&str]| -> Vec<Option<Role>> {
            let naming = |name: &&str| Naming { name: (*name).to_owned(), ..Naming::default() };
            roles_of(&names.iter().map(naming).collect::<Vec<_>>()).into_iter().map(|r| Some(r?.0)).collect()
        };
        let (weight, buffer) = (Some(Role::Weight), Some(Role::Buffer));
        // Equinox: attributes. A parameter whose last word does not say "weight" is one if its neighbours are.
        let equinox = roles(&["p_c_weight_ih.1", "p_c_bias.1", "p_a_layers_0__kappa.1", "x.1"]);
        assert_eq!(equinox, [weight.clone(), weight.clone(), weight.clone(), None]);
        // A step of training: the optimiser's copies are no parameters of the model.
        let step =
            ["s_0___params____a____kernel__.1", "s_1__0__mu__params____a____kernel__.1", "s_1__0__count.1", "x.1"];
        assert_eq!(roles(&step), [weight.clone(), buffer.clone(), buffer, None]);
        // Haiku: names of modules with slashes.
        assert_eq!(roles(&["linear____w__.1", "params__linear____w__.1", "x.1"]), [weight.clone(), weight, None]);
        assert_eq!(roles(&["input_ids.1", "input_mask.1", "batch__image__.1"]), [None, None, None]);
    }
}
