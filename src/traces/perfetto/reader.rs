//! Reads packets from a stream and passes each to its part of the reader.

use super::FORMAT;
use super::clocks::Clocks;
use super::event::{Counters, Flows};
use super::ftrace::Scheduling;
use super::sequence::Sequence;
use super::tracks::TrackTable;
use crate::interface::not_a_profile;
use crate::{ChunkedReader, ReadLimits, ReadProgress};
use ns_base::Refusal;
use ns_base::convert::u64_to_usize;
use ns_base::wire::{Fields, varint};
use ns_base::{Diagnostics, FxHashMap};
use ns_profile::{Profile, ProfileBuilder};

/// The tag of a packet in a trace.
const PACKET: u8 = 0x0a;
/// `SEQ_INCREMENTAL_STATE_CLEARED`: the names that packets of the sequence refer to start anew.
const STATE_CLEARED: u64 = 1;
/// `SEQ_NEEDS_INCREMENTAL_STATE`: this packet refers to earlier packets.
const NEEDS_STATE: u64 = 2;
/// The largest packet that is read.
const MAX_PACKET_BYTES: u64 = 64 << 20;
/// The largest size that one packet of compressed packets may unpack to.
const MAX_UNPACKED_BYTES: usize = 64 << 20;

/// Reads a trace.
pub struct PerfettoReader {
    buffer: Vec<u8>,
    offset: u64,
    /// The rest is not read after damage, because the start of the next packet is unknown.
    stopped: bool,
    limits: ReadLimits,
    state: ReaderState,
}

/// The profile from the packets so far.
pub struct ReaderState {
    pub builder: ProfileBuilder,
    pub diagnostics: Diagnostics,
    pub sequences: FxHashMap<u64, Sequence>,
    pub clocks: Clocks,
    pub tracks: TrackTable,
    pub counters: Counters,
    pub scheduling: Scheduling,
    pub flows: Flows,
    packets: u64,
}

impl PerfettoReader {
    pub fn new(limits: ReadLimits) -> Self {
        let state = ReaderState {
            builder: ProfileBuilder::new(FORMAT),
            diagnostics: Diagnostics::new(),
            sequences: FxHashMap::default(),
            clocks: Clocks::default(),
            tracks: TrackTable::default(),
            counters: Counters::default(),
            scheduling: Scheduling::default(),
            flows: Flows::default(),
            packets: 0,
        };
        Self { buffer: Vec::new(), offset: 0, stopped: false, limits, state }
    }

    /// Takes the whole packets from the held bytes.
    fn run(&mut self) {
        let mut at = 0;
        while !self.stopped {
            let rest = &self.buffer[at..];
            match frame(rest) {
                Frame::Whole { from, to, is_packet } => {
                    if is_packet {
                        self.state.packet(&rest[from..to], self.offset + at as u64, true);
                    }
                    at += to;
                }
                Frame::NeedsMore => break,
                Frame::Bad => {
                    self.stopped = true;
                    self.state.diagnostics.add("bad_packet", Some(self.offset + at as u64), || {
                        "what is here is not a packet: nothing after it was read".to_owned()
                    });
                }
            }
        }
        self.offset += at as u64;
        self.buffer.drain(..at);
        if self.stopped {
            self.buffer = Vec::new();
        }
    }
}

enum Frame {
    /// The range of a packet, or of a field that is not a packet.
    Whole {
        from: usize,
        to: usize,
        is_packet: bool,
    },
    NeedsMore,
    Bad,
}

fn frame(bytes: &[u8]) -> Frame {
    let Some(&tag) = bytes.first() else { return Frame::NeedsMore };
    if tag & 7 != 2 || tag >= 0x80 || tag >> 3 == 0 {
        return Frame::Bad;
    }
    let Some((len, used)) = varint(&bytes[1..]) else {
        return if bytes.len() > 11 { Frame::Bad } else { Frame::NeedsMore };
    };
    if len > MAX_PACKET_BYTES {
        return Frame::Bad;
    }
    let (from, to) = (1 + used, 1 + used + u64_to_usize(len));
    if bytes.len() < to { Frame::NeedsMore } else { Frame::Whole { from, to, is_packet: tag == PACKET } }
}

