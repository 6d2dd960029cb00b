//! The picture of the rooms in ARCHITECTURE.md: a row for each step of who uses whom.

use std::fmt::Write;

use super::table::{ROOMS, seen_by};

const PICTURE: &str = "docs/images/rooms.svg";

const WIDTH: usize = 824;
const ROW: usize = 40;
const BOX: (usize, usize) = (104, 28);
const GAP: usize = 16;
/// Left edge of the boxes; the words of a row stand to the left of it.
const LEFT: usize = 216;

/// The purpose of the rows from this room on, from the bottom up.
const BANDS: &[(&str, &str)] = &[
    ("base", "what all use"),
    ("tensor", "data: values, events, hardware"),
    ("formats", "files, questions, findings"),
    ("view", "views, and models of the zoo"),
    ("compiler", "HLO to instructions"),
    ("neuron", "the simulated NeuronCore"),
    ("device", "how long a call takes"),
    ("bench", "NeuronPerf"),
    ("experiment", "what is made of runs"),
    ("session", "one facade for every shell"),
    ("page", "shells, and the page's state"),
    ("web", "the page in a browser"),
];

/// How many steps a room stands above one that uses none.
fn row_of(room: &str) -> usize {
    seen_by(room).into_iter().map(|below| row_of(below) + 1).max().unwrap_or(0)
}

fn rows() -> Vec<Vec<&'static str>> {
    let mut rows = Vec::new();
    for (room, _) in ROOMS {
        let row = row_of(room);
        rows.resize(rows.len().max(row + 1), Vec::new());
        rows[row].push(*room);
    }
    rows
}

fn picture() -> String {
    let rows = rows();
    let height = rows.len() * ROW + 12;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>The rooms of src/: each uses rooms of the rows below it only</title>\n<style>\
         text {{ font: 14px system-ui, sans-serif; fill: #1c2733 }} .word {{ fill: #51606f; font-size: 12px }} \
         rect {{ fill: #eaf1fb; stroke: #7b9cc8 }} .ground {{ fill: #ffffff; stroke: none }} \
         @media (prefers-color-scheme: dark) {{ text {{ fill: #e6edf3 }} .word {{ fill: #9aa7b4 }} \
         rect {{ fill: #1d2a3a; stroke: #54789f }} .ground {{ fill: #10161d }} }}</style>\n\
         <rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>\n"
    );
    for (row, rooms) in rows.iter().enumerate() {
        let top = (rows.len() - 1 - row) * ROW + 10;
        let middle = top + BOX.1 / 2;
        if let Some((_, words)) = BANDS.iter().find(|(first, _)| *first == rooms[0]) {
            let _ = writeln!(
                svg,
                "<text class=\"word\" x=\"12\" y=\"{middle}\" dominant-baseline=\"central\">{words}</text>"
            );
        }
        for (place, room) in rooms.iter().enumerate() {
            let left = LEFT + place * (BOX.0 + GAP);
            let _ = writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" rx=\"5\"/>\
                 <text x=\"{}\" y=\"{middle}\" text-anchor=\"middle\" dominant-baseline=\"central\">{room}</text>",
                BOX.0,
                BOX.1,
                left + BOX.0 / 2
            );
        }
    }
    svg + "</svg>\n"
}

#[test]
fn the_picture_shows_the_table() {
    let drawn = picture();
    let path = format!("{}/{PICTURE}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == drawn, "{PICTURE} is of another table: UPDATE_DOCS=1 cargo test --test it layering writes it anew");
}

#[test]
fn every_row_says_what_it_is_for_and_fits() {
    for rooms in rows() {
        assert!(BANDS.iter().any(|(first, _)| *first == rooms[0]), "BANDS has no words for the row of {}", rooms[0]);
        assert!(LEFT + rooms.len() * (BOX.0 + GAP) <= WIDTH, "{rooms:?} do not fit into the picture");
    }
    assert_eq!(BANDS.len(), rows().len(), "BANDS has words for a row that is gone");
}

#[test]
fn a_room_stands_above_all_that_it_uses() {
    for (room, _) in ROOMS {
        for below in seen_by(room) {
            assert!(row_of(below) < row_of(room), "{below}, {room}");
        }
    }
}
