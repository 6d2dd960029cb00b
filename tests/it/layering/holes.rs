//! Ways around the layer rule, all of which the rules find. A test here fails without the rule that it tests.

use super::rules::House;
use super::source::SourceFile;

/// The broken rules in a library of these files.
fn broken(files: &[(&str, &str)]) -> Vec<String> {
    House::of(&files.iter().map(|(path, text)| SourceFile::parse(path, text)).collect::<Vec<_>>()).broken()
}

/// Asserts that one line of one file breaks a rule, and that the message contains a text.
fn one(files: &[(&str, &str)], text: &str) {
    let found = broken(files);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].contains(text), "{found:#?}");
}

/// A room above `profile` that has something to import.
const SIMULATOR: (&str, &str) = ("neuron/sim.rs", "pub struct Simulator;\n");

#[test]
fn what_is_allowed_is_not_found() {
    let text = "
        //! Not code: crate::neuron::Simulator, std::fs.
        use crate::base::{self, Interval, stats::{mean, Rank as R}};
        use self::inner::Thing;
        use std::io::{self, Read};
        mod inner { pub struct Thing; fn f() { super::g(); } }
        pub fn g() { let neuron = \"crate::neuron::Simulator std::fs\"; io::empty(); crate::base::stats::mean(); }
        #[cfg(test)]
        mod tests { #[test] fn reads() { std::fs::read(\"x\").unwrap(); println!(); } }
    ";
    assert!(broken(&[("profile/store.rs", text), SIMULATOR]).is_empty(), "{:?}", broken(&[("profile/store.rs", text)]));
}

#[test]
fn a_path_in_code_and_an_import() {
    one(
        &[("profile/a.rs", "fn f() { let x = crate::neuron::sim::Simulator; }")],
        "profile/a.rs:1: uses crate::neuron::sim",
    );
    one(&[("profile/a.rs", "\nuse crate::neuron::sim::Simulator;")], "profile/a.rs:2: uses crate::neuron::sim");
    one(&[("profile/a.rs", "fn f() -> Vec<crate::neuron::X> { todo() }")], "may not use neuron");
    one(&[("profile/a.rs", "struct S(pub Box<dyn crate::neuron::Observer>);")], "may not use neuron");
    one(&[("profile/a.rs", "impl crate::neuron::Observer for S {}")], "may not use neuron");
}

#[test]
fn nested_groups() {
    one(&[("profile/a.rs", "use crate::{base::{Idx, StrId}, neuron::{sim::{Simulator}}};")], "may not use neuron");
    one(&[("profile/a.rs", "use {crate::base::Idx, crate::{neuron::X as Y}};")], "crate::neuron::X");
}

#[test]
fn the_crate_by_another_name() {
    let whole = "imports the whole crate";
    one(&[("profile/a.rs", "use crate as c;")], whole);
    one(&[("profile/a.rs", "use crate::{self as c};")], whole);
    one(&[("profile/a.rs", "use crate::*;")], whole);
    one(&[("profile/a.rs", "use super::super as c;")], whole);
    one(&[("profile/mod.rs", "use super::*;")], whole);
    one(&[("profile/a.rs", "extern crate self as c;")], whole);
    let found = broken(&[("profile/a.rs", "use crate as c;\nfn f() { c::neuron::run(); }")]);
    assert!(found.len() == 2 && found[1].contains("may not use neuron"), "{found:#?}");
}

#[test]
fn a_room_by_another_name() {
    let found = broken(&[("profile/a.rs", "use crate::neuron as n;\nfn f() { n::run(); }")]);
    assert!(found.len() == 2 && found[1].contains("a.rs:2: uses crate::neuron::run"), "{found:#?}");
}

#[test]
fn super_is_counted_against_the_depth_of_the_module() {
    one(&[("profile/deep/a.rs", "use super::super::super::neuron::sim::Simulator;")], "may not use neuron");
    one(&[("profile/mod.rs", "use super::neuron::sim::Simulator;")], "may not use neuron");
    one(&[("profile/a.rs", "mod inner { use super::super::super::neuron::X; }")], "may not use neuron");
    // A module of the room's own with the name of a room.
    assert!(broken(&[("profile/a.rs", "use super::neuron::OperatorView;")]).is_empty());
    assert!(broken(&[("profile/deep/a.rs", "use super::super::neuron::OperatorView;")]).is_empty());
    one(&[("profile/a.rs", "use super::super::super::x::Y;")], "uses crate::super, which is not a room");
    one(&[("profile/a.rs", "fn f() { self::super::super::neuron::run(); }")], "crate::neuron::run");
}

#[test]
fn unknown_names_are_refused() {
    one(&[("profile/a.rs", "use crate::Simulator;")], "uses crate::Simulator, which is not a room");
    one(&[("attic/a.rs", "")], "'attic' is not a room");
}

#[test]
fn the_root_shows_nothing() {
    one(
        &[("lib.rs", "pub mod neuron;\npub use neuron::sim::Simulator;")],
        "lib.rs:2: the root of the crate has only `pub mod`",
    );
}

#[test]
fn what_another_room_shows_is_where_it_is_made() {
    let shows = ("base/mod.rs", "pub(crate) use crate::neuron::sim::Simulator;");
    let found = broken(&[shows, ("profile/a.rs", "use crate::base::Simulator;"), SIMULATOR]);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[1].contains("profile/a.rs:1: uses crate::neuron::sim::Simulator"), "{found:#?}");
}

#[test]
fn rooms_show_nothing_of_rooms_they_may_use() {
    one(&[("formats/mod.rs", "pub use crate::profile::Profile;")], "shows crate::profile::Profile of another room");
    one(&[("formats/mod.rs", "pub use crate::profile::*;")], "shows crate::profile of another room");
    one(&[("formats/mod.rs", "pub(crate) use crate::profile::{Profile as P};")], "shows crate::profile::Profile");
    assert!(broken(&[("formats/mod.rs", "pub(super) use crate::profile::Profile;\npub use self::a::B;")]).is_empty());
    // Only what the list names is allowed.
    assert!(broken(&[("session/mod.rs", "pub use crate::tensor::Rounding;")]).is_empty());
    one(&[("session/mod.rs", "pub use crate::tensor::Tensor;")], "shows crate::tensor::Tensor");
}

#[test]
fn bodies_and_arguments_of_macros() {
    one(&[("profile/a.rs", "macro_rules! m { ($x:expr) => { $crate::neuron::run($x) } }")], "crate::neuron::run");
    one(
        &[("profile/a.rs", "macro_rules! m { () => { use crate::{base::Idx, neuron::{a::B}}; } }")],
        "crate::neuron::a::B",
    );
    one(&[("profile/a.rs", "fn f() { vec![1, (crate::neuron::run())]; }")], "crate::neuron::run");
    one(&[("profile/deep/a.rs", "fn f() { assert!(super::super::super::neuron::run()); }")], "crate::neuron::run");
    one(&[("profile/a.rs", "fn f() { write!(x, \"{}\", std::env::args()); }")], "std::env::args");
}

#[test]
fn exported_macros_belong_to_their_room() {
    let exported = ("neuron/units.rs", "#[macro_export]\nmacro_rules! ps { () => {} }");
    one(&[exported, ("profile/a.rs", "fn f() { crate::ps!(); }")], "may not use neuron");
    let own = ("base/index.rs", "#[macro_export]\nmacro_rules! define_idx { () => {} }");
    assert!(broken(&[own, ("profile/a.rs", "crate::define_idx!();")]).is_empty());
}

#[test]
fn paths_in_attributes() {
    one(&[("profile/a.rs", "#[serde(with = \"crate::neuron::as_text\")]\nstruct S;")], "crate::neuron::as_text");
    one(&[("profile/a.rs", "#[derive(Clone, crate::neuron::Derive)]\nstruct S;")], "crate::neuron::Derive");
}

#[test]
fn modules_of_std_in_any_form() {
    let forms = [
        "use std::fs;",
        "use std::{fs, io};",
        "use std::{io::{self, Read}, fs::{File}};",
        "use ::std::fs::File;",
        "fn f() { std::fs::read(x); }",
        "fn f() { ::std::fs::read(x); }",
        "use std::env as e;",
        "use std::thread::spawn;",
        "use std::net::TcpStream;",
        "use std::process::exit;",
        "use std::time::{Duration, Instant};",
        "use std::time::SystemTime;",
        "use std::time::*;",
        "use std::*;",
        "use std::io::stdout;",
        "struct S { since: std::time::Instant }",
    ];
    for form in forms {
        one(&[("profile/a.rs", form)], "which only shells may");
        assert!(broken(&[("cli/a.rs", form)]).is_empty(), "{form}");
    }
    one(&[("profile/a.rs", "use std::io;\nfn f() { io::stdout(); }")], "a.rs:2: names std::io::stdout");
    one(&[("profile/a.rs", "use std as s;\nfn f() { s::fs::read(x); }")], "a.rs:2: names std::fs::read");
    one(
        &[("profile/mod.rs", "use std::time;"), ("profile/a.rs", "fn f() { super::time::Instant::now(); }")],
        "std::time::Instant",
    );
    let globbed = "use std::time;\nmod inner { use super::*; fn f() { time::Instant::now(); } }";
    one(&[("profile/a.rs", globbed)], "a.rs:2: names std::time::Instant");
    assert!(broken(&[("profile/a.rs", "use std::time::Duration;\nuse std::io::Write;")]).is_empty());
}

#[test]
fn crates_and_macros_of_shells() {
    one(&[("view/a.rs", "use web_sys::Window;")], "which only shells may");
    for web in ["use yew::Reducible;", "use web_sys::Window;", "fn f(x: wasm_bindgen::JsValue) {}", "use js_sys::Date;"]
    {
        one(&[("page/a.rs", web)], "which only shells may");
    }
    one(&[("view/a.rs", "fn f(x: wasm_bindgen::JsValue) {}")], "which only shells may");
    one(&[("view/a.rs", "fn f() { println!(\"x\"); }")], "calls println!");
    one(&[("view/a.rs", "fn f() { g(|| vec![eprintln!()]); }")], "calls eprintln!");
}

#[test]
fn tests_may_read_files_and_are_still_in_their_room() {
    let files = [("profile/mod.rs", "#[cfg(test)]\nmod tests;\nmod more;"), ("profile/tests.rs", "use std::fs;")];
    assert!(broken(&files).is_empty());
    one(&[files[0], ("profile/more.rs", "use std::fs;")], "profile/more.rs:1: names std::fs");
    one(&[files[0], ("profile/tests.rs", "use crate::neuron::X;")], "may not use neuron");
}

#[test]
fn a_file_that_is_another_module_than_its_name_says() {
    one(&[("profile/mod.rs", "#[path = \"../neuron/sim.rs\"]\nmod sim;")], "#[path]");
    one(&[("profile/mod.rs", "include!(\"../neuron/sim.rs\");")], "include!");
}
