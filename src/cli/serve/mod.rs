//! The page over HTTP, from the program itself or from a folder, served to this machine only.

mod answer;
mod server;
mod site;

pub(super) use server::serve;
pub(super) use site::Site;
