//! From aten operations to a program.
//!
//! The types of all values are in the file, so that each operation is made to give the type the file says. An operation that is
//! not known, or used in a way that is not known, becomes opaque with its result types and is listed. Files without types
//! (TorchScript) give one operation after another: where a translation asks for the type of a result, `infer` finds it.

mod algebra;
mod alone;
mod arrange;
mod attention;
mod binary;
mod call;
mod create;
mod diagonal;
mod encoder;
mod families;
mod finish;
mod index;
mod infer;
mod linear_systems;
mod loss;
mod margin;
mod norm;
mod order;
mod placed;
mod pool;
mod product;
mod quantise;
mod random;
mod recurrent;
mod reduce;
mod run;
mod shape;
mod signature;
mod special;
mod spectral;
mod unary;
mod views;

pub use alone::AloneCall;
pub use infer::scalar_type;
#[cfg(test)]
pub use run::kind_of_aten;
pub use run::{Translated, Translator, translate};
pub use signature::{input_kind, scope_of};
pub use views::ViewId;
