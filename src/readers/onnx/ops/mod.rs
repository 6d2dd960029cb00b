//! Operators of ONNX by name, each with the rules of the version it is called in.

mod activation;
mod back;
mod elementwise;
mod generate;
mod grouped_query_attention;
mod index;
mod layout;
mod list;
mod microsoft;
mod nbits;
mod normalise;
mod pad;
mod pool;
mod product;
mod quantise;
mod recurrent;
mod reduce;
mod regions;
mod resize;
mod rotary;
mod spectral;
mod table;
mod window;

use table::Operator;
pub(crate) use table::operators;
pub(super) use table::{full_name, run};
