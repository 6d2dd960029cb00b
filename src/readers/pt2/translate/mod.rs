//! Translates aten operations to a program.
//!
//! The file has the types of all values, and each operation is converted to give the type in the file. An unknown operation, or an
//! unknown use of an operation, becomes opaque with its result types and is listed. Files without types
//! (TorchScript) pass one operation after another: if a translation needs the type of a result, `infer` works it out.

mod algebra;
mod alone;
mod arrange;
mod attention;
mod binary;
mod call;
mod create;
mod diagonal;
mod encoder;
mod finish;
mod grouped;
mod index;
mod infer;
mod linear_systems;
mod loss;
mod margin;
mod norm;
mod operators;
mod order;
mod pool;
mod product;
mod quantise;
mod random;
mod recurrent;
mod reduce;
mod run;
mod scatter;
mod shape;
mod signature;
mod special;
mod spectral;
mod unary;
mod views;

pub use alone::AloneCall;
pub use infer::scalar_type;
pub use operators::operators;
pub use run::{Translation, Translator, translate};
pub use signature::{input_kind, scope_of};
pub use views::ViewId;