impl ReaderState {
    fn packet(&mut self, packet: &[u8], offset: u64, may_unpack: bool) {
        self.packets += 1;
        let (mut timestamp, mut clock, mut sequence, mut flags) = (None, None, 0, 0);
        let (mut cleared, mut has_loss, mut event, mut defaults, mut interned) = (false, false, None, None, None);
        let mut parts = Vec::new();
        for (field, value) in Fields::of(packet) {
            match field {
                8 => timestamp = Some(value.u64()),
                58 => clock = Some(value.u64()),
                10 => sequence = value.u64(),
                13 => flags = value.u64(),
                41 => cleared = value.u64() != 0,
                42 => has_loss = value.u64() != 0,
                11 => event = Some(value.bytes()),
                59 => defaults = Some(value.bytes()),
                12 => interned = Some(value.bytes()),
                1 | 2 | 6 | 43 | 44 | 50 | 60 => parts.push((field, value.bytes())),
                _ => {}
            }
        }
        let known = self.sequences.entry(sequence).or_default();
        if cleared || flags & STATE_CLEARED != 0 {
            known.clear();
        } else if has_loss {
            // The lost packets may have changed the names that later packets refer to.
            known.is_whole = false;
        }
        if flags & NEEDS_STATE != 0 && !known.is_whole {
            self.builder.count_event(None);
            self.diagnostics.add("state_lost", Some(offset), || {
                "a packet refers to names and times that were lost before it: skipped".to_owned()
            });
            return;
        }
        if let Some(interned) = interned {
            known.intern(interned);
        }
        if let Some(defaults) = defaults {
            known.set_defaults(defaults);
        }
        for (field, bytes) in parts {
            match field {
                1 => self.scheduling.bundle(&mut self.builder, bytes),
                2 => self.tracks.process_tree(bytes),
                6 => self.clocks.snapshot(sequence, bytes),
                43 => self.tracks.old_process(sequence, bytes),
                44 => self.tracks.old_thread(sequence, bytes),
                60 => self.tracks.describe(bytes),
                _ if may_unpack => self.unpack(bytes, offset),
                _ => {}
            }
        }
        // Packets of every kind advance the clock of their sequence, because its times may be differences.
        let clock = clock.or_else(|| self.sequences.get(&sequence).and_then(|s| s.clock));
        let time = timestamp.map(|ts| self.clocks.trace_ns(sequence, clock, ts));
        if let Some(event) = event {
            self.track_event(event, sequence, time, offset);
        }
    }

    /// Packets that are packed with zlib.
    fn unpack(&mut self, bytes: &[u8], offset: u64) {
        match miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, MAX_UNPACKED_BYTES) {
            Ok(packets) => {
                for (field, value) in Fields::of(&packets) {
                    if field == 1 {
                        self.packet(value.bytes(), offset, false);
                    }
                }
            }
            Err(_) => self.diagnostics.add("bad_packet", Some(offset), || {
                "compressed packets do not unpack, or to too much: skipped".to_owned()
            }),
        }
    }
}

