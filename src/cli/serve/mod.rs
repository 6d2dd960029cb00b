//! The page over HTTP, from the program itself or from a folder, to this machine alone.

mod answer;
mod server;
mod site;

pub(super) use server::serve;
pub(super) use site::Site;
