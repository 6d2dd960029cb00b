//! A small profile in the form of the Neuron plugin's, for tests of this room.

use super::{Outline, Section, SliceRef, TimelineTile, Track, TrackId, TrackKind, TrackTile};
use ns_base::{Interval, TraceNs};

/// The slice `fused_16`: starts at 11,452 ns and lasts 153 ns.
pub const FUSED_16: SliceRef = SliceRef(16);

/// Four sections; the last three with a module hierarchy of three rows.
pub fn outline() -> Outline {
    let mut next = 0;
    let mut track = |name: &str, rows: u16| {
        next += 1;
        Track { id: TrackId(next), name: name.into(), kind: TrackKind::Slices { rows } }
    };
    let overview = Section {
        name: "Process Overview".into(),
        tracks: ["Neuron Runtime Setup", "Compute Busy", "DMA Busy"].map(|n| track(n, 1)).into(),
    };
    let mut sections = vec![overview];
    for name in ["Process Control", "Process Execution", "Process Data Transfer"] {
        sections.push(Section {
            name: name.into(),
            tracks: vec![track("", 3), track("Framework Ops", 1), track("HLO Ops", 1)],
        });
    }
    Outline { span: Interval::new(TraceNs(0), TraceNs(20_000)), sections, ..Outline::default() }
}

/// Slices of every section.
pub fn tile() -> TimelineTile {
    let mut tile =
        TimelineTile { span: Interval::new(TraceNs(0), TraceNs(20_000)), resolution_ns: 1, ..TimelineTile::default() };
    let mut add = |track: u32, row: u16, name: &str, start: i64, duration: u64, slice: u32| {
        let name_id = tile.names.iter().position(|n| n == name).unwrap_or_else(|| {
            tile.names.push(name.into());
            tile.names.len() - 1
        });
        let columns = match tile.tracks.iter().position(|t| t.track == TrackId(track)) {
            Some(i) => &mut tile.tracks[i],
            None => {
                tile.tracks.push(TrackTile { track: TrackId(track), ..TrackTile::default() });
                tile.tracks.last_mut().expect("was just added")
            }
        };
        columns.push(SliceRef(slice), row, u32::try_from(name_id).expect("few names"), start, duration);
    };
    add(1, 0, "Neuron Runtime Setup", 0, 8_500, 100);
    add(1, 0, "Neuron Runtime Setup", 15_700, 4_300, 101);
    add(2, 0, "Compute Busy", 11_460, 230, 102);
    add(3, 0, "DMA Busy", 10_900, 1_340, 103);
    add(4, 0, "NN[model]", 12_400, 2_300, 104);
    add(7, 0, "NN[model]", 12_050, 3_350, 105);
    add(7, 1, "Linear[layer1].projected.0", 12_050, 140, 106);
    add(7, 2, "Linear[layer1]", 12_050, 140, 107);
    add(8, 0, "aten__addmm_dot", 12_050, 140, 108);
    add(9, 0, "%dot = dot(%p4, %transpose.1)", 12_050, 140, 109);
    add(10, 0, "NN[model]", 8_500, 7_200, 110);
    add(11, 0, "fused_15", 10_976, 476, 15);
    add(11, 0, "fused_16", 11_452, 153, FUSED_16.0);
    add(11, 0, "aten__addmm_add", 11_640, 180, 111);
    add(12, 0, "fused_7", 10_976, 476, 112);
    tile
}
