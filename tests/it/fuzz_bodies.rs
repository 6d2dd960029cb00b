//! The bodies of the fuzz targets on stable Rust, with inputs made of typical pieces of the formats, the same in every run.
//! `./x fuzz` searches further.

use neuronscope::analysis::summary::OpenSummary;
use neuronscope::base::Rng;
use neuronscope::formats::{WriteFormat, read_bytes};

mod skeletons {
    include!("../../fuzz/skeletons.rs");
}
use skeletons::{JSON_SKELETONS, PROTOBUF_BEGINNINGS, TEXT_BEGINNINGS};

const ROUNDS: u32 = 400;

const JSON_PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "{\"a\":",
    "[[",
    "]]",
    "0",
    "1",
    "-1",
    "2.5",
    "1e300",
    "99999999999999999999",
    "null",
    "true",
    "NaN",
    "\"",
    "\"x\"",
    "\"\\u0000\"",
    "\"name\":\"n\",",
    "\"frame\":1,",
    "\"frames\":[",
    "\"samples\":[",
    "\"weights\":[1,",
    "\"type\":\"evented\",",
    "\"type\":\"sampled\",",
    "\"unit\":\"none\",",
    "\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1}",
    "\"children\":[2],",
    "\"id\":2,",
    "\"schema\":{",
    "\"data\":[",
    "\"stackTable\":{",
    "\"prefix\":",
    "\"stack\":",
    "\"time\":",
    "\"length\":1,",
    "\"timestamp\":1,",
    "\"duration\":1,",
    "\"ph\":\"B\",",
    "\"ph\":\"E\",",
    "\"ph\":\"X\",",
    "\"ts\":1,",
    "\"op_name\":\"a\",",
    "\"op_time\":1,",
];

fn below(rng: &mut Rng, n: usize) -> usize {
    rng.next_u32() as usize % n
}

/// Reads an input, summarises the profile, writes it in every format, and reads the Chrome trace again, which gives the same.
fn must_end(bytes: &[u8]) {
    let Ok(profile) = read_bytes("fuzzed", bytes) else { return };
    let _ = OpenSummary::of(&profile);
    for format in WriteFormat::ALL {
        let _ = format.write(&profile);
    }
    let text = WriteFormat::Chrome.write(&profile);
    let again = read_bytes("fuzzed", &text).expect("what is written can be read");
    assert_eq!(WriteFormat::Chrome.write(&again), text, "{}", String::from_utf8_lossy(bytes));
}

#[test]
fn json_of_every_format_ends() {
    let mut rng = Rng::new(21, 1);
    for (before, after) in JSON_SKELETONS {
        for _ in 0..ROUNDS {
            let n = below(&mut rng, 30);
            let pieces: String = (0..n).map(|_| JSON_PIECES[below(&mut rng, JSON_PIECES.len())]).collect();
            must_end(format!("{before}{pieces}{after}").as_bytes());
        }
    }
}

#[test]
fn protocol_buffers_of_every_format_end() {
    let mut rng = Rng::new(21, 2);
    for beginning in PROTOBUF_BEGINNINGS {
        for _ in 0..ROUNDS {
            let mut bytes = beginning.to_vec();
            // Fields of small numbers: varints, and lengths that mostly fit.
            for _ in 0..below(&mut rng, 20) {
                let (field, kind) = (1 + below(&mut rng, 15) as u8, below(&mut rng, 4));
                let content: Vec<u8> = (0..below(&mut rng, 12)).map(|_| rng.next_u32() as u8 % 32).collect();
                match kind {
                    0 => bytes.extend([field << 3, rng.next_u32() as u8 & 0x7f]),
                    3 => bytes.extend([field << 3 | 2, rng.next_u32() as u8]),
                    _ => {
                        bytes.extend([field << 3 | 2, content.len() as u8]);
                        bytes.extend(content);
                    }
                }
            }
            must_end(&bytes);
        }
    }
}

#[test]
fn text_of_every_format_ends() {
    let mut rng = Rng::new(21, 3);
    let pieces = [
        "a;b 1\n",
        ";",
        " ",
        "\n",
        "-1 [000] ",
        "1.5: ",
        "0: B|1|x\n",
        "E|1\n",
        "C|1|n|3\n",
        "</script>",
        "<script>",
        "{\"ph\":",
        "}",
        "\0",
    ];
    for beginning in TEXT_BEGINNINGS {
        for _ in 0..ROUNDS {
            let n = below(&mut rng, 20);
            let tail: String = (0..n).map(|_| pieces[below(&mut rng, pieces.len())]).collect();
            must_end(&[beginning, tail.as_bytes()].concat());
        }
    }
}
