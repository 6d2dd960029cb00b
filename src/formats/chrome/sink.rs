//! What the tokenizer finds: events, what should have been one, and what is beside them.

use super::event::RawEvent;

/// Takes what the tokenizer finds. Offsets count from the start of the (uncompressed) text.
pub(super) trait EventSink {
    /// A whole event.
    fn event(&mut self, event: &RawEvent<'_>, offset: u64);
    /// Something that should have been one.
    fn broken(&mut self, why: Broken, offset: u64);
    /// Another member of the outer object: key as written, value as raw JSON, and where the value begins.
    fn member(&mut self, key: &[u8], value: &[u8], offset: u64);
    /// One of the members that are parts of the events, larger than an event may be.
    fn large_member(&mut self, key: &[u8], offset: u64);
}

/// What is wrong with an element of the event array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// Not JSON; the byte where it stops being so, and its offset.
    Json { byte: u8, offset: u64 },
    /// Nested too deep.
    TooDeep,
    /// Larger than [`super::tokenizer::MAX_EVENT_BYTES`].
    TooLarge,
    /// Not an object.
    NotAnObject,
    /// The text ends inside it.
    Cut,
    /// Beyond here the text is so broken that nothing more was read.
    GaveUp,
    /// Not an element, but text after the last bracket.
    AfterEnd,
    /// Not an element, but a byte between the keys of the outer object where no such byte can be.
    Keys { byte: u8 },
}
