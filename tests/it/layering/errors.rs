//! Errors below the session are enums: an error that is only text gives a caller nothing to decide by.

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Field, GenericArgument, Ident, LitStr, PathArguments, ReturnType, Token, Type, Variant, Visibility,
};

use super::source::{SourceFile, library};
use super::table::ROOMS;

/// Rooms whose errors are enums: those below `session`, which turns them into text.
fn below_session(room: &str) -> bool {
    ROOMS.iter().take_while(|(name, _)| *name != "session").any(|(name, _)| *name == room)
}

/// Names of fields that hold the whole of what is wrong.
const WORDS: [&str; 3] = ["what", "why", "message"];

/// What may hold such words: an error that another program wrote.
const CROSSING: (&str, &str) = ("import/error.rs", "ImportErrorKind::Told");

/// What holds a text for an error, in a file outside tests: functions, methods and names for a result whose error is a `String`;
/// public errors with a `String` of the name `what`, `why` or `message`, and variants whose message is nothing but such a field.
#[derive(Default)]
struct TextErrors {
    found: Vec<String>,
}

impl TextErrors {
    fn is_error(item: &Ident, attributes: &[Attribute]) -> bool {
        item.to_string().ends_with("Error") || attributes.iter().any(derives_error)
    }
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

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let is_public = !matches!(item.vis, Visibility::Inherited);
        if is_public && Self::is_error(&item.ident, &item.attrs) && item.fields.iter().any(holds_words) {
            self.found.push(item.ident.to_string());
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let is_public = !matches!(item.vis, Visibility::Inherited);
        if is_public && Self::is_error(&item.ident, &item.attrs) {
            let texts = item.variants.iter().filter(|variant| is_words_alone(variant));
            self.found.extend(texts.map(|variant| format!("{}::{}", item.ident, variant.ident)));
        }
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        if gives_text(&item.ty) {
            self.found.push(item.ident.to_string());
        }
    }
}

fn derives_error(attribute: &Attribute) -> bool {
    let paths = |attribute: &Attribute| attribute.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated);
    attribute.path().is_ident("derive")
        && paths(attribute).is_ok_and(|all| all.iter().any(|p| p.segments.last().is_some_and(|s| s.ident == "Error")))
}

/// Whether a field is a `String` whose name says that it is the words of the error.
fn holds_words(field: &Field) -> bool {
    let is_string = matches!(&field.ty, Type::Path(ty) if ty.path.is_ident("String"));
    is_string && field.ident.as_ref().is_some_and(|name| WORDS.iter().any(|word| name == word))
}

/// Whether a variant's message is nothing but such words.
fn is_words_alone(variant: &Variant) -> bool {
    let told = |field: &Field| {
        let name = field.ident.as_ref().map(|name| format!("{{{name}}}"));
        let message = variant.attrs.iter().find(|attribute| attribute.path().is_ident("error"));
        message.and_then(|attribute| attribute.parse_args::<LitStr>().ok()).map(|text| text.value()) == name
    };
    variant.fields.iter().any(|field| holds_words(field) && told(field))
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
    reader.found.retain(|name| (file.path.as_str(), name.as_str()) != CROSSING);
    reader.found.iter().map(|name| format!("{}: {name}", file.path)).collect()
}

#[test]
fn no_error_below_the_session_is_text() {
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

#[test]
fn every_form_of_an_error_that_is_words_is_found() {
    let text = "pub struct QueryError { pub column: usize, pub message: String }
        #[derive(Debug, thiserror::Error)] #[error(\"{why}\")] pub(crate) struct Bad { why: String }
        #[derive(Debug, Error)] pub enum Kind {
            #[error(\"{what}\")] Told { what: String, instead: String },
            #[error(\"{what} has {size} bytes\")] Fine { what: String, size: u64 },
        }
        #[derive(Debug, Error)] pub enum Typed { #[error(\"{what}\")] Wrong { what: &'static str } }
        pub struct Notice { pub message: String }
        struct OwnError { what: String }
        #[cfg(test)] mod tests { pub struct TestError { pub what: String } }";
    let found = text_errors(&SourceFile::parse("import/x.rs", text));
    assert_eq!(found, ["import/x.rs: QueryError", "import/x.rs: Bad", "import/x.rs: Kind::Told"]);
    let crossing = "#[derive(Error)] pub enum ImportErrorKind { #[error(\"{what}\")] Told { what: String } }";
    assert!(text_errors(&SourceFile::parse("import/error.rs", crossing)).is_empty());
    assert_eq!(text_errors(&SourceFile::parse("import/zip.rs", crossing)), ["import/zip.rs: ImportErrorKind::Told"]);
}
