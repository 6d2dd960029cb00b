//! Resolves the paths of the sources: `self`, `super`, renames, nested groups, macros and re-exports.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::source::SourceFile;

/// A path as a list of its names. A resolved path begins with `crate` or with the name of another crate.
pub type Names = Vec<String>;

/// How a path is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In code, in a type, in a macro's tokens, in an attribute.
    Named,
    /// By a `use` that is private to the module.
    Import,
    /// By a `use` that modules above see, and not the whole crate.
    ShownAbove,
    /// By a `use` that is `pub` or `pub(crate)`.
    ReExport,
    /// As the name of a macro that is called.
    Macro,
}

/// A path that a file names.
#[derive(Clone, Debug)]
pub struct Found {
    /// Line in the file, from 1.
    pub line: usize,
    /// What it names, before re-exports of other modules are followed.
    pub direct: Names,
    /// What it names after all re-exports.
    pub names: Names,
    /// How it is named.
    pub kind: Kind,
    /// Whether it names everything in the module (`*`).
    pub is_glob: bool,
    /// Whether only tests name it.
    pub in_test: bool,
}

/// The imports and declarations of the modules of all files.
#[derive(Debug, Default)]
pub struct Scopes {
    /// For each module, the names that its `use` items define, with the written path.
    imports: BTreeMap<Names, BTreeMap<String, Names>>,
    /// For each module, the paths that it imports with `*`.
    globs: BTreeMap<Names, Vec<Names>>,
    /// Modules that are declared somewhere.
    modules: BTreeSet<Names>,
    /// Modules that exist only in tests.
    test_modules: BTreeSet<Names>,
    /// Macros with `#[macro_export]`, which are names of the crate's root, and their rooms.
    pub exported_macros: BTreeMap<String, String>,
    /// Allowed re-exports across rooms, such as `session::Rounding`: they are not followed.
    pub shown: BTreeSet<String>,
}

impl Scopes {
    /// Reads the imports of all files.
    pub fn of(files: &[SourceFile], shown: BTreeSet<String>) -> Self {
        let mut scopes = Self { shown, ..Self::default() };
        for file in files {
            let mut reader = Reader::new(&scopes, file);
            reader.visit_file(&file.syntax);
            let Reader { imports, declared, test_modules, exported, .. } = reader;
            for (module, name, path) in imports {
                match name {
                    Some(name) => drop(scopes.imports.entry(module).or_default().insert(name, path)),
                    None => scopes.globs.entry(module).or_default().push(path),
                }
            }
            scopes.modules.extend(declared);
            scopes.test_modules.extend(test_modules);
            let room = file.module.first().cloned().unwrap_or_default();
            scopes.exported_macros.extend(exported.into_iter().map(|name| (name, room.clone())));
        }
        scopes
    }

    /// The paths of a file.
    pub fn paths_of(&self, file: &SourceFile) -> Vec<Found> {
        let mut reader = Reader::new(self, file);
        reader.in_test = self.test_modules.iter().any(|module| file.module.starts_with(module));
        reader.visit_file(&file.syntax);
        reader.found
    }

    /// What a path that is written in a module names, without following re-exports of other modules.
    fn absolute(&self, module: &[String], path: &[String], depth: u32) -> Names {
        let (Some(first), true) = (path.first(), depth < 16) else { return path.to_vec() };
        let rest = &path[1..];
        match first.as_str() {
            "crate" | "$crate" => joined(&["crate".to_owned()], rest),
            "self" if rest.first().is_some_and(|next| next == "super") => self.absolute(module, rest, depth + 1),
            "self" => joined(&joined(&["crate".to_owned()], module), rest),
            // More `super` than there are modules above: rules refuse the name.
            "super" if module.is_empty() => joined(&["crate".to_owned()], path),
            "super" if rest.first().is_some_and(|next| next == "super") => {
                self.absolute(&module[..module.len() - 1], rest, depth + 1)
            }
            "super" => joined(&joined(&["crate".to_owned()], &module[..module.len() - 1]), rest),
            name => match self.import_of(module, name, depth) {
                Some(known) if known.first() != Some(first) => self.absolute(module, &joined(&known, rest), depth + 1),
                _ if self.modules.contains(&joined(module, std::slice::from_ref(first))) => {
                    joined(&joined(&["crate".to_owned()], module), path)
                }
                _ => path.to_vec(),
            },
        }
    }

    /// The path behind a name that a module imports, by itself or with `*` from another module of the crate.
    fn import_of(&self, module: &[String], name: &str, depth: u32) -> Option<Names> {
        if let Some(path) = self.imports.get(module).and_then(|of| of.get(name)) {
            return Some(path.clone());
        }
        self.globs.get(module)?.iter().find_map(|glob| {
            let from = self.absolute(module, glob, depth + 1);
            let from = from.strip_prefix(&["crate".to_owned()][..])?;
            let path = self.imports.get(from)?.get(name)?;
            Some(self.absolute(from, path, depth + 1))
        })
    }

