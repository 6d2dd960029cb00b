//! What a file is, from its first bytes and its name: asked once, before anybody reads it.

use ns_base::Diagnostics;
use ns_bench::export::CSV_COLS;
use ns_bench::import::other_tool;
use ns_container::gzip::{Gunzip, is_gzip};
use ns_container::zip::Unzip;
use ns_fidelity::TableKind;
use ns_formats::{FileKind, is_plugin_file};
use ns_kernel::is_source_name;
use ns_llm::is_gguf;
use ns_nki::List;
use ns_program::file::{MODEL_ENDINGS, is_model_head};

/// Bytes of a file's start that [`sniff`] wants.
pub const HEAD_BYTES: usize = 1 << 16;

/// Most layers of packing that are looked into.
const DEEPEST: u32 = 3;

/// What a file is, and so who reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A profile, or something else that only the readers of profiles can name.
    Profile,
    /// A model, in a format that is read or in one whose refusal names another format.
    Model,
    /// Records of experiments, one JSON object on a line.
    Records,
    /// A table of figures of devices.
    Figures,
    /// Benchmark reports.
    Reports,
    /// A model index.
    Index,
    /// The source of a custom operator, or the script that builds its library.
    Kernel,
    /// The source of an NKI kernel.
    Nki,
    /// The `config.json` of a language model, or a GGUF file.
    Decoder,
    /// An archive of files that are none of these as far as can be seen.
    Archive,
    /// Something else: its name in a message.
    NotOurs(&'static str),
}

/// Keys of benchmark reports and of results with timers, as JSON has them.
const REPORT_KEYS: [&[u8]; 5] =
    [b"\"throughput_avg\"", b"\"latency_ms_p50\"", b"\"n_models\"", b"\"reports\"", b"\"timers\""];

/// The key that only a model index has.
const INDEX_KEY: &[u8] = b"\"model_configs\"";

/// Keys of the `config.json` of a transformer: one that all have, and those of which it has one.
const DECODER_KEYS: (&[u8], [&[u8]; 4]) =
    (b"\"vocab_size\"", [b"\"model_type\"", b"\"architectures\"", b"\"hidden_size\"", b"\"n_embd\""]);

/// What a file is. `head`: its first [`HEAD_BYTES`], or all of it.
pub fn sniff(head: &[u8], name: &str) -> Kind {
    if is_nki(head, name) {
        return Kind::Nki;
    }
    if is_build_script(head, name) {
        return Kind::Kernel;
    }
    sniff_inside(head, &name.to_ascii_lowercase(), DEEPEST)
}

/// Whether a file of Python or a notebook has a kernel: it names `nki.jit`, or imports NKI and decorates a function with `@jit`. Or a recorded list.
fn is_nki(head: &[u8], name: &str) -> bool {
    let has = |text: &[u8]| holds(head, text);
    let name = name.to_ascii_lowercase();
    if name.ends_with(".json") {
        return List::is_list(head);
    }
    [".py", ".ipynb"].iter().any(|end| name.ends_with(end))
        && (has(b"nki.jit") || (has(b"@jit") && (has(b"import nki") || has(b"from nki") || has(b"neuronxcc.nki"))))
}

/// Whether a Python file builds the library of a custom operator.
fn is_build_script(head: &[u8], name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".py") && holds(head, b"custom_op") && holds(head, b"compute_srcs")
}

fn sniff_inside(head: &[u8], name: &str, deepest: u32) -> Kind {
    if is_plugin_file(name) {
        return Kind::Profile;
    }
    if deepest > 0 && is_gzip(head) {
        return sniff_inside(&unpacked_head(head), name.strip_suffix(".gz").unwrap_or(name), deepest - 1);
    }
    let file = ns_formats::sniff(head);
    let kind = match file {
        _ if is_gguf(head) => Kind::Decoder,
        FileKind::ExperimentResults | FileKind::JsonLines => Kind::Records,
        FileKind::NeuronPerfCsv => Kind::Reports,
        _ if name.ends_with(".csv") && TableKind::of(head).is_some() => Kind::Figures,
        _ if is_of_other_tool(head, name) => Kind::Reports,
        FileKind::JsonObject if holds(head, INDEX_KEY) && !is_trace(head) => Kind::Index,
        FileKind::JsonObject | FileKind::JsonArray | FileKind::JsonRows if holds_reports(head) => Kind::Reports,
        FileKind::JsonObject if holds_decoder(head) && !is_trace(head) => Kind::Decoder,
        // These are told by little: an archive, a message of protocol buffers, zeros at every other byte, a `<` at the front.
        FileKind::Zip
        | FileKind::Pprof
        | FileKind::XPlane
        | FileKind::Perfetto
        | FileKind::Utf16
        | FileKind::Markup
            if is_model_head(head) =>
        {
            Kind::Model
        }
        FileKind::Zip => in_archive(head, deepest),
        other => match other.refused() {
            None => Kind::Profile,
            Some(_) if is_model_head(head) => Kind::Model,
            Some(_) if name.ends_with(".csv") && has_report_column(head) => Kind::Reports,
            Some(what) => Kind::NotOurs(what),
        },
    };
    // What may be anything goes by its name: an empty model, the page that a server gave instead of one, lines that are cut off.
    let is_open = match kind {
        Kind::Profile => {
            matches!(file, FileKind::Markup | FileKind::JsonObject | FileKind::JsonArray | FileKind::JsonRows)
        }
        Kind::Archive | Kind::NotOurs(_) => true,
        Kind::Model
        | Kind::Records
        | Kind::Figures
        | Kind::Reports
        | Kind::Index
        | Kind::Kernel
        | Kind::Nki
        | Kind::Decoder => false,
    };
    match kind {
        // A line that begins with `#` is one of MLIR too.
        Kind::NotOurs(_) | Kind::Model if is_source_name(name) => Kind::Kernel,
        _ if is_open && MODEL_ENDINGS.iter().any(|end| name.ends_with(end)) => Kind::Model,
        Kind::Profile | Kind::NotOurs(_) if is_open && name.ends_with(".jsonl") => Kind::Records,
        kind => kind,
    }
}

