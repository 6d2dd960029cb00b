//! The interned names and defaults that the packets of one writer refer to.

use ns_base::FxHashMap;
use ns_base::wire::Fields;

/// Interned texts and defaults of one packet sequence.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    pub(super) categories: FxHashMap<u64, String>,
    pub(super) names: FxHashMap<u64, String>,
    pub(super) annotation_names: FxHashMap<u64, String>,
    pub(super) annotation_texts: FxHashMap<u64, String>,
    pub(super) locations: FxHashMap<u64, (String, String, u64)>,
    /// Whether everything since the writer last began anew was read.
    pub(super) is_whole: bool,
    /// Clock of packets that name none.
    pub(super) clock: Option<u64>,
    pub(super) track: Option<u64>,
    pub(super) counter_tracks: Vec<u64>,
    pub(super) double_counter_tracks: Vec<u64>,
    /// Last time of a thread whose events have only differences (`timestamp_delta_us`).
    pub(super) last_us: i64,
}

impl Sequence {
    /// Forgets everything: the writer begins again.
    pub fn clear(&mut self) {
        *self = Self { is_whole: true, ..Self::default() };
    }

    /// Takes `InternedData`.
    pub fn intern(&mut self, message: &[u8]) {
        for (field, value) in Fields::of(message) {
            let table = match field {
                1 => &mut self.categories,
                2 => &mut self.names,
                3 => &mut self.annotation_names,
                29 => &mut self.annotation_texts,
                4 => {
                    let (mut iid, mut place) = (0, (String::new(), String::new(), 0));
                    for (field, value) in Fields::of(value.bytes()) {
                        match field {
                            1 => iid = value.u64(),
                            2 => place.0 = value.text().into_owned(),
                            3 => place.1 = value.text().into_owned(),
                            4 => place.2 = value.u64(),
                            _ => {}
                        }
                    }
                    self.locations.insert(iid, place);
                    continue;
                }
                _ => continue,
            };
            let (mut iid, mut text) = (0, String::new());
            for (field, value) in Fields::of(value.bytes()) {
                match field {
                    1 => iid = value.u64(),
                    2 => text = value.text().into_owned(),
                    _ => {}
                }
            }
            table.insert(iid, text);
        }
    }

    /// Takes `TracePacketDefaults`.
    pub fn set_defaults(&mut self, message: &[u8]) {
        for (field, value) in Fields::of(message) {
            match field {
                58 => self.clock = Some(value.u64()),
                11 => {
                    for (field, value) in Fields::of(value.bytes()) {
                        match field {
                            11 => self.track = Some(value.u64()),
                            31 => self.counter_tracks.extend(value.varints().take(64)),
                            45 => self.double_counter_tracks.extend(value.varints().take(64)),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
