//! Rooms refuse `as` where it loses anything: numbers change their type through `base::convert`, whose names say what happens at
//! the edge.

use std::collections::BTreeSet;

use super::source::{SourceFile, library};
use super::table::{ROOMS, is_room};

/// Rooms that do not refuse it yet. Rooms only leave this list.
const NOT_YET: &[&str] = &[];

/// What refuses it.
const LINTS: [&str; 5] =
    ["cast_lossless", "cast_possible_truncation", "cast_possible_wrap", "cast_precision_loss", "cast_sign_loss"];

/// The words of what a file says of its whole module under a condition, lints among them.
fn said_of_module(file: &SourceFile) -> BTreeSet<String> {
    let conditional = file.syntax.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg_attr"));
    let texts =
        conditional.filter_map(|attribute| attribute.meta.require_list().ok()).map(|list| list.tokens.to_string());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    texts.flat_map(|text| text.split(|c| !is_word(c)).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn every_room_that_is_done_refuses_casts_that_lose() {
    let files = library();
    for (room, _) in ROOMS {
        let top = files.iter().find(|file| file.module == [*room]).unwrap();
        let refuses = LINTS.iter().all(|lint| said_of_module(top).contains(*lint));
        assert_eq!(
            refuses,
            !NOT_YET.contains(room),
            "{room}: the lints of casts in its mod.rs and the list here differ"
        );
    }
    assert!(NOT_YET.iter().all(|room| is_room(room)));
}

#[test]
fn lints_are_read_from_the_top_of_a_file() {
    let on = "#![cfg_attr(not(test), warn(clippy::cast_lossless, clippy::cast_sign_loss))]\nfn a() {}";
    assert!(said_of_module(&SourceFile::parse("x/mod.rs", on)).contains("cast_sign_loss"));
    assert!(
        said_of_module(&SourceFile::parse(
            "x/mod.rs",
            "#[cfg_attr(not(test), warn(clippy::cast_sign_loss))]\nfn a() {}"
        ))
        .is_empty()
    );
}
