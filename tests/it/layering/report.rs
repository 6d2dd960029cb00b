//! The structure of the library as a table: `./x rooms`.

use std::collections::{BTreeMap, BTreeSet};

use super::house::this_house;
use super::rules::House;
use super::table::ROOMS;

/// The facts about a room, from its sources.
#[derive(Default)]
struct Room {
    files: usize,
    lines: usize,
    /// Rooms it uses outside tests.
    uses: BTreeSet<String>,
}

fn rooms_of(house: &House) -> BTreeMap<String, Room> {
    let mut rooms: BTreeMap<String, Room> = BTreeMap::new();
    for file in house.files() {
        let Some(name) = file.module.first() else { continue };
        let room = rooms.entry(name.clone()).or_default();
        room.files += 1;
        room.lines += file.lines;
        let named = file.found.iter().filter(|found| !found.in_test).filter_map(|found| house.room_of(&found.direct));
        room.uses.extend(named.filter(|other| other != name).map(str::to_owned));
    }
    rooms
}

fn table(rooms: &BTreeMap<String, Room>) -> String {
    let order = |names: &BTreeSet<String>| -> String {
        let of_table = ROOMS.iter().map(|(room, _)| *room).filter(|room| names.contains(*room));
        let text = of_table.collect::<Vec<_>>().join(", ");
        if text.is_empty() { "-".to_owned() } else { text }
    };
    let mut text = format!("{:<11}{:>6}{:>8}  uses / used by\n", "room", "files", "lines");
    for (name, _) in ROOMS {
        let Some(room) = rooms.get(*name) else { continue };
        let users =
            rooms.iter().filter(|(_, other)| other.uses.contains(*name)).map(|(user, _)| user.clone()).collect();
        text += &format!(
            "{name:<11}{:>6}{:>8}  {}\n{:27}{}\n",
            room.files,
            room.lines,
            order(&room.uses),
            "",
            order(&users)
        );
    }
    let total = |of: fn(&Room) -> usize| rooms.values().map(of).sum::<usize>();
    text + &format!("{:<11}{:>6}{:>8}\n", "all", total(|room| room.files), total(|room| room.lines))
}

/// Prints the table; it asserts nothing, so it is run by `./x rooms` alone.
#[test]
#[ignore = "prints the table for `./x rooms`"]
fn print_rooms() {
    println!("{}", table(&rooms_of(this_house())));
}

#[test]
fn the_table_of_rooms_counts_files_and_says_who_uses_whom() {
    let file = super::source::SourceFile::parse;
    let house = House::of(&[
        file("base/time.rs", "//! Time.\npub struct Time;\n"),
        file("profile/store.rs", "use crate::base::Time;\n#[cfg(test)]\nmod tests { use crate::machine::X; }\n"),
    ]);
    let text = table(&rooms_of(&house));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["base", "1", "2", "-"]);
    assert_eq!(lines[2], ["profile"]);
    assert_eq!(lines[3], ["profile", "1", "3", "base"]);
    assert_eq!(lines[5], ["all", "2", "5"]);
}
