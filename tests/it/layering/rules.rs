//! The breaches of the table in the sources, a line for each.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{Found, Kind, Names, Scopes};
use super::source::SourceFile;
use super::table::{SHELL_MACROS, SHELL_ONLY, SHELLS, SHOWN, is_room, may_use};

/// A file with the paths that it names.
pub struct FileNames {
    /// Its path below `src/`.
    pub path: String,
    /// The module it is.
    pub module: Names,
    /// Its lines.
    pub lines: usize,
    /// The paths it names.
    pub found: Vec<Found>,
    /// Whether it puts a module into a file of another name (`#[path]`).
    hides_modules: bool,
}

/// The files of a library with the paths that they name.
pub struct House {
    files: Vec<FileNames>,
    exported_macros: BTreeMap<String, String>,
}

impl House {
    /// Resolves the paths of parsed files.
    pub fn of(files: &[SourceFile]) -> Self {
        let shown = SHOWN.iter().map(|(name, _)| (*name).to_owned()).collect();
        let scopes = Scopes::of(files, shown);
        let names_of = |file: &SourceFile| FileNames {
            path: file.path.clone(),
            module: file.module.clone(),
            lines: file.lines,
            found: scopes.paths_of(file),
            hides_modules: hides_modules(&file.syntax),
        };
        Self { files: files.iter().map(names_of).collect(), exported_macros: scopes.exported_macros }
    }

    /// Its files.
    pub fn files(&self) -> &[FileNames] {
        &self.files
    }

    /// The room behind a path of the crate.
    pub fn room_of<'a>(&'a self, names: &'a Names) -> Option<&'a str> {
        let name = names.get(1).filter(|_| names[0] == "crate")?;
        Some(self.exported_macros.get(name).map_or(name, String::as_str))
    }

    /// The lines that break a rule, in the order of files and lines.
    pub fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for file in &self.files {
            let Some(room) = file.module.first() else {
                broken.extend(self.broken_in_root(file));
                continue;
            };
            if !is_room(room) {
                broken.push(format!("{}: '{room}' is not a room; add it to ROOMS and to ARCHITECTURE.md", file.path));
                continue;
            }
            let mut lines: BTreeSet<(usize, String)> = BTreeSet::new();
            for found in &file.found {
                let says =
                    self.layer(room, found).or_else(|| re_export(self, file, found)).or_else(|| shell(room, found));
                lines.extend(says.map(|says| (found.line, says)));
            }
            broken.extend(lines.into_iter().map(|(line, says)| format!("{}:{line}: {says}", file.path)));
            if file.hides_modules {
                broken.push(format!("{}: #[path] and include! hide which module a file is", file.path));
            }
        }
        broken
    }

    /// The root declares rooms and exports nothing else: `pub use neuron::Simulator` would be a way around the table.
    fn broken_in_root(&self, file: &FileNames) -> Vec<String> {
        let imports =
            file.found.iter().filter(|found| matches!(found.kind, Kind::Import | Kind::ShownAbove | Kind::ReExport));
        imports.map(|found| format!("{}:{}: the root of the crate has only `pub mod`", file.path, found.line)).collect()
    }

    fn layer(&self, room: &str, found: &Found) -> Option<String> {
        let is_import = matches!(found.kind, Kind::Import | Kind::ShownAbove | Kind::ReExport);
        if is_import && found.direct == ["crate"] {
            return Some("imports the whole crate: import a room's items by their paths".to_owned());
        }
        let rooms = [&found.direct, &found.names].map(|names| self.room_of(names));
        rooms.into_iter().flatten().find_map(|named| {
            if !is_room(named) {
                return Some(format!("uses crate::{named}, which is not a room"));
            }
            let text = found.names.join("::");
            (!may_use(room, named)).then(|| format!("uses {text}, and {room} may not use {named}"))
        })
    }
}

/// Names that a room re-exports from another room, outside the list.
fn re_export(house: &House, file: &FileNames, found: &Found) -> Option<String> {
    let named = house.room_of(&found.direct)?;
    if found.kind != Kind::ReExport || file.module.first().is_some_and(|room| room == named) {
        return None;
    }
    let made = format!("{}::{}", file.module.join("::"), found.direct.last()?);
    let is_listed = !found.is_glob && SHOWN.iter().any(|(name, _)| *name == made);
    let path = found.direct.join("::");
    (!is_listed).then(|| format!("shows {path} of another room: import it there, or list it in SHOWN with the reason"))
}

/// Names that only shells may use.
fn shell(room: &str, found: &Found) -> Option<String> {
    if SHELLS.contains(&room) || found.in_test {
        return None;
    }
    let last = found.names.last()?;
    if found.kind == Kind::Macro {
        return SHELL_MACROS.contains(&last.as_str()).then(|| format!("calls {last}!, which only shells may"));
    }
    let mut names = found.names.clone();
    if matches!(names[0].as_str(), "core" | "alloc") {
        "std".clone_into(&mut names[0]);
    }
    let forbidden = SHELL_ONLY.iter().find(|forbidden| {
        let forbidden: Vec<&str> = forbidden.split("::").collect();
        let is_below = names.len() >= forbidden.len() && names.iter().zip(&forbidden).all(|(a, b)| a == b);
        // `use std::*` imports forbidden names without naming them.
        let is_around =
            found.is_glob && names.len() < forbidden.len() && names.iter().zip(&forbidden).all(|(a, b)| a == b);
        is_below || is_around
    })?;
    Some(format!("names {}, which only shells may ({forbidden})", names.join("::")))
}

/// Whether modules of a file are in files of another name: the rules identify a module by its file.
fn hides_modules(syntax: &syn::File) -> bool {
    syntax.items.iter().any(|item| match item {
        syn::Item::Mod(module) => module.attrs.iter().any(|a| a.path().is_ident("path")),
        syn::Item::Macro(item) => item.mac.path.is_ident("include"),
        _ => false,
    })
}
