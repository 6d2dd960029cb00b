//! Which module of a model a slice belongs to.

use super::{ArgsId, Profile, SliceId};
use crate::base::{FxHashMap, StrId};

/// Arguments that hold a path whose last part is the operation: ours, XLA's.
const PATH_KEYS: [&str; 3] = ["path", "tf_op", "op_name"];
/// Arguments that hold the path of the module itself: Kineto's.
const MODULE_KEYS: [&str; 2] = ["Module Hierarchy", "module"];
/// How PyTorch's profiler names the call of a module.
const TORCH_MODULE: &str = "nn.Module: ";

/// Finds modules, each distinct argument text once.
pub struct Scopes<'a> {
    profile: &'a Profile,
    of_args: FxHashMap<ArgsId, Option<String>>,
    is_torch: FxHashMap<StrId, bool>,
}

impl<'a> Scopes<'a> {
    /// For one profile.
    #[must_use]
    pub fn new(profile: &'a Profile) -> Self {
        Self { profile, of_args: FxHashMap::default(), is_torch: FxHashMap::default() }
    }

    /// The module path of a slice, outermost first and `/` between; nothing when the profile does not say.
    #[must_use]
    pub fn of(&mut self, id: SliceId) -> Option<String> {
        let args = self.profile.slices().args(id);
        if !args.is_none() {
            let profile = self.profile;
            let known = self.of_args.entry(args).or_insert_with(|| from_args(profile.args().get(args)));
            if let Some(path) = known {
                return Some(path.clone());
            }
        }
        self.torch_modules(id)
    }

    /// The modules that were being called, from the slices around this one.
    fn torch_modules(&mut self, id: SliceId) -> Option<String> {
        let (profile, slices) = (self.profile, self.profile.slices());
        let mut modules = Vec::new();
        let mut at = Some(id);
        while let Some(slice) = at {
            let name = slices.name(slice);
            let is_module = *self.is_torch.entry(name).or_insert_with(|| profile.str(name).starts_with(TORCH_MODULE));
            if is_module {
                modules.push(&profile.str(name)[TORCH_MODULE.len()..]);
            }
            at = slices.stack_parent(slice);
        }
        modules.reverse();
        (!modules.is_empty()).then(|| modules.join("/"))
    }
}

fn from_args(json: &str) -> Option<String> {
    if !PATH_KEYS.iter().chain(&MODULE_KEYS).any(|key| json.contains(key)) {
        return None;
    }
    let args: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json).ok()?;
    let text = |key: &&str| args.get(*key).and_then(|v| v.as_str()).filter(|t| !t.is_empty());
    if let Some(module) = MODULE_KEYS.iter().find_map(text) {
        return Some(module.to_owned());
    }
    let path = PATH_KEYS.iter().find_map(text)?;
    // XLA writes the type of the operation behind a colon.
    let path = path.split(':').next().unwrap_or(path);
    path.rsplit_once('/').map(|(module, _)| module.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::ProfileBuilder;

    #[test]
    fn modules_come_from_arguments_or_from_the_calls_around() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let t = b.thread(p, "1", "");
        b.slice(t, 0, 100, "nn.Module: Net_0", "", None);
        b.slice(t, 10, 50, "nn.Module: Linear_1", "", None);
        b.slice(t, 20, 10, "aten::linear", "", None);
        b.slice(t, 200, 10, "dot", "", Some(r#"{"path":"NN[model]/Linear[layer1]/aten__addmm_dot"}"#));
        b.slice(t, 220, 10, "fusion", "", Some(r#"{"tf_op":"jit(f)/dense/dot_general:MatMul"}"#));
        b.slice(t, 240, 10, "plain", "", Some(r#"{"path":"alone"}"#));
        let profile = b.finish(Diagnostics::new());
        let mut scopes = Scopes::new(&profile);
        let found: Vec<_> = profile.slices().ids().map(|id| scopes.of(id)).collect();
        let expected = [
            Some("Net_0"),
            Some("Net_0/Linear_1"),
            Some("Net_0/Linear_1"),
            Some("NN[model]/Linear[layer1]"),
            Some("jit(f)/dense"),
            None,
        ];
        assert_eq!(found, expected.map(|e| e.map(str::to_owned)));
    }
}
