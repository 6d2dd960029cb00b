//! The library refuses lossy `as`, and long functions: numbers change their type through `base::convert`, whose
//! names say what happens at the edge. A line may allow an exception, with a reason; a module may not.

use std::collections::BTreeSet;

use super::source::{SourceFile, library};

/// The lints that the library turns on for everything except tests.
const LINTS: [&str; 6] = [
    "cast_lossless",
    "cast_possible_truncation",
    "cast_possible_wrap",
    "cast_precision_loss",
    "cast_sign_loss",
    "too_many_lines",
];

/// The words of the inner attributes of a file.
fn said_of_module(file: &SourceFile) -> BTreeSet<String> {
    let lists = file.syntax.attrs.iter().filter_map(|attribute| attribute.meta.require_list().ok());
    lists.flat_map(|list| words(&list.tokens.to_string())).collect()
}

/// The words of the attributes of the modules that a file declares.
fn said_of_children(file: &SourceFile) -> BTreeSet<String> {
    let modules =
        file.syntax.items.iter().filter_map(|item| if let syn::Item::Mod(module) = item { Some(module) } else { None });
    let attributes = modules.flat_map(|module| &module.attrs);
    attributes
        .filter_map(|attribute| attribute.meta.require_list().ok())
        .flat_map(|list| words(&list.tokens.to_string()))
        .collect()
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
}

#[test]
fn the_library_refuses_casts_that_lose_and_long_functions() {
    let files = library();
    let (top, others): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.module.is_empty());
    let said = said_of_module(top[0]);
    assert!(LINTS.iter().all(|lint| said.contains(*lint)), "lib.rs does not turn on all of {LINTS:?}");
    let excepts = |said: &BTreeSet<String>| LINTS.iter().any(|lint| said.contains(*lint));
    let of_itself = others.into_iter().filter(|file| excepts(&said_of_module(file)));
    let of_children = files.iter().filter(|file| excepts(&said_of_children(file)));
    let found: Vec<&str> = of_itself.chain(of_children).map(|file| file.path.as_str()).collect();
    assert!(found.is_empty(), "a module excepts itself as a whole: {found:?}");
}

#[test]
fn lints_are_read_from_the_top_of_a_file_and_of_a_module() {
    let top = SourceFile::parse("x/mod.rs", "#![allow(clippy::cast_sign_loss)]\nfn a() {}");
    assert!(said_of_module(&top).contains("cast_sign_loss"));
    let line = SourceFile::parse("x/mod.rs", "#[allow(clippy::cast_sign_loss)]\nfn a() {}");
    assert!(said_of_module(&line).is_empty() && said_of_children(&line).is_empty());
    let child = SourceFile::parse("x/mod.rs", "#[allow(clippy::cast_sign_loss)]\nmod b;");
    assert!(said_of_children(&child).contains("cast_sign_loss"));
}
