//! The rules, applied to `src/`, ARCHITECTURE.md and Cargo.toml.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use super::paths::{Found, Kind};
use super::rules::House;
use super::source::library;
use super::table::{ROOMS, SHELL_ONLY, SHOWN, Sees, is_room, seen_by};

/// The library under test, read once.
pub fn this_house() -> &'static House {
    static HOUSE: OnceLock<House> = OnceLock::new();
    HOUSE.get_or_init(|| House::of(&library()))
}

fn text_of(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

#[test]
fn rooms_use_only_rooms_below_them() {
    let house = this_house();
    let named = house.files().iter().map(|file| file.found.len()).sum::<usize>();
    assert!(named > 10_000, "only {named} paths were found: the reader of this test is broken");
    let broken = house.broken();
    assert!(broken.is_empty(), "the layer rule is broken:\n{}", broken.join("\n"));
}

#[test]
fn every_exception_is_used() {
    let house = this_house();
    let shows = |name: &str| {
        let (module, item) = name.rsplit_once("::").unwrap();
        let is_it =
            |found: &Found| found.kind == Kind::ReExport && found.direct.last().is_some_and(|last| last == item);
        let mut of_module = house.files().iter().filter(|file| file.module.join("::") == module);
        of_module.any(|file| file.found.iter().any(is_it))
    };
    let unused: Vec<_> = SHOWN.iter().filter(|(name, _)| !shows(name)).collect();
    assert!(unused.is_empty(), "SHOWN lists what nobody shows: {unused:?}");
}

/// A row `| `room` | holds | may use |` of ARCHITECTURE.md: the room, and the rooms that the last column lists.
fn row_of(line: &str, above: &[String]) -> Option<(String, Vec<String>)> {
    let mut columns = line.strip_prefix("| `")?.strip_suffix(" |")?.splitn(2, "` | ");
    let (room, rest) = (columns.next()?, columns.next()?);
    let uses = rest.rsplit(" | ").next()?;
    let listed = |text: &str| -> Vec<String> {
        text.replace(" and ", ", ").split(", ").map(str::trim).filter(|t| *t != "-").map(str::to_owned).collect()
    };
    let uses = match uses.strip_prefix("all above") {
        None => listed(uses),
        Some("") => above.to_vec(),
        Some(but) => {
            let but = listed(but.strip_prefix(" but ")?);
            above.iter().filter(|room| !but.contains(room)).cloned().collect()
        }
    };
    Some((room.to_owned(), uses))
}

#[test]
fn the_document_has_the_same_table() {
    let text = text_of("ARCHITECTURE.md");
    let section = text.split("\n## ").find(|section| section.starts_with("Rooms")).unwrap();
    let (mut rooms, mut uses) = (Vec::new(), Vec::new());
    for line in section.lines() {
        if let Some((room, mut of_room)) = row_of(line, &rooms) {
            let place = |name: &String| ROOMS.iter().position(|(room, _)| room == name);
            of_room.sort_by_key(place);
            rooms.push(room);
            uses.push(of_room);
        }
    }
    let known: Vec<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    assert_eq!(rooms, known, "the rooms of ARCHITECTURE.md and of ROOMS, in order");
    for (room, listed) in rooms.iter().zip(&uses) {
        assert_eq!(*listed, seen_by(room), "what ARCHITECTURE.md says that {room} may use, and what ROOMS says");
    }
}

#[test]
fn a_room_uses_rooms_that_exist_and_none_uses_itself() {
    for (room, sees) in ROOMS {
        let (Sees::Only(rooms) | Sees::AllAboveBut(rooms)) = sees;
        assert!(rooms.iter().all(|name| is_room(name) && name != room), "{room}: {rooms:?}");
    }
}

#[test]
fn every_optional_dependency_is_a_shells() {
    let manifest = text_of("Cargo.toml");
    let mut table = "";
    let mut optional: Vec<String> = Vec::new();
    for line in manifest.lines() {
        if let Some(name) = line.strip_prefix('[') {
            table = name.trim_end_matches(']');
        } else if line == "optional = true" {
            optional.push(table.trim_start_matches("dependencies.").replace('-', "_"));
        } else if line.contains("optional = true") {
            optional.push(line.split(' ').next().unwrap().replace('-', "_"));
        }
    }
    assert!(optional.len() > 10, "{optional:?}");
    let missing: Vec<_> = optional.iter().filter(|name| !SHELL_ONLY.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "SHELL_ONLY lacks {missing:?}");
}
