//! The page and its worker: the only room that knows browsers.
