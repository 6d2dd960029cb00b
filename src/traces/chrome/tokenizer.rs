//! Finds the events of a trace in text that arrives in chunks of any size.

use super::event::scan_event;
use super::event::{Broken, EventSink};
use super::recovery::{RECOVERY_WINDOW, after_broken};
use super::skip::Skipper;
use crate::json::scan::{Stop, skip_space, string_end, value_end};

/// The largest text one event may have. Screenshots, the largest seen, are under 1 MB.
pub(super) const MAX_EVENT_BYTES: usize = 64 << 20;
/// The most top-level keys that are remembered, to name a file that is not a trace.
const MAX_KEYS: usize = 64;
/// The largest value of another key of the outer object that is kept.
const MAX_MEMBER_BYTES: usize = 64 << 10;
/// Keys whose values belong to the events, and may be as large as an event.
const LARGE_MEMBERS: [&[u8]; 3] = [b"stackFrames", b"samples", b"systemTraceEvents"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    /// In the outer object, before a key.
    Keys,
    /// In the event array.
    Events,
    /// At the value of another key of the outer object.
    Member,
    Skip(After),
    /// After the outer value; another value of its kind may follow.
    End,
    /// The rest is not read.
    Done,
}

/// The state to return to after a skipped value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Keys,
    Events,
}

/// The form of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Not known yet, or not JSON.
    Unknown,
    /// An object around the array.
    Object,
    /// The array alone.
    Array,
}

#[derive(Debug)]
pub(super) struct Tokenizer {
    buf: Vec<u8>,
    at: usize,
    /// Offset in the text of the first byte of `buf`.
    base: u64,
    state: State,
    skipper: Skipper,
    /// Do not try again before there are this many bytes: otherwise a large event in small chunks takes quadratic time.
    wait_for: usize,
    /// Bytes searched because of broken events; bounds the work on hostile input.
    recovery_work: u64,
    /// Events one after another without an array around them.
    is_lines: bool,
    /// Whether the events being read are in an object.
    in_object: bool,
    /// Key of the value at [`State::Member`].
    member: Vec<u8>,
    /// The form in which the text began.
    pub(super) form: Form,
    /// The kind of a `traceEvents` that is not an array, by its first byte.
    pub(super) odd_events: Option<u8>,
    /// A byte before the first key that cannot be there, and its offset: the text is not JSON.
    pub(super) not_json: Option<(u8, u64)>,
    pub(super) keys: Vec<String>,
    pub(super) found_events: bool,
}

enum Step {
    On,
    NeedMore,
}

impl Tokenizer {
    pub(super) fn new() -> Self {
        Self {
            buf: Vec::new(),
            at: 0,
            base: 0,
            state: State::Start,
            skipper: Skipper::default(),
            wait_for: 0,
            recovery_work: 0,
            is_lines: false,
            in_object: false,
            member: Vec::new(),
            form: Form::Unknown,
            odd_events: None,
            not_json: None,
            keys: Vec::new(),
            found_events: false,
        }
    }

    /// A tokenizer for a text whose first byte is at this offset.
    pub(super) fn at(base: u64) -> Self {
        Self { base, ..Self::new() }
    }

    /// A tokenizer for events on lines, without an array around them.
    pub(super) fn of_lines() -> Self {
        Self { is_lines: true, state: State::Events, form: Form::Array, found_events: true, ..Self::new() }
    }

    /// Whether the outer value has been closed.
    pub(super) fn is_closed(&self) -> bool {
        matches!(self.state, State::End | State::Done) || self.is_lines
    }

    /// Offset of the next byte to look at.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Takes the next piece of text.
    pub(super) fn push(&mut self, chunk: &[u8], sink: &mut impl EventSink) {
        self.buf.extend_from_slice(chunk);
        if self.buf.len() < self.wait_for {
            return;
        }
        self.run(false, sink);
        self.base += self.at as u64;
        self.buf.drain(..self.at);
        self.at = 0;
        self.wait_for = self.buf.len() * 2;
    }

    /// Takes the end of the text.
    pub(super) fn finish(&mut self, sink: &mut impl EventSink) {
        self.run(true, sink);
    }

    fn run(&mut self, last: bool, sink: &mut impl EventSink) {
        while let Step::On = self.step(last, sink) {}
    }

