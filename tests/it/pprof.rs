//! Profiles of pprof whose samples have several values: each kind is a profile.

use neuronscope::formats::{ChunkedReader, ProfileReader, read_bytes};
use neuronscope::profile::Profile;

use crate::open_text::{codes, rows};

/// A message of fields, in protocol buffers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    fn number(mut self, field: u64, n: u64) -> Self {
        self.varint(field << 3);
        self.varint(n);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn packed(self, field: u64, numbers: &[i64]) -> Self {
        let mut list = Self::default();
        numbers.iter().for_each(|&n| list.varint(n as u64));
        self.bytes(field, &list.0)
    }
}

/// A heap profile as Go writes it: `main` allocates 3 objects of 10 bytes and keeps 1; `f`, called by it, allocates 5 of
/// 4 bytes and keeps none.
fn heap(default_type: u64, samples: &[(&[i64], [i64; 4])]) -> Vec<u8> {
    let strings = ["", "alloc_objects", "count", "alloc_space", "bytes", "inuse_objects", "inuse_space", "main", "f"];
    let mut file = Message::default();
    for (kind, unit) in [(1, 2), (3, 4), (5, 2), (6, 4)] {
        file = file.bytes(1, &Message::default().number(1, kind).number(2, unit).0);
    }
    for (stack, values) in samples {
        file = file.bytes(2, &Message::default().packed(1, stack).packed(2, values).0);
    }
    for (id, name) in [(1, 7), (2, 8)] {
        let line = Message::default().number(1, id).0;
        file = file.bytes(4, &Message::default().number(1, id).bytes(4, &line).0);
        file = file.bytes(5, &Message::default().number(1, id).number(2, name).0);
    }
    for text in strings {
        file = file.bytes(6, text.as_bytes());
    }
    file.number(14, default_type).0
}

const GO_HEAP: [(&[i64], [i64; 4]); 2] = [(&[1], [3, 30, 1, 10]), (&[2, 1], [5, 20, 0, 0])];

fn all(bytes: &[u8]) -> Vec<Profile> {
    let mut reader = ProfileReader::new("heap.pb.gz");
    reader.push(bytes).unwrap();
    reader.finish_all().unwrap()
}

fn titles(profiles: &[Profile]) -> Vec<&str> {
    profiles.iter().map(|p| p.meta().title.as_str()).collect()
}

#[test]
fn every_kind_is_a_profile_and_the_default_is_first() {
    let [in_use, objects, space, kept] =
        ["inuse_space (bytes)", "alloc_objects (count)", "alloc_space (bytes)", "inuse_objects (count)"];
    let profiles = all(&heap(0, &GO_HEAP));
    assert_eq!(titles(&profiles), [in_use, objects, space, kept], "the last is the default");
    let row = |kind: &str, name, dur| format!("pprof/{kind} {name} {dur}");
    // A sample with the value 0 of a kind is not in its profile.
    assert_eq!(rows(&profiles[0]), [row(in_use, "main", "0+10")]);
    assert_eq!(rows(&profiles[1]), [row(objects, "main", "0+8"), row(objects, "f", "3+5")]);
    assert_eq!(rows(&profiles[2]), [row(space, "main", "0+50"), row(space, "f", "30+20")]);
    assert_eq!(rows(&profiles[3]), [row(kept, "main", "0+1")]);
    for profile in &profiles {
        assert_eq!((profile.meta().events, codes(profile)), (2, vec![("weights_are_no_times".to_owned(), 1)]));
    }
    // The file's default kind (the number of a text) comes before the rest.
    assert_eq!(titles(&all(&heap(3, &GO_HEAP))), [space, objects, kept, in_use]);
}

#[test]
fn a_profile_names_the_other_profiles() {
    let one = read_bytes("heap.pb.gz", &heap(0, &GO_HEAP)).unwrap();
    assert_eq!((one.meta().title.as_str(), one.diagnostics().count("other_values")), ("heap.pb.gz", 3));
    assert_eq!(rows(&one), ["pprof/inuse_space (bytes) main 0+10"]);
}

#[test]
fn differences_below_zero_are_counted() {
    let profiles = all(&heap(1, &[(&[1], [-3, 30, 1, 10]), (&[2, 1], [5, 20, 0, 0])]));
    assert_eq!(rows(&profiles[0]), ["pprof/alloc_objects (count) main 0+5", "pprof/alloc_objects (count) f 0+5"]);
    assert_eq!(profiles[0].diagnostics().count("negative_weight"), 1);
    assert_eq!(profiles[1].diagnostics().count("negative_weight"), 0);
}

#[test]
fn in_an_archive_they_are_named_by_file_and_kind() {
    let bytes = heap(0, &GO_HEAP);
    let stored = |name: &str| {
        let len = (bytes.len() as u32).to_le_bytes();
        let mut entry = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0".to_vec();
        entry.extend(crc(&bytes).to_le_bytes());
        entry.extend(len.iter().chain(&len));
        entry.extend((name.len() as u16).to_le_bytes());
        entry.extend([0, 0]);
        entry.extend(name.bytes());
        entry.extend(&bytes);
        entry
    };
    let alone = all(&stored("a.pb"));
    assert_eq!((alone.len(), alone[0].meta().title.as_str()), (4, "inuse_space (bytes)"));
    let two = all(&[stored("a.pb"), stored("b.pb")].concat());
    assert_eq!((two.len(), two[4].meta().title.as_str()), (8, "b.pb/inuse_space (bytes)"));
}

/// CRC-32 of zip archives.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &b| {
        (0..8).fold(crc ^ u32::from(b), |crc, _| crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}
