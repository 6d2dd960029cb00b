//! The module each slice belongs to: `NN[model]/Linear[layer1]`, `DistilBert/Transformer/Linear`, `jit(main)/jit(relu)`.
//!
//! The slice itself names its module, by the first of these rules that applies:
//!
//! 1. its argument `path` (the simulator's, the Neuron plugin's), `tf_op` or `op_name` (XLA, JAX): a path whose last
//!    part is the operation; on a row of modules (category `module`) the whole path is the module;
//! 2. its argument `Module Hierarchy` (PyTorch) or `module`: the whole text is the module;
//! 3. it *is* a call of a module: its name is `nn.Module: Linear_0` (PyTorch with stacks), which makes a level below
//!    the module of the slice that contains it.
//!
//! A fused operation belongs to the modules of its members ([`ns_profile::fused`]); its own module is its root's.
//!
//! Any other slice belongs to the module of the innermost slice that contains it, or to no module.

use memchr::memmem::Finder;

use ns_base::{FxHashMap, Idx, StrId, StringTable};
use ns_profile::fused::FusedMember;
use ns_profile::{ArgsId, Profile, SliceFlags, SliceId};

/// PyTorch's prefix before the class of a module in the name of its call.
const MODULE_CALL: &str = "nn.Module: ";
/// Category of the slices that are modules themselves.
const MODULE_ROW: &str = "module";

/// The module of each slice.
#[derive(Debug)]
pub struct Scopes {
    of_slice: Vec<StrId>,
    /// The module of the path of each member of a fused operation; ids of the texts of the profile.
    of_member: FxHashMap<StrId, StrId>,
    names: StringTable,
}

impl Scopes {
    /// Finds the module of each slice of a profile. Parts of a path are joined by `/`.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let slices = profile.slices();
        let mut names = StringTable::new();
        let mut of_slice = Vec::with_capacity(slices.len());
        let (keys, module_row) = (PathKeys::new(), profile.strings().lookup(MODULE_ROW));
        let calls = module_calls(profile);
        let mut known: Option<(ArgsId, bool, StrId)> = None;
        for id in slices.ids() {
            let is_module = module_row == Some(slices.category(id));
            let args = slices.args(id);
            let said = match known {
                _ if args.is_none() => StrId::EMPTY,
                Some((last, was_module, scope)) if last == args && was_module == is_module => scope,
                _ => {
                    let scope = keys.scope_in(profile.args().get(args), is_module);
                    let scope = names.intern(&scope);
                    known = Some((args, is_module, scope));
                    scope
                }
            };
            let scope = if said != StrId::EMPTY {
                said
            } else {
                let outer = if slices.flags(id).has(SliceFlags::UNCLOSED) { None } else { slices.enclosing(id) };
                let outer = outer.map_or(StrId::EMPTY, |parent| of_slice[parent.index()]);
                match calls.get(slices.name(id).index()).copied().flatten() {
                    Some(module) if outer == StrId::EMPTY => names.intern(module),
                    Some(module) => {
                        let path = format!("{}/{module}", names.get(outer));
                        names.intern(&path)
                    }
                    None => outer,
                }
            };
            of_slice.push(scope);
        }
        let mut of_member = FxHashMap::default();
        for (_, members) in profile.fusions().iter() {
            for member in members {
                of_member.entry(member.path).or_insert_with(|| names.intern(profile.str(member.scope)));
            }
        }
        Self { of_slice, of_member, names }
    }

    /// The module of a member of a fused operation.
    pub fn scope_of_member(&self, member: &FusedMember) -> StrId {
        self.of_member.get(&member.path).copied().unwrap_or(StrId::EMPTY)
    }

    /// The module of a slice; the empty text if it is in none.
    pub fn scope_of(&self, id: SliceId) -> StrId {
        self.of_slice.get(id.index()).copied().unwrap_or(StrId::EMPTY)
    }

    /// The paths of the modules.
    pub fn names(&self) -> &StringTable {
        &self.names
    }

    /// Whether none of the slices belongs to a module.
    pub fn is_empty(&self) -> bool {
        self.names.len() <= 1
    }
}

