//! Adds events: slices, instants, links, counters.

use super::{LinkEvent, MAX_ABS_NS, ProfileBuilder, clamp};
use crate::rows::EndRow;
use crate::{ArgsId, SliceFlags, TrackId};
use ns_base::StrId;
use ns_base::convert::usize_to_u32;

impl ProfileBuilder {
    /// Adds a complete slice. Negative durations count as zero. `args_json`: the raw text of a JSON object.
    pub fn slice(
        &mut self,
        track: TrackId,
        start_ns: i64,
        dur_ns: i64,
        name: &str,
        category: &str,
        args_json: Option<&str>,
    ) {
        let (name, category) = (self.strings.intern(name), self.strings.intern(category));
        let args = args_json.map_or(ArgsId::NONE, |json| self.args.add(json));
        self.slice_of(track, start_ns, Some(dur_ns), name, category, args);
    }

    /// [`Self::slice`] by interned ids; a slice without a duration gets a flag and is shown with duration zero.
    pub fn slice_of(
        &mut self,
        track: TrackId,
        start_ns: i64,
        dur_ns: Option<i64>,
        name: StrId,
        category: StrId,
        args: ArgsId,
    ) {
        let flags = if dur_ns.is_none() { SliceFlags::NO_DURATION } else { SliceFlags::default() };
        let start_ns = clamp(start_ns);
        let dur_ns = dur_ns.unwrap_or(0).clamp(0, MAX_ABS_NS - start_ns);
        self.note(track, start_ns);
        self.note_time(start_ns + dur_ns);
        self.phase_counts.add("X", 1);
        self.slices.push(track, start_ns, dur_ns, name, category, args, flags);
    }

    /// Adds a slice that is made from events that are counted elsewhere, such as the samples of a profiler.
    pub fn derived_slice(
        &mut self,
        track: TrackId,
        start_ns: i64,
        end_ns: i64,
        name: StrId,
        category: StrId,
        args: ArgsId,
    ) {
        let start = clamp(start_ns);
        let dur = clamp(end_ns).saturating_sub(start).max(0);
        self.note_time(start);
        self.note_time(start + dur);
        self.slices.push(track, start, dur, name, category, args, SliceFlags::default());
    }

    /// Makes each unit of the complete slices so far a million: one is stored as a millionth from now on.
    pub fn count_in_millionths(&mut self) {
        let scaled = |ns: i64| clamp(ns.saturating_mul(crate::unit::PARTS));
        self.slices.start = self.slices.start.iter().map(scaled).collect();
        self.slices.dur = self.slices.dur.iter().map(scaled).collect();
        self.bounds = self.bounds.map(|(low, high)| (scaled(low), scaled(high)));
    }

    /// Begins a slice. [`Self::end`] closes the last open slice of the track, by time.
    pub fn begin(&mut self, track: TrackId, ts_ns: i64, name: StrId, category: StrId, args: ArgsId, byte_offset: u64) {
        let ts = clamp(ts_ns);
        self.note(track, ts);
        self.phase_counts.add("B", 1);
        let slice = usize_to_u32(self.slices.track.len());
        self.slices.push(track, ts, 0, name, category, args, SliceFlags::PAIRED);
        self.ends.push(EndRow { track, ts, slice: Some(slice), name, args, byte_offset }, slice);
    }

    /// Ends the last open slice of the track. `name` may be empty; `args` are added to those of the begin.
    pub fn end(&mut self, track: TrackId, ts_ns: i64, name: StrId, args: ArgsId, byte_offset: u64) {
        let ts = clamp(ts_ns);
        self.note(track, ts);
        self.phase_counts.add("E", 1);
        let slices = usize_to_u32(self.slices.track.len());
        self.ends.push(EndRow { track, ts, slice: None, name, args, byte_offset }, slices);
    }

    /// Adds an event at one instant. `phase`: `i`, or another letter of the Chrome format; `scope`: `t`, `p`, `g` or a space.
    #[allow(clippy::too_many_arguments, reason = "the fields of an event, each of another type")]
    pub fn instant(
        &mut self,
        track: TrackId,
        ts_ns: i64,
        phase: u8,
        scope: u8,
        name: StrId,
        category: StrId,
        args: ArgsId,
    ) {
        let ts = clamp(ts_ns);
        self.note(track, ts);
        self.count_phase_byte(phase);
        self.instants.push(track, ts, name, category, args, phase);
        self.instant_scope.push(scope);
    }

    /// Adds an event that an id joins to others.
    pub fn link(&mut self, event: LinkEvent) {
        self.count_phase_byte(event.phase);
        self.tracks[event.track].events += 1;
        self.derived_link(event);
    }

    /// Adds a step of a flow that another event carries, so it is not counted as an event.
    pub fn derived_link(&mut self, event: LinkEvent) {
        let ts = clamp(event.ts_ns);
        self.note_time(ts);
        self.links.push(event.track, ts, event.name, event.category, event.args, event.phase);
        let (tag, id) = event.id.tag();
        self.link_ids.tag.push(tag);
        self.link_ids.id.push(id);
        self.link_ids.binds_enclosing.push(event.binds_enclosing);
    }

    /// Adds one event of a counter with the values of its series; `track` is the track of the event, `id` may be empty.
    pub fn counter(&mut self, track: TrackId, ts: i64, name: StrId, id: StrId, values: &[(StrId, f64)]) {
        self.phase_counts.add("C", 1);
        self.derived_counter(track, ts, name, id, values);
    }

    /// Adds values of a counter that are part of an event that is counted already.
    pub fn derived_counter(&mut self, track: TrackId, ts_ns: i64, name: StrId, id: StrId, values: &[(StrId, f64)]) {
        let ts = clamp(ts_ns);
        self.note(track, ts);
        let process = self.tracks[track].process;
        self.counters.add((process, name, id), track, ts, values);
    }
}