    fn step(&mut self, last: bool, sink: &mut impl EventSink) -> Step {
        match self.state {
            State::Start => self.start(),
            State::Keys => self.key(sink),
            State::Events => self.element(last, sink),
            State::Member => self.member(last, sink),
            State::Skip(after) => self.skip(after),
            State::End => self.after_end(sink),
            State::Done => {
                self.at = self.buf.len();
                Step::NeedMore
            }
        }
    }

    fn start(&mut self) -> Step {
        if self.base == 0 && self.buf.starts_with(b"\xef\xbb\xbf") && self.at == 0 {
            self.at = 3;
        }
        self.at = skip_space(&self.buf, self.at);
        let state = match self.buf.get(self.at) {
            None => return Step::NeedMore,
            Some(b'{') => (State::Keys, Form::Object),
            Some(b'[') => (State::Events, Form::Array),
            Some(_) => (State::Done, Form::Unknown),
        };
        (self.state, self.form) = state;
        self.found_events = self.form == Form::Array;
        self.in_object = self.form == Form::Object;
        self.at += 1;
        Step::On
    }

    /// Some producers append to a file: another array or object of events follows the first.
    fn after_end(&mut self, sink: &mut impl EventSink) -> Step {
        let mut at = skip_space(&self.buf, self.at);
        while let Some(b',' | 0) = self.buf.get(at) {
            at = skip_space(&self.buf, at + 1);
        }
        self.at = at;
        self.state = match self.buf.get(at) {
            None => return Step::NeedMore,
            Some(b'[') if self.found_events => State::Events,
            Some(b'{') => State::Keys,
            Some(_) => {
                if self.found_events {
                    sink.broken(Broken::AfterEnd, self.offset());
                }
                State::Done
            }
        };
        self.in_object = self.state == State::Keys;
        self.at += 1;
        Step::On
    }

    /// Keeps the value of another key if it is not too large, however it is cut into pieces.
    fn member(&mut self, last: bool, sink: &mut impl EventSink) -> Step {
        let key = std::mem::take(&mut self.member);
        let is_part = LARGE_MEMBERS.contains(&key.as_slice());
        let most = if is_part { MAX_EVENT_BYTES } else { MAX_MEMBER_BYTES };
        let offset = self.base + self.at as u64;
        match value_end(&self.buf, self.at) {
            Ok(end) if end - self.at <= most => {
                sink.member(&key, &self.buf[self.at..end], offset);
                self.at = end;
                self.state = State::Keys;
            }
            Err(Stop::Incomplete) if !last && self.buf.len() - self.at <= most => {
                self.member = key;
                return Step::NeedMore;
            }
            // The part of the value in a text that was cut off.
            Err(Stop::Incomplete) if last && is_part && self.buf.len() - self.at <= most => {
                sink.member(&key, &self.buf[self.at..], offset);
                self.at = self.buf.len();
            }
            _ => {
                if is_part {
                    sink.large_member(&key, offset);
                }
                self.skip_value(After::Keys);
            }
        }
        Step::On
    }

    fn key(&mut self, sink: &mut impl EventSink) -> Step {
        let mut at = skip_space(&self.buf, self.at);
        while self.buf.get(at) == Some(&b',') {
            at = skip_space(&self.buf, at + 1);
        }
        self.at = at;
        match self.buf.get(at) {
            None => return Step::NeedMore,
            Some(b'"') => {}
            Some(b'}') => {
                self.at += 1;
                self.state = State::End;
                return Step::On;
            }
            Some(&byte) => return self.bad_key(byte, sink),
        }
        let Some(end) = string_end(&self.buf, at + 1) else { return Step::NeedMore };
        let colon = skip_space(&self.buf, end + 1);
        let value = skip_space(&self.buf, colon + 1);
        let (Some(b':'), Some(first)) = (self.buf.get(colon), self.buf.get(value)) else {
            return match self.buf.get(colon) {
                None | Some(b':') => Step::NeedMore,
                Some(&byte) => {
                    self.at = colon;
                    self.bad_key(byte, sink)
                }
            };
        };
        let key = &self.buf[at + 1..end];
        if key == b"traceEvents" && *first == b'[' {
            self.found_events = true;
            self.state = State::Events;
            self.at = value + 1;
            return Step::On;
        }
        if key == b"traceEvents" {
            self.odd_events = Some(*first);
        }
        if self.keys.len() < MAX_KEYS {
            self.keys.push(String::from_utf8_lossy(&key[..key.len().min(200)]).into_owned());
        }
        self.member = key[..key.len().min(MAX_MEMBER_BYTES)].to_vec();
        self.at = value;
        if self.keys.len() < MAX_KEYS {
            self.state = State::Member;
        } else {
            self.skip_value(After::Keys);
        }
        Step::On
    }