/// Whether the first line of a table names a column of reports.
fn has_report_column(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_known = |cell: &[u8]| CSV_COLS.iter().any(|column| column.as_bytes() == cell.trim_ascii());
    line.split(|byte| *byte == b',').any(is_known)
}

/// Whether results of another tool are in a file. A source or a model may name the same words.
fn is_of_other_tool(head: &[u8], name: &str) -> bool {
    let is_result =
        [".json", ".jsonl", ".csv", ".txt", ".log"].iter().any(|end| name.ends_with(end)) || !name.contains('.');
    is_result && other_tool(head).is_some() && !is_trace(head)
}

fn holds_reports(head: &[u8]) -> bool {
    REPORT_KEYS.iter().any(|key| holds(head, key)) && !is_trace(head)
}

fn holds_decoder(head: &[u8]) -> bool {
    let (always, others) = DECODER_KEYS;
    holds(head, always) && others.iter().any(|key| holds(head, key))
}

fn holds(head: &[u8], key: &[u8]) -> bool {
    memchr::memmem::find(head, key).is_some()
}

fn is_trace(head: &[u8]) -> bool {
    holds(head, b"\"traceEvents\"") || holds(head, b"\"ph\"")
}

/// As much as the head of a gzip file unpacks to, up to [`HEAD_BYTES`].
fn unpacked_head(head: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    // Damage is for the reader to tell; it reads up to there.
    let _ = Gunzip::default().push(head, &mut |bytes| take(&mut out, bytes), &mut Diagnostics::new());
    out
}

fn take(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), ns_base::Refusal> {
    out.extend_from_slice(&bytes[..bytes.len().min(HEAD_BYTES - out.len())]);
    Ok(())
}