/// For each text of a profile, the module whose call it describes.
fn module_calls(profile: &Profile) -> Vec<Option<&str>> {
    let strings = profile.strings();
    (0..strings.len()).map(|i| strings.get(StrId::from_usize(i)).strip_prefix(MODULE_CALL)).collect()
}

/// Arguments that hold a path.
struct PathKeys {
    operation: [Finder<'static>; 3],
    module: [Finder<'static>; 2],
}

impl PathKeys {
    fn new() -> Self {
        Self {
            operation: [Finder::new("\"path\""), Finder::new("\"tf_op\""), Finder::new("\"op_name\"")],
            module: [Finder::new("\"Module Hierarchy\""), Finder::new("\"module\"")],
        }
    }

    /// The module that arguments name; empty when they name none.
    fn scope_in(&self, json: &str, is_module: bool) -> String {
        if let Some(path) = self.operation.iter().find_map(|key| value_after(json, key)) {
            // XLA adds the kind of operation: `jit(f)/dot_general:DotGeneral`.
            let path = path
                .rsplit_once(':')
                .map_or(path.as_str(), |(before, after)| if after.contains('/') { path.as_str() } else { before });
            return if is_module { path.to_owned() } else { path.rsplit_once('/').map_or("", |(s, _)| s).to_owned() };
        }
        self.module.iter().find_map(|key| value_after(json, key)).unwrap_or_default()
    }
}

/// The text after a quoted key; `None` if the key is absent or its value is not text.
fn value_after(json: &str, key: &Finder<'_>) -> Option<String> {
    let at = key.find(json.as_bytes())? + key.needle().len();
    let value = json.get(at..)?.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let end = memchr::memchr2(b'"', b'\\', value.as_bytes())?;
    if value.as_bytes()[end] == b'"' {
        return value.get(..end).map(str::to_owned);
    }
    let mut quoted = serde_json::Deserializer::from_str(json.get(at..)?.trim_start().strip_prefix(':')?).into_iter();
    quoted.next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;

    #[test]
    fn a_slice_says_its_module_or_inherits_it() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let (t, u, v) = (b.thread(p, "1", ""), b.thread(p, "2", ""), b.thread(p, "3", ""));
        b.slice(t, 0, 90, "aten__addmm", "dot", Some(r#"{"hlo":"dot","path" : "NN[model]/Linear[l1]/aten__addmm"}"#));
        b.slice(t, 100, 9, "Linear[l1]", "module", Some(r#"{"path":"NN[model]/Linear[l1]"}"#));
        b.slice(u, 0, 100, "nn.Module: Bert_0", "python_function", None);
        b.slice(u, 10, 50, "forward", "python_function", None);
        b.slice(u, 20, 30, "nn.Module: Linear_1", "python_function", None);
        b.slice(u, 25, 5, "aten::addmm", "cpu_op", Some(r#"{"External id":5}"#));
        b.slice(u, 200, 5, "outside", "cpu_op", None);
        b.slice(v, 0, 5, "fusion", "", Some(r#"{"tf_op":"jit(f)/jit(\u0067)/dot:Dot"}"#));
        b.slice(v, 9, 5, "aten::mm", "", Some(r#"{"Module Hierarchy":"top.layer"}"#));
        b.slice(v, 19, 5, "odd", "", Some(r#"{"path":7}"#));
        let profile = b.finish(Diagnostics::new());
        let scopes = Scopes::of(&profile);
        let found: Vec<_> = profile.slices().ids().map(|id| scopes.names().get(scopes.scope_of(id))).collect();
        assert_eq!(
            found,
            [
                "NN[model]/Linear[l1]",
                "NN[model]/Linear[l1]",
                "Bert_0",
                "Bert_0",
                "Bert_0/Linear_1",
                "Bert_0/Linear_1",
                "",
                "jit(f)/jit(g)",
                "top.layer",
                ""
            ]
        );
        assert!(!scopes.is_empty() && Scopes::of(&Profile::default()).is_empty());
    }
}
