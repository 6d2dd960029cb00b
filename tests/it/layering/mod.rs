//! The structure of `src/`: a room uses only rooms below it, and only the shells know files, threads, the terminal and
//! the web.
//!
//! [`source`] parses the files, [`paths`] says what each path of a file names, [`table`] is the rule, [`rules`] compares
//! the two. [`house`] holds the tests over `src/` and ARCHITECTURE.md, [`holes`] the tests of the rules themselves.
//! [`circles`] finds files of a folder that use one another in a circle. [`errors`] finds functions below the session that give text
//! as an error, [`casts`] checks that lossy `as` is refused. `./x rooms` prints the table of [`report`]; [`picture`] draws the table for
//! ARCHITECTURE.md. [`documents`] checks that the paths in documents exist.

mod casts;
mod circles;
mod documents;
mod errors;
mod holes;
mod house;
mod paths;
mod picture;
mod report;
mod rules;
mod source;
mod table;
