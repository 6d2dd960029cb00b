//! Folders whose files use one another in one direction only: no file uses a file that uses it, directly or through others.
//!
//! A file of a folder is a part of it. So is a folder in it, with everything below, and its `mod.rs`, if that holds more than
//! names of the other parts. Uses in tests do not count.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{Found, Kind, Names};
use super::rules::{FileNames, House};

/// For each part of a folder, the parts it uses, each with the position of the use.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// The name of a folder's own file here.
const OWN_FILE: &str = "mod";

/// The folders of a library that have at least two files or folders, `compiler/codegen`.
pub fn folders(house: &House) -> BTreeSet<String> {
    let mut parts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in house.files() {
        for depth in 1..file.module.len() {
            let folder = file.module[..depth].join("/");
            parts.entry(folder).or_default().insert(file.module[depth].clone());
        }
    }
    parts.into_iter().filter(|(_, parts)| parts.len() > 1).map(|(folder, _)| folder).collect()
}

/// A circle of uses between the parts of a folder, a line for each step; none if there is no circle.
pub fn circle_in(house: &House, folder: &str) -> Option<Vec<String>> {
    let uses = uses_in(house, folder);
    uses.keys().find_map(|part| way_back(&uses, part)).map(|way| {
        let step = |two: &[String]| format!("{}: {} uses {}", uses[&two[0]][&two[1]], two[0], two[1]);
        way.windows(2).map(step).collect()
    })
}

fn uses_in(house: &House, folder: &str) -> Uses {
    let folder: Names = folder.split('/').map(str::to_owned).collect();
    let files: Vec<&FileNames> = house.files().iter().filter(|file| file.module.starts_with(&folder)).collect();
    let parts: BTreeSet<&String> = files.iter().filter_map(|file| file.module.get(folder.len())).collect();
    let part_of = |module: &[String]| match module.get(folder.len()) {
        Some(name) if parts.contains(name) => name.clone(),
        _ => OWN_FILE.to_owned(),
    };
    let mut uses = Uses::new();
    for file in &files {
        let user = part_of(&file.module);
        let of_part = uses.entry(user.clone()).or_default();
        for found in file.found.iter().filter(|found| counts(found, &user)) {
            let Some(named) = found.names.strip_prefix(&["crate".to_owned()][..]) else { continue };
            let used = part_of(named);
            if named.len() > folder.len() && named.starts_with(&folder) && used != user {
                of_part.entry(used).or_insert_with(|| format!("{}:{}", file.path, found.line));
            }
        }
    }
    uses
}

/// Whether a path makes a part use another one. The re-exports in a folder's own file are not uses.
fn counts(found: &Found, user: &str) -> bool {
    let shows = user == OWN_FILE && matches!(found.kind, Kind::ReExport | Kind::ShownAbove);
    !found.in_test && !shows
}

/// The shortest way from a part back to it.
fn way_back(uses: &Uses, start: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.to_owned()]];
    let mut seen: BTreeSet<String> = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in uses.get(way.last()?).into_iter().flat_map(BTreeMap::keys) {
                let further: Vec<String> = way.iter().chain([next]).cloned().collect();
                if next == start {
                    return Some(further);
                }
                if seen.insert(next.clone()) {
                    longer.push(further);
                }
            }
        }
        ways = longer;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::house::this_house;
    use super::super::source::SourceFile;
    use super::super::table::WITHOUT_CIRCLES;
    use super::*;

    #[test]
    fn folders_without_circles_have_none() {
        let house = this_house();
        let known = folders(house);
        let unknown: Vec<_> = WITHOUT_CIRCLES.iter().filter(|folder| !known.contains(**folder)).collect();
        assert!(unknown.is_empty(), "WITHOUT_CIRCLES lists what is no folder of several files: {unknown:?}");
        let circles: Vec<String> = WITHOUT_CIRCLES
            .iter()
            .filter_map(|folder| Some(format!("{folder}:\n  {}", circle_in(house, folder)?.join("\n  "))))
            .collect();
        assert!(circles.is_empty(), "files use one another in a circle:\n{}", circles.join("\n"));
    }

    /// Prints the folders with and without a circle: those without could be listed in WITHOUT_CIRCLES.
    #[test]
    #[ignore = "prints the folders for `./x rooms --circles`"]
    fn print_circles() {
        let house = this_house();
        for folder in folders(house) {
            match circle_in(house, &folder) {
                None => println!("    \"{folder}\","),
                Some(way) => println!("{folder}:\n  {}", way.join("\n  ")),
            }
        }
    }

    fn circle(files: &[(&str, &str)], folder: &str) -> Option<Vec<String>> {
        circle_in(
            &House::of(&files.iter().map(|(path, text)| SourceFile::parse(path, text)).collect::<Vec<_>>()),
            folder,
        )
    }

    #[test]
    fn a_circle_is_found_through_other_files_and_re_exports() {
        let own = ("profile/mod.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\npub use b::B;\npub use c::C;");
        let files = |c: &'static str| {
            [
                own,
                ("profile/a.rs", "\nuse super::B;\npub struct A;"),
                ("profile/b.rs", "use super::c::C;\npub struct B;"),
                ("profile/c.rs", c),
            ]
        };
        assert_eq!(circle(&files("pub struct C;"), "profile"), None);
        let way = circle(&files("pub struct C;\nfn f(a: crate::profile::A) {}"), "profile").unwrap();
        assert_eq!(way, ["profile/a.rs:2: a uses b", "profile/b.rs:1: b uses c", "profile/c.rs:2: c uses a"]);
        // Tests may use everything.
        assert_eq!(circle(&files("pub struct C;\n#[cfg(test)]\nmod tests { use super::super::A; }"), "profile"), None);
    }

    #[test]
    fn folders_count_as_one_and_a_folders_own_file_as_a_part() {
        let below = [
            ("profile/mod.rs", "mod a;\nmod b;"),
            ("profile/a.rs", "use super::b::deep::Deep;\npub struct A;"),
            ("profile/b/mod.rs", "pub mod deep;"),
            ("profile/b/deep.rs", "use crate::profile::a::A;\npub struct Deep;"),
        ];
        let way = circle(&below, "profile").unwrap();
        assert_eq!(way, ["profile/a.rs:1: a uses b", "profile/b/deep.rs:1: b uses a"]);
        let own = [
            ("profile/mod.rs", "mod a;\nuse a::A;\npub struct Whole(A);"),
            ("profile/a.rs", "use super::Whole;\npub struct A;"),
        ];
        assert_eq!(circle(&own, "profile").unwrap(), ["profile/a.rs:1: a uses mod", "profile/mod.rs:2: mod uses a"]);
    }
}
