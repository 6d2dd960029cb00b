//! Errors below the session are enums: an error that is only text gives a caller nothing to decide by.

use syn::visit::{self, Visit};
use syn::{GenericArgument, PathArguments, ReturnType, Type};

use super::source::{SourceFile, library};
use super::table::ROOMS;

/// Rooms whose errors are enums: those below `session`, which turns them into text.
fn below_session(room: &str) -> bool {
    ROOMS.iter().take_while(|(name, _)| *name != "session").any(|(name, _)| *name == room)
}

/// Signatures of a file outside tests whose error is a `String`: functions, methods, and names for such a result.
#[derive(Default)]
struct TextErrors {
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for TextErrors {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !module.attrs.iter().any(is_for_tests) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if let ReturnType::Type(_, ty) = &signature.output
            && gives_text(ty)
        {
            self.found.push(signature.ident.to_string());
        }
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        if gives_text(&item.ty) {
            self.found.push(item.ident.to_string());
        }
    }
}

fn is_for_tests(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
}

/// Whether a type is `Result<_, String>`.
fn gives_text(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last().filter(|last| last.ident == "Result") else { return false };
    let PathArguments::AngleBracketed(of) = &last.arguments else { return false };
    matches!(of.args.iter().nth(1), Some(GenericArgument::Type(Type::Path(error))) if error.path.is_ident("String"))
}

fn text_errors(file: &SourceFile) -> Vec<String> {
    let mut reader = TextErrors::default();
    reader.visit_file(&file.syntax);
    reader.found.iter().map(|name| format!("{}: {name}", file.path)).collect()
}

#[test]
fn no_function_below_the_session_gives_text_as_its_error() {
    let below = library().into_iter().filter(|file| file.module.first().is_some_and(|room| below_session(room)));
    let found: Vec<String> = below.flat_map(|file| text_errors(&file)).collect();
    assert!(found.is_empty(), "make these errors enums (thiserror), text is the session's:\n{}", found.join("\n"));
}

#[test]
fn every_form_of_such_a_signature_is_found() {
    let text = "pub fn a() -> Result<u8, String> { Err(String::new()) }
        impl X { fn b(&self) -> std::result::Result<Vec<String>, String> { todo!() } }
        trait Y { fn c() -> Result<(), String>; }
        type Z<T> = Result<T, String>;
        mod inner { fn d() -> Result<(), String> { Ok(()) } }
        fn fine() -> Result<String, Wrong> { todo!() }
        fn fine_too() -> Option<String> { None }
        #[cfg(test)] mod tests { fn e() -> Result<(), String> { Ok(()) } }";
    let found = text_errors(&SourceFile::parse("bench/x.rs", text));
    assert_eq!(found, ["bench/x.rs: a", "bench/x.rs: b", "bench/x.rs: c", "bench/x.rs: Z", "bench/x.rs: d"]);
}