/// What an archive holds, by the first of its files that says so.
fn in_archive(head: &[u8], deepest: u32) -> Kind {
    let (mut unzip, mut diagnostics, mut rest) = (Unzip::default(), Diagnostics::new(), head);
    let mut file: Option<(String, Vec<u8>)> = None;
    let kind_of = |file: Option<(String, Vec<u8>)>| {
        let (name, content) = file?;
        let kind = sniff_inside(&content, &name.to_ascii_lowercase(), deepest.checked_sub(1)?);
        matches!(kind, Kind::Profile | Kind::Records | Kind::Figures | Kind::Reports | Kind::Index).then_some(kind)
    };
    loop {
        let mut sink = |bytes: &[u8]| file.as_mut().map_or(Ok(()), |(_, content)| take(content, bytes));
        let left = unzip.push(rest, &mut sink, &mut diagnostics).unwrap_or(0);
        let begun = unzip.begun.take();
        if begun.is_none() {
            return kind_of(file).unwrap_or(Kind::Archive);
        }
        if let Some(kind) = kind_of(std::mem::replace(&mut file, begun.map(|name| (name, Vec::new())))) {
            return kind;
        }
        rest = &rest[rest.len() - left..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_container::zip::write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        out.extend(miniz_oxide::deflate::compress_to_vec(bytes, 6));
        out.extend([0; 8]);
        out
    }

    #[test]
    fn content_decides_and_then_the_name() {
        let trace = b"{\"traceEvents\":[";
        let record = b"{\"experiment\":{},\"metrics\":{}}\n";
        let list: &[u8] = b"{\"format\":\"neuronscope-nki-list\",\"version\":1";
        let notebook: &[u8] = br#"{"cells": [{"cell_type": "code", "source": ["@nki.jit"]}]}"#;
        for (head, name) in [(list, "a.json"), (notebook, "a.ipynb"), (b"@nki.jit # busbw(GB/s)", "A.PY")] {
            assert_eq!(sniff(head, name), Kind::Nki, "{name}");
        }
        let cases: [(&[u8], &str, Kind); 28] = [
            (trace, "a.onnx", Kind::Profile),
            (record, "a.json", Kind::Records),
            (b"{\"reports\":[]}", "a", Kind::Reports),
            (b"{\"backend\":\"vllm\",\"total_token_throughput\":3764.7}", "a.json", Kind::Reports),
            (b"    size(B)  count(elems)  type  time:avg(us)  algbw(GB/s)  busbw(GB/s)\n", "a.txt", Kind::Reports),
            (b"n_models,workers\n1,1\n", "a.txt", Kind::Reports),
            (b"model,instance,batch_size,throughput\n", "a.csv", Kind::Figures),
            (b"what,metric,unit,value\n", "a.csv", Kind::Figures),
            (b"status,throughput_avg\n", "a.csv", Kind::Reports),
            (b"a,b,c\n1,2,3\n", "a.csv", Kind::NotOurs("a text file")),
            (b"HloModule m\nENTRY e {", "a", Kind::Model),
            (b"#map = affine_map<(d0) -> (d0)>\n", "a", Kind::Model),
            (b"# Notes\nSome words.\n", "README.md", Kind::NotOurs("a text file")),
            (b"module @m {", "a.txt", Kind::Model),
            (b"", "a.onnx", Kind::Model),
            (b"<!DOCTYPE html>", "a.onnx", Kind::Model),
            (b"\x80\x02}q\0", "weights.pth", Kind::Model),
            (b"", "a.jsonl", Kind::Records),
            (b"{}\n", "a.jsonl", Kind::Records),
            (b"\x7fELF\x02\x01", "a", Kind::NotOurs("an ELF program or library")),
            (b"some words", "a.txt", Kind::NotOurs("a text file")),
            (b"a,b\n", "logs/plugins/neuron/r/neuron_hlo_op.json", Kind::Profile),
            (b"#include <torch/library.h>\n", "relu.cpp", Kind::Kernel),
            (trace, "relu.cpp", Kind::Profile),
            (br#"{"model_type": "llama", "vocab_size": 128256}"#, "config.json", Kind::Decoder),
            (br#"{"hidden_size": 64, "vocab_size": 128256}"#, "tiny.json", Kind::Decoder),
            (b"GGUF\x03\0\0\0", "model-Q4_K_M.gguf", Kind::Decoder),
            (b"", "a.json", Kind::NotOurs("an empty file")),
        ];
        for (head, name, kind) in cases {
            assert_eq!(sniff(head, name), kind, "{name}: {:?}", String::from_utf8_lossy(head));
            assert_eq!(sniff(&gzip(&gzip(head)), &format!("{name}.gz.gz")), kind, "{name} packed twice");
        }
    }

    #[test]
    fn what_neuronperf_writes_is_known_wherever_it_is_dropped() {
        let older = r#"{"version": "0.0.0.0+0bc220a", "model_configs": [{"filename": "m.pt", "input_idx": 0}]}"#;
        let newer = r#"{"NeuronPerf_version": "1.8", "model_name": "nn", "model_configs": []}"#;
        for index in [older, newer] {
            assert_eq!(sniff(index.as_bytes(), "npi2.json"), Kind::Index);
        }
        let array = r#"[{"model_filename": "m.pt", "n_models": 1, "throughput_avg": 307.2}]"#;
        let pairs = r#"[[{"model_filename": "m.pt", "batch_size": 1}, {"timers": {"e2e": []}}]]"#;
        let reports = [ns_bench::Report::default()];
        let own = ns_bench::export::to_json(&reports).unwrap();
        let bare = ns_bench::export::to_json_as(&reports, ns_bench::export::JsonFormat::Neuronperf, None).unwrap();
        let csv = ns_bench::export::to_csv(&reports, ns_bench::export::CSV_COLS).unwrap();
        for text in [array, pairs, &own, &bare, &csv] {
            assert_eq!(sniff(text.as_bytes(), "r2.json"), Kind::Reports, "{text}");
        }
    }

    #[test]
    fn an_archive_has_the_kind_of_its_first_known_file() {
        let of = |files: &[(&str, &[u8])]| {
            let files: Vec<_> = files.iter().map(|(n, c)| ((*n).to_owned(), c.to_vec())).collect();
            sniff(&write(&files), "a.zip")
        };
        assert_eq!(of(&[("a.png", b"\x89PNG"), ("b.json", b"[{\"ph\":\"X\"}]")]), Kind::Profile);
        assert_eq!(of(&[("r.jsonl", b"{\"experiment\":{},\"metrics\":{}}\n")]), Kind::Records);
        assert_eq!(of(&[("a.png", b"\x89PNG")]), Kind::Archive);
        assert_eq!(of(&[("m/data.pkl", b"\x80\x02"), ("m/code/__torch__.py", b"")]), Kind::Model);
    }
}