    /// Stops at a byte that cannot be between keys.
    fn bad_key(&mut self, byte: u8, sink: &mut impl EventSink) -> Step {
        let offset = self.offset();
        if self.keys.is_empty() && !self.found_events {
            self.not_json = Some((byte, offset));
        } else {
            sink.broken(Broken::Keys { byte }, offset);
        }
        self.state = State::Done;
        Step::On
    }

    fn skip_value(&mut self, after: After) {
        self.skipper = Skipper::default();
        self.state = State::Skip(after);
    }

    fn skip(&mut self, after: After) -> Step {
        let rest = self.buf.get(self.at..).unwrap_or(&[]);
        let Some(used) = self.skipper.feed(rest) else {
            self.at = self.buf.len();
            return Step::NeedMore;
        };
        self.at += used;
        self.state = if after == After::Keys { State::Keys } else { State::Events };
        Step::On
    }

    fn element(&mut self, last: bool, sink: &mut impl EventSink) -> Step {
        let mut at = skip_space(&self.buf, self.at);
        while self.buf.get(at) == Some(&b',') {
            at = skip_space(&self.buf, at + 1);
        }
        self.at = at;
        match self.buf.get(at) {
            None => Step::NeedMore,
            Some(b']') => {
                self.at += 1;
                self.state = if self.in_object { State::Keys } else { State::End };
                Step::On
            }
            Some(b'{') => self.event(last, sink),
            Some(_) => {
                sink.broken(Broken::NotAnObject, self.base + at as u64);
                self.skip_value(After::Events);
                Step::On
            }
        }
    }

    fn event(&mut self, last: bool, sink: &mut impl EventSink) -> Step {
        let (at, offset) = (self.at, self.base + self.at as u64);
        match scan_event(&self.buf, at) {
            Ok((event, end)) => {
                sink.event(&event, offset);
                self.at = end;
                Step::On
            }
            Err(Stop::Incomplete) if self.buf.len() - at > MAX_EVENT_BYTES => {
                self.recover(Broken::TooLarge, self.buf.len(), last, sink)
            }
            Err(Stop::Incomplete) if last => {
                sink.broken(Broken::Cut, offset);
                self.at = self.buf.len();
                Step::NeedMore
            }
            Err(Stop::Incomplete) => Step::NeedMore,
            Err(Stop::TooDeep(bad)) => self.recover(Broken::TooDeep, bad, last, sink),
            Err(Stop::Bad(bad)) => {
                let byte = self.buf.get(bad).copied().unwrap_or(0);
                self.recover(Broken::Json { byte, offset: self.base + bad as u64 }, bad, last, sink)
            }
        }
    }

    /// Continues after a broken event: after its own end if it has one, else where the next event begins.
    fn recover(&mut self, why: Broken, bad: usize, last: bool, sink: &mut impl EventSink) -> Step {
        let (at, offset) = (self.at, self.base + self.at as u64);
        let whole = last || self.buf.len() - at > RECOVERY_WINDOW;
        let window = &self.buf[..self.buf.len().min(at + RECOVERY_WINDOW)];
        let resume = after_broken(window, at, whole);
        if resume.is_none() && !whole {
            return Step::NeedMore;
        }
        // A text that has more and more that is like an event and is none is not searched for ever.
        self.recovery_work += (bad.max(resume.unwrap_or(window.len())) - at) as u64;
        sink.broken(why, offset);
        if self.recovery_work > (64 << 20) + 16 * (offset + 1) {
            sink.broken(Broken::GaveUp, offset);
            self.state = State::Done;
            return Step::On;
        }
        match resume {
            Some(next) => self.at = next,
            None => self.skip_value(After::Events),
        }
        Step::On
    }
}