    /// What an absolute path names after all re-exports: each module of it may have the next name from elsewhere.
    fn followed(&self, path: Names) -> Names {
        let mut path = path;
        for _ in 0..16 {
            let Some(next) = self.step(&path) else { break };
            path = next;
        }
        path
    }

    fn step(&self, path: &[String]) -> Option<Names> {
        if path.first()? != "crate" {
            return None;
        }
        (1..path.len()).find_map(|at| {
            let (module, name) = (&path[1..at], &path[at]);
            let written = self.imports.get(module)?.get(name)?;
            let target = self.absolute(module, written, 0);
            let is_shown = self.shown.contains(&format!("{}::{name}", module.join("::")));
            (!is_shown && target != path[..=at]).then(|| joined(&target, &path[at + 1..]))
        })
    }
}

fn joined(a: &[String], b: &[String]) -> Names {
    a.iter().chain(b).cloned().collect()
}

/// Walks over the items of one file.
struct Reader<'a> {
    scopes: &'a Scopes,
    module: Names,
    in_test: bool,
    found: Vec<Found>,
    /// Module, defined name (none for `*`), path as it is written.
    imports: Vec<(Names, Option<String>, Names)>,
    declared: Vec<Names>,
    test_modules: Vec<Names>,
    exported: Vec<String>,
}

/// The kind of a `use` item, for each of its leaves.
#[derive(Clone, Copy)]
struct UseItem {
    kind: Kind,
    line: usize,
}

impl<'a> Reader<'a> {
    fn new(scopes: &'a Scopes, file: &SourceFile) -> Self {
        Self {
            scopes,
            module: file.module.clone(),
            in_test: false,
            found: Vec::new(),
            imports: Vec::new(),
            declared: vec![file.module.clone()],
            test_modules: Vec::new(),
            exported: Vec::new(),
        }
    }

    fn name(&mut self, line: usize, path: &[String], kind: Kind, is_glob: bool) {
        let direct = self.scopes.absolute(&self.module, path, 0);
        self.found_at(line, direct, kind, is_glob);
    }

    fn found_at(&mut self, line: usize, direct: Names, kind: Kind, is_glob: bool) {
        let names = self.scopes.followed(direct.clone());
        self.found.push(Found { line, direct, names, kind, is_glob, in_test: self.in_test });
    }

    /// The leaves of a `use` tree.
    fn leaves(&mut self, tree: &syn::UseTree, before: &[String], item: UseItem) {
        match tree {
            syn::UseTree::Path(path) => {
                let before = joined(before, &[path.ident.to_string()]);
                self.leaves(&path.tree, &before, item);
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.leaves(tree, before, item)),
            syn::UseTree::Name(name) => self.leaf(before, &name.ident.to_string(), None, item),
            syn::UseTree::Rename(rename) => {
                self.leaf(before, &rename.ident.to_string(), Some(rename.rename.to_string()), item);
            }
            syn::UseTree::Glob(_) => {
                self.imports.push((self.module.clone(), None, before.to_vec()));
                self.name(item.line, before, item.kind, true);
            }
        }
    }

    fn leaf(&mut self, before: &[String], ident: &str, rename: Option<String>, item: UseItem) {
        // `a::{self}` is `a`.
        let path =
            if ident == "self" && !before.is_empty() { before.to_vec() } else { joined(before, &[ident.to_owned()]) };
        let made = rename.or_else(|| path.last().cloned());
        if let Some(made) = made.filter(|name| name != "_") {
            self.imports.push((self.module.clone(), Some(made), path.clone()));
        }
        self.name(item.line, &path, item.kind, false);
    }

    /// The paths in tokens that were not parsed: bodies of macros and their arguments.
    fn tokens(&mut self, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < trees.len() {
            match &trees[at] {
                TokenTree::Group(group) => {
                    self.tokens(group.stream());
                    at += 1;
                }
                TokenTree::Ident(_) => at = self.token_path(&trees, at, &[]).max(at + 1),
                TokenTree::Literal(_) | TokenTree::Punct(_) => at += 1,
            }
        }
    }

