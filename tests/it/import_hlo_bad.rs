//! Readers of HLO and StableHLO on files that are damaged, very long or very deep: an error or a program, within seconds.

use std::path::Path;

use neuronscope::program::ImportOptions;
use neuronscope::readers::{read_hlo_proto, read_hlo_text, read_model, read_stablehlo};
use proptest::prelude::*;

use crate::odd_traces::gzip;

/// Reads bytes with every reader; the answers do not matter here.
fn read_all(bytes: &[u8]) {
    let options = ImportOptions::default();
    let text = String::from_utf8_lossy(bytes);
    let _ = read_hlo_proto(bytes, &options);
    let _ = read_hlo_text(&text, &options);
    let _ = read_stablehlo(&text, &options);
}

fn fixtures() -> Vec<Vec<u8>> {
    const NAMES: [&str; 8] = [
        "hlo/nn-442--torchxla2.9.0-named.hlo.txt",
        "hlo/nn-442--torchxla2.9.0.hlo_module.pb",
        "hlo/flax-tiny-lstm--jax0.10.2.hlo.txt",
        "hlo/flax-nn-442--jax0.10.2-optimized.hlo.txt",
        "hlo/tiny-cnn--torchxla2.9.0.hlo_module.pb",
        "stablehlo/flax-tiny-conv1d--jax0.10.2.mlir",
        "stablehlo/flax-nn-442--jax0.10.2-debug.mlir",
        "stablehlo/nn-442--torchxla2.9.0-debug.mlir",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models");
    NAMES.iter().map(|name| std::fs::read(root.join(name)).unwrap()).collect()
}

#[test]
fn a_model_is_packed_at_most_once() {
    let read = |bytes: Vec<u8>| read_model("model.gz", &bytes, &ImportOptions::default()).map(|_| ());
    for file in fixtures() {
        let packed = gzip(&file);
        read(packed.clone()).unwrap();
        assert!(read(gzip(&packed)).unwrap_err().to_string().contains("a gzip file inside a gzip file"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_answered(
        file in 0..8usize,
        cut in 0.0..1.3f64,
        changes in prop::collection::vec((0.0..1.0f64, any::<u8>()), 0..6),
        copied in prop::option::of((0.0..1.0f64, 0.0..1.0f64, 0..200usize)),
    ) {
        let mut bytes = fixtures().swap_remove(file);
        let at = |share: f64, len: usize| ((share * len as f64) as usize).min(len.saturating_sub(1));
        for (share, byte) in changes {
            let position = at(share, bytes.len());
            bytes[position] = byte;
        }
        if let Some((from, to, len)) = copied {
            let from = at(from, bytes.len());
            let piece = bytes[from..bytes.len().min(from + len)].to_vec();
            let to = at(to, bytes.len());
            bytes.splice(to..to, piece);
        }
        if cut < 1.0 {
            bytes.truncate(at(cut, bytes.len()));
        }
        read_all(&bytes);
    }
}

/// A module with one entry computation.
fn module(body: &str) -> String {
    format!("HloModule m\nENTRY e {{\n  x0 = f32[4] parameter(0)\n{body}}}\n")
}

#[test]
fn a_hundred_thousand_instructions_are_read() {
    let lines: Vec<String> = (1..100_000).map(|i| format!("  x{i} = f32[4] tanh(x{})\n", i - 1)).collect();
    let imported = read_hlo_text(&module(&lines.concat()), &ImportOptions::default()).unwrap();
    assert_eq!(imported.inspection.ops["tanh"], 99_999);
    let lines: Vec<String> =
        (1..100_000).map(|i| format!("    %{i} = stablehlo.tanh %{} : tensor<4xf32>\n", i - 1)).collect();
    let text = format!(
        "func.func @main(%0: tensor<4xf32>) -> tensor<4xf32> {{\n{}    return %99999 : tensor<4xf32>\n}}\n",
        lines.concat()
    );
    assert_eq!(read_stablehlo(&text, &ImportOptions::default()).unwrap().inspection.ops["stablehlo.tanh"], 99_999);
}

#[test]
fn a_name_of_a_megabyte_is_read_and_shortened_in_messages() {
    let name = "n".repeat(1 << 20);
    let good = module(&format!("  {name} = f32[4] tanh(x0)\n"));
    assert!(read_hlo_text(&good, &ImportOptions::default()).is_ok());
    let bad = read_hlo_text(&module(&format!("  {name} = f32[5] tanh(x0)\n")), &ImportOptions::default());
    assert!(bad.unwrap_err().to_string().len() < 400);
    let bad = read_hlo_text(&module(&format!("  y = f32[4] tanh({name})\n")), &ImportOptions::default());
    assert!(bad.unwrap_err().to_string().len() < 400);
}

#[test]
fn deep_and_doubling_programs_end() {
    // Tuples of tuples, brackets, regions in regions.
    read_all(format!("HloModule m\nENTRY e {{\n x = {} parameter(0)\n}}", "(".repeat(100_000)).as_bytes());
    read_all(format!("HloModule m, a={}", "{".repeat(100_000)).as_bytes());
    read_all(format!("module {{ {}", "module { ".repeat(100_000)).as_bytes());
    read_all(format!("func.func @main() {{ {}", "%0 = \"a.b\"() ({ ".repeat(100_000)).as_bytes());
    // Each computation calls the one before twice: 2^60 calls.
    let mut text = "HloModule m\nc0 {\n p = f32[2,2] parameter(0)\n ROOT r = f32[2,2] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n".to_owned();
    for i in 1..60 {
        let before = i - 1;
        text += &format!(
            "c{i} {{\n p = f32[2,2] parameter(0)\n a = f32[2,2] call(p), to_apply=c{before}\n ROOT r = f32[2,2] call(a), to_apply=c{before}\n}}\n"
        );
    }
    text += "ENTRY e {\n p = f32[2,2] parameter(0)\n ROOT r = f32[2,2] call(p), to_apply=c59\n}\n";
    let imported = read_hlo_text(&text, &ImportOptions::default()).unwrap();
    assert_eq!(imported.inspection.flops, 16 << 59);
    // A number that doubles in a loop's condition.
    let mut condition = " i = s32[] parameter(0)\n".to_owned();
    let mut last = "i".to_owned();
    for k in 0..60 {
        condition += &format!(" d{k} = s32[] add({last}, {last})\n");
        last = format!("d{k}");
    }
    let text = format!(
        "HloModule m\nb {{\n i = s32[] parameter(0)\n ROOT n = s32[] add(i, i)\n}}\nc {{\n{condition} ROOT r = pred[] compare({last}, i), direction=LT\n}}\nENTRY e {{\n z = s32[] constant(0)\n ROOT w = s32[] while(z), condition=c, body=b\n}}\n"
    );
    assert!(read_hlo_text(&text, &ImportOptions::default()).is_err());
}
