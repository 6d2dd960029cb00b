//! Decides which parameters of a program are inputs, weights or buffers.
//!
//! HLO and StableHLO do not say it. Two rules decide, in this order:
//!
//! 1. *By name* ([`names`]), when any parameter has a path of a JAX parameter tree: collections called `params` are weights,
//!    `batch_stats`, `cache`, the state of an optimiser and others are buffers, and the rest of an argument with weights in it belongs to
//!    the model. A parameter without such a path is an input.
//! 2. *By use* ([`uses`]) otherwise. A single number is a buffer. A floating point array is an input if it is the data side of a product,
//!    a convolution or a normalisation before any other value is mixed in. A running mean or variance is a buffer, and so is a table
//!    that is cut to length and only multiplied (a rotary table). All other floating point arrays are weights. An integer array is a
//!    buffer if it is cut to length before it indexes (position numbers), or if it indexes a computed value; all others are inputs.
//!    An array that is indexed at fixed places is rearranged, and is not a table. In a program without weights, every array is an input.
//!    An array with an open size is an input, however it is used.

mod names;
mod uses;

use ns_program::{Program, Role};
use uses::Evidence;

/// The information about a parameter's name.
#[derive(Clone, Debug, Default)]
pub(super) struct Naming {
    /// Its name in the file.
    pub name: String,
    /// The name in its metadata or location: `variables['params']['layer1']['bias']`.
    pub label: String,
    /// Whether one of its sizes is open.
    pub is_open: bool,
}

/// The rule that decided the roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Rule 1.
    Names,
    /// Rule 2.
    Uses,
}

/// Gives every parameter its role and its name.
pub(super) fn assign(program: &mut Program, naming: &[Naming]) -> Rule {
    let by_name = names::roles_of(naming);
    if by_name.iter().flatten().next().is_some() {
        for (parameter, found) in program.parameters.iter_mut().zip(by_name) {
            match found {
                Some((role, path)) => (parameter.role, parameter.name) = (role, path),
                None => parameter.role = Role::Input,
            }
        }
        return Rule::Names;
    }
    let evidence = uses::evidence(program);
    // In a function without weights, all its arrays are data.
    let has_weights =
        program.parameters.iter().zip(&evidence).any(|(p, e)| p.ty.element.is_float() && e.is_of_weight());
    let has_data = evidence.iter().any(|seen| seen.data > 0);
    let mut roles: Vec<Role> = Vec::new();
    for (parameter, seen) in program.parameters.iter().zip(&evidence) {
        let (is_integer, is_float) = (parameter.ty.element.is_integer(), parameter.ty.element.is_float());
        // The index map of window attention: for each pair of positions, a row of a table.
        let is_map = has_data && is_integer && seen.dense_index > 0 && seen.dense_index == seen.index;
        // Position numbers have one row. An array with a row for each sample is data, even if its columns are cut.
        let is_of_samples = is_integer && parameter.ty.dims.len() > 1 && parameter.ty.dims[0] > 1;
        let by_use = match role_of_use(is_integer, is_float, parameter.ty.dims.is_empty(), seen) {
            Role::Buffer if is_of_samples && seen.cut_index > 0 => Role::Input,
            other => other,
        };
        roles.push(if is_map { Role::Buffer } else { by_use });
    }
    if !has_weights && roles.contains(&Role::Input) {
        let arrays =
            program.parameters.iter().zip(&mut roles).filter(|(p, _)| p.ty.element.is_float() && !p.ty.dims.is_empty());
        arrays.for_each(|(_, role)| *role = Role::Input);
    }
    for (role, _) in roles.iter_mut().zip(naming).filter(|(_, naming)| naming.is_open) {
        *role = Role::Input;
    }
    if !roles.contains(&Role::Input) {
        // The one that is added whole while others are broadcast over it, as in a norm in front of the first product; else the first.
        let most = evidence.iter().filter(|seen| seen.maybe_data > 0).map(|seen| seen.whole).max();
        let fallback = evidence.iter().position(|seen| seen.maybe_data > 0 && Some(seen.whole) == most);
        let last = roles.len().checked_sub(1);
        if let Some(i) = fallback.or_else(|| evidence.iter().position(|seen| seen.cut_index > 0)).or(last) {
            roles[i] = Role::Input;
        }
    }
    for (parameter, role) in program.parameters.iter_mut().zip(roles) {
        parameter.role = role;
    }
    Rule::Uses
}

fn role_of_use(is_integer: bool, is_float: bool, is_one: bool, seen: &Evidence) -> Role {
    if is_one {
        return Role::Buffer;
    }
    if !is_float {
        let is_buffer = seen.index == 0 && (seen.cut_index > 0 || seen.active_index > 0) && is_integer;
        return if is_buffer { Role::Buffer } else { Role::Input };
    }
    if seen.data > 0 {
        return Role::Input;
    }
    let is_table_of_factors = seen.cut_factor > 0 && seen.weight + seen.table + seen.other == 0;
    if seen.statistic > 0 || is_table_of_factors { Role::Buffer } else { Role::Weight }
}

/// Number of elements of weights; also whether an embedding table and an output projection of one shape were taken for one tied weight.
///
/// torch_xla passes a tied weight twice. A file with module names tells the two apart. Without names they count once if the projection is
/// the last product and there is another table, for positions: most models with rotary positions have two weights.
pub(super) fn parameter_elements(program: &Program, rule: Rule, has_modules: bool) -> (u64, bool) {
    let elements = |ty: &ns_program::ArrayType| ty.elements().unwrap_or(u64::MAX);
    let weights = program.parameters.iter().enumerate().filter(|(_, p)| p.role == Role::Weight);
    let total = weights.clone().fold(0u64, |n, (_, p)| n.saturating_add(elements(&p.ty)));
    if rule == Rule::Names || has_modules {
        return (total, false);
    }
    let evidence = uses::evidence(program);
    let is_table = |i: usize| evidence[i].table > 0 && evidence[i].weight == 0 && evidence[i].positions == 0;
    let has_positions =
        |i: usize| weights.clone().any(|(j, _)| j != i && (evidence[j].positions > 0 || evidence[j].table > 0));
    let is_projection = |i: usize| evidence[i].table == 0 && evidence[i].weight > 0;
    let mut tied = 0u64;
    for (i, table) in weights.clone().filter(|(i, p)| p.ty.dims.len() == 2 && is_table(*i)) {
        let twin = weights.clone().any(|(j, p)| j != i && p.ty == table.ty && is_projection(j) && evidence[j].is_last);
        if twin && has_positions(i) && table.ty.dims[0] > table.ty.dims[1] {
            tied = tied.saturating_add(elements(&table.ty));
        }
    }
    (total.saturating_sub(tied), tied > 0)
}