impl ChunkedReader for PerfettoReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), Refusal> {
        if self.stopped {
            return Ok(());
        }
        self.buffer.extend_from_slice(chunk);
        self.run();
        self.limits.check(&self.state.builder)
    }

    fn finish(mut self: Box<Self>) -> Result<Profile, Refusal> {
        self.run();
        let mut state = self.state;
        if !self.buffer.is_empty() {
            state.diagnostics.add("not_closed", Some(self.offset), || {
                "the file ends inside a packet: a trace that was cut off".to_owned()
            });
        }
        if state.packets == 0 {
            return Err(not_a_profile("a binary file"));
        }
        state.scheduling.finish(&mut state.builder);
        state.tracks.finish(&mut state.builder);
        state.flows.finish(&mut state.builder);
        state.counters.finish(&mut state.builder, &state.tracks);
        if state.builder.events() == 0 {
            let packets = state.packets;
            state.diagnostics.add("no_events", None, || {
                format!("none of the {packets} packets is of a kind that is read (track events, scheduling)")
            });
        }
        Ok(state.builder.finish(state.diagnostics))
    }

    fn progress(&self) -> ReadProgress {
        let bytes = self.offset + self.buffer.len() as u64;
        ReadProgress { file_bytes: bytes, text_bytes: bytes, events: self.state.builder.events() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(field: u8, n: u8) -> Vec<u8> {
        vec![field << 3, n]
    }

    fn message(field: u8, parts: &[Vec<u8>]) -> Vec<u8> {
        let body = parts.concat();
        let mut out = vec![field << 3 | 2];
        if field > 15 {
            out = vec![(field & 15) << 3 | 2 | 0x80, field >> 4];
        }
        out.push(body.len() as u8);
        out.extend(body);
        out
    }

    fn event(kind: u8) -> Vec<u8> {
        message(11, &[number(9, kind), number(10, 1)])
    }

    fn read(packets: &[Vec<u8>]) -> Profile {
        let mut reader = Box::new(PerfettoReader::new(ReadLimits::default()));
        reader.push(&packets.concat()).unwrap();
        reader.finish().unwrap()
    }

    fn spans(profile: &Profile) -> Vec<(String, i64, i64)> {
        let s = profile.slices();
        s.ids().map(|id| (profile.str(s.name(id)).to_owned(), s.start(id).0, s.dur_ns(id))).collect()
    }

    /// Begins anew: the name 1, and clock 64, whose times are differences.
    fn start(name: &str) -> Vec<u8> {
        let interned = message(12, &[message(2, &[number(1, 1), message(2, &[name.as_bytes().to_vec()])])]);
        let clocks =
            [message(1, &[number(1, 6), number(2, 100)]), message(1, &[number(1, 64), number(2, 0), number(3, 1)])];
        // Field 59, `TracePacketDefaults`, has the clock in field 58.
        let defaults = message(59, &[vec![0xd0, 0x03, 64]]);
        message(1, &[number(10, 1), number(13, 1), interned, message(6, &clocks), defaults])
    }

    #[test]
    fn packets_of_every_kind_move_a_clock_of_differences() {
        let sequence = || number(10, 1);
        let profile = read(&[
            start("a"),
            message(1, &[sequence(), number(13, 2), number(8, 5), event(1)]),
            message(1, &[sequence(), number(13, 2), number(8, 7)]),
            message(1, &[sequence(), number(13, 2), number(8, 1), event(2)]),
        ]);
        assert_eq!(spans(&profile), [("a".to_owned(), 0, 8)]);
        assert_eq!(profile.meta().origin_ns, 105);
        assert!(profile.diagnostics().is_empty());
    }

    #[test]
    fn events_after_lost_packets_are_counted_and_omitted() {
        let sequence = || number(10, 1);
        let lost = vec![0xd0, 0x02, 1];
        let profile = read(&[
            start("a"),
            message(1, &[sequence(), number(13, 2), number(8, 5), event(1)]),
            message(1, &[sequence(), number(13, 2), lost, number(8, 1), event(2)]),
            message(1, &[sequence(), number(13, 2), number(8, 1), event(1)]),
            start("b"),
            message(1, &[sequence(), number(13, 2), number(8, 9), event(1)]),
            message(1, &[sequence(), number(13, 2), number(8, 2), event(2)]),
        ]);
        let codes: Vec<_> = profile.diagnostics().items().iter().map(|d| (d.code.as_str(), d.count)).collect();
        assert_eq!(codes, [("state_lost", 2), ("begin_without_end", 1)]);
        assert!(spans(&profile).contains(&("b".to_owned(), 4, 2)), "{:?}", spans(&profile));
    }
}
