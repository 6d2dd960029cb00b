//! Python gives the library its symbols when it loads it. Only Apple's linker has to be told.

#![expect(clippy::disallowed_methods, reason = "cargo tells a build script its target by the environment")]

fn main() {
    if std::env::var("CARGO_CFG_TARGET_VENDOR").as_deref() == Ok("apple") {
        println!("cargo:rustc-cdylib-link-arg=-undefined");
        println!("cargo:rustc-cdylib-link-arg=dynamic_lookup");
    }
}
