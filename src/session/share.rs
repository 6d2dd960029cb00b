//! Share links: all view state as a readable query behind the hash route.
