//! Warm-up work that makes the next file open faster.

use std::fmt::Write as _;

use super::{Event, JobId, JobRequest, JobResult, Message, ProfileQuestion, Reply, Request, Session, StepResult};
use ns_view::timeline::{Outline, TimelineQuery, TrackId};

const EVENTS: u32 = 2_000;
const TRACKS: u32 = 16;

/// Opens a small trace and asks for its timeline, in a separate session that is then dropped. A browser compiles wasm
/// twice: quickly at first, then with optimisation for code that runs often. After some rounds the first large file runs optimised code.
///
/// Returns the number of slices that were drawn.
pub fn warm_up() -> usize {
    let mut session = Session::for_profiles();
    let text = trace();
    let (job, name, size) = (JobId(0), "warm-up.json".to_owned(), text.len() as u64);
    session.handle(Request::new(job, JobRequest::Open { name, size }), Some(Box::new(text)));
    let mut opened = None;
    run(&mut session, &mut |event| {
        if let Event::Message(_, Message::Done(JobResult::Profile(info))) = event {
            opened = Some(info);
        }
    });
    let Some(info) = opened else { return 0 };
    let query = query(&info.outline);
    session.handle(Request::new(job, ProfileQuestion::Timeline(query).of(info.profile)), None);
    let mut drawn = 0;
    run(&mut session, &mut |event| {
        if let Event::Message(_, Message::Answer(Reply::Timeline(tile))) = event {
            drawn = tile.tracks.iter().map(ns_view::timeline::TrackTile::len).sum();
        }
    });
    drawn
}

fn run(session: &mut Session, sink: &mut dyn FnMut(Event)) {
    while session.step(1_000, sink) == StepResult::More {}
}

fn query(outline: &Outline) -> TimelineQuery {
    let tracks: Vec<TrackId> = outline.tracks().map(|t| t.id).collect();
    TimelineQuery { span: outline.span, resolution_ns: 1 << 10, tracks, group: None }
}

/// Complete events in pairs, one nested in the other, a fifth of them with arguments: the content of most large traces.
fn trace() -> Vec<u8> {
    let mut text = String::from("{\"traceEvents\":[");
    for i in 0..EVENTS {
        let (track, pair) = (i / 2 % TRACKS, i / (2 * TRACKS));
        let (ts, dur) = if i % 2 == 0 { (pair * 100, 90) } else { (pair * 100 + 5, 40) };
        let (pid, tid, name) = (track / 4, track % 4, i % 97);
        let args =
            if i % 5 == 0 { format!(",\"args\":{{\"External id\":{i},\"bytes\":{dur}}}") } else { String::new() };
        let comma = if i == 0 { "" } else { "," };
        // Writing into a String cannot fail.
        let _ = write!(
            text,
            "{comma}\n{{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::op_{name}\",\"pid\":{pid},\"tid\":{tid},\
             \"ts\":{ts}.{i:03},\"dur\":{dur}.125{args}}}"
        );
    }
    text.push_str("]}");
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_reads_nests_and_draws() {
        assert!(warm_up() > EVENTS as usize / 4);
    }
}