    /// Reads `a::b::{c, d::*}` that begins at a token. Returns where it ends.
    fn token_path(&mut self, trees: &[TokenTree], start: usize, before: &[String]) -> usize {
        let (mut path, mut at) = (before.to_vec(), start);
        let line = trees[start].span().start().line;
        while let Some(TokenTree::Ident(ident)) = trees.get(at) {
            path.push(ident.to_string());
            at += 1;
            if is_call(trees, at) && path.len() == before.len() + 1 {
                self.found_at(line, path.clone(), Kind::Macro, false);
            }
            if !is_separator(trees, at) {
                break;
            }
            at += 2;
            match trees.get(at) {
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    self.token_group(group.stream(), &path);
                    return at + 1;
                }
                Some(TokenTree::Punct(star)) if star.as_char() == '*' => {
                    self.name(line, &path, Kind::Import, true);
                    return at + 1;
                }
                _ => {}
            }
        }
        if path.len() > 1 {
            self.name(line, &path, Kind::Named, false);
        }
        at
    }

    fn token_group(&mut self, tokens: TokenStream, before: &[String]) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < trees.len() {
            match &trees[at] {
                TokenTree::Ident(_) => at = self.token_path(&trees, at, before).max(at + 1),
                _ => at += 1,
            }
        }
    }

    fn within(&mut self, attributes: &[syn::Attribute], walk: impl FnOnce(&mut Self)) {
        let before = self.in_test;
        self.in_test = before || attributes.iter().any(is_test);
        walk(self);
        self.in_test = before;
    }
}

fn is_separator(trees: &[TokenTree], at: usize) -> bool {
    let is_colon = |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Punct(p)) if p.as_char() == ':');
    is_colon(trees.get(at)) && is_colon(trees.get(at + 1))
}

/// Whether a name is followed by `!` and the tokens of a macro.
fn is_call(trees: &[TokenTree], at: usize) -> bool {
    let is_mark = matches!(trees.get(at), Some(TokenTree::Punct(p)) if p.as_char() == '!');
    is_mark && matches!(trees.get(at + 1), Some(TokenTree::Group(_)))
}

/// `#[cfg(test)]` and `#[test]`.
fn is_test(attribute: &syn::Attribute) -> bool {
    let is_cfg = attribute.path().is_ident("cfg");
    let of_cfg = is_cfg && attribute.parse_args::<syn::Path>().is_ok_and(|p| p.is_ident("test"));
    of_cfg || attribute.path().is_ident("test")
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let kind = match &item.vis {
            syn::Visibility::Public(_) => Kind::ReExport,
            syn::Visibility::Restricted(to) if to.path.is_ident("crate") => Kind::ReExport,
            syn::Visibility::Restricted(_) => Kind::ShownAbove,
            syn::Visibility::Inherited => Kind::Import,
        };
        let line = item.span().start().line;
        // A leading `::` names another crate, which nothing here can shadow.
        self.within(&item.attrs, |reader| reader.leaves(&item.tree, &[], UseItem { kind, line }));
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let module = joined(&self.module, &[item.ident.to_string()]);
        self.declared.push(module.clone());
        if item.content.is_none() && item.attrs.iter().any(is_test) {
            self.test_modules.push(module.clone());
        }
        let outer = std::mem::replace(&mut self.module, module);
        self.within(&item.attrs, |reader| visit::visit_item_mod(reader, item));
        self.module = outer;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.within(&item.attrs, |reader| visit::visit_item_fn(reader, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.within(&item.attrs, |reader| visit::visit_impl_item_fn(reader, item));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.within(&item.attrs, |reader| visit::visit_item_impl(reader, item));
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        let is_exported = item.attrs.iter().any(|a| a.path().is_ident("macro_export"));
        self.exported.extend(item.ident.iter().filter(|_| is_exported).map(ToString::to_string));
        visit::visit_item_macro(self, item);
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        // `extern crate self as c` is the crate by another name.
        let name = item.ident.to_string();
        let path = if name == "self" { "crate".to_owned() } else { name };
        self.found_at(item.span().start().line, vec![path], Kind::Import, false);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if let Some(last) = mac.path.segments.last() {
            self.found_at(last.ident.span().start().line, vec![last.ident.to_string()], Kind::Macro, false);
        }
        self.tokens(mac.tokens.clone());
        visit::visit_macro(self, mac);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
            for tree in list.tokens.clone() {
                if let TokenTree::Literal(literal) = tree {
                    self.path_in_text(&literal);
                }
            }
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            let line = path.span().start().line;
            if path.leading_colon.is_some() {
                self.found_at(line, names, Kind::Named, false);
            } else {
                self.name(line, &names, Kind::Named, false);
            }
        }
        visit::visit_path(self, path);
    }
}

impl Reader<'_> {
    /// serde takes paths as texts: `#[serde(with = "crate::base::as_text")]`.
    fn path_in_text(&mut self, literal: &proc_macro2::Literal) {
        let text = literal.to_string();
        let Some(inner) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) else { return };
        if let Ok(path) = syn::parse_str::<syn::Path>(inner) {
            let names: Names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            if names.len() > 1 {
                self.name(literal.span().start().line, &names, Kind::Named, false);
            }
        }
    }
}
