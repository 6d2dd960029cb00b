//! Files that are not profiles, by their first bytes, so that a message can say what was opened.

use ns_container::neuron::{is_neff, is_ntff};

/// First bytes, the name of the kind of file, and what to do with it, where possible.
const KNOWN: &[(&[u8], &str)] = &[
    (b"\x7fELF", "an ELF program or library"),
    (b"MZ", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a macOS program"),
    (b"\0asm", "a WebAssembly module"),
    (b"SQLite format 3\0", "a SQLite database (of Nsight Systems, export it as JSON)"),
    (b"PAR1", "a Parquet file (of Neuron Explorer, view it with --output-format json)"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"%PDF", "a PDF document"),
    (b"\x28\xb5\x2f\xfd", "a zstd file (unpack it with zstd -d)"),
    (b"\xfd7zXZ", "an xz file (unpack it with xz -d)"),
    (b"BZh", "a bzip2 file (unpack it with bzip2 -d)"),
    (b"7z\xbc\xaf", "a 7z archive (unpack it)"),
    (b"Rar!", "a RAR archive (unpack it)"),
    (b"PERFILE2", "Linux perf data (print it with perf script, whose output can be opened)"),
    (b"\x1c\0\0\0\x10\0\0\0", "Linux perf data (print it with perf script, whose output can be opened)"),
    (b"FLR\0", "a Java flight recording"),
    (b"\x10\0\x04FxT\x16\0", "a Fuchsia trace"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a numpy array"),
    (b"\x80\x02", "a Python pickle (a PyTorch memory snapshot is one: open it with memory_viz)"),
    (b"\x80\x03", "a Python pickle (a PyTorch memory snapshot is one: open it with memory_viz)"),
    (b"\x80\x04", "a Python pickle (a PyTorch memory snapshot is one: open it with memory_viz)"),
    (b"\x80\x05", "a Python pickle (a PyTorch memory snapshot is one: open it with memory_viz)"),
    (b"HloModule", "the text of an HLO module"),
    (b"go 1.", "a Go execution trace (open it with go tool trace, or take a pprof profile)"),
    (b"JAVA PROFILE", "a Java heap dump"),
    (b"memray\0", "a memray capture (its allocations: memray transform, or memray flamegraph)"),
    (b"*version", "a method trace of Android's runtime (record it with Perfetto instead)"),
    (b"SLOW", "a method trace of Android's runtime (record it with Perfetto instead)"),
    (b"SIMPLEPERF", "a simpleperf recording (simpleperf report-sample --protobuf, or its gecko_profile_generator.py)"),
    (b"simpleperf", "a simpleperf recording (simpleperf report-sample --protobuf, or its gecko_profile_generator.py)"),
    (b"bplist00", "a property list of macOS (of Instruments, export with xctrace)"),
    (b"{)\x03", CPROFILE),
    (b"{\xa9\x03", CPROFILE),
    (b"\xfb)\x03", CPROFILE),
    (b"\xfb\xa9\x03", CPROFILE),
    (b"BPFI", "a Windows trace (ETL: convert it with samply import or PerfView)"),
];

/// A marshalled dictionary whose keys are file, line and name.
const CPROFILE: &str = "statistics of Python's cProfile, which have no times (record with py-spy or VizTracer)";

/// Kinds of text, by a part of their start.
const KNOWN_TEXTS: &[(&str, &str)] = &[
    ("# callgrind format", "a Callgrind profile (open it in KCachegrind, or fold its stacks into collapsed ones)"),
    ("creator: callgrind", "a Callgrind profile (open it in KCachegrind, or fold its stacks into collapsed ones)"),
    (
        "Time and Allocation Profiling Report",
        "a GHC time profile (write it with +RTS -pj, or convert with ghc-prof-flamegraph)",
    ),
    ("Running Time\t", "a call tree copied from Instruments"),
    ("Self Weight\t", "a call tree copied from Instruments"),
    ("heap profile:", "a pprof profile as text (get it without debug=1, which gives the binary one)"),
    ("goroutine profile:", "a pprof profile as text (get it without debug=1, which gives the binary one)"),
    ("--- contention:", "a pprof profile as text (get it without debug=1, which gives the binary one)"),
    ("--- mutex:", "a pprof profile as text (get it without debug=1, which gives the binary one)"),
    ("log opened (PC)", "a Papyrus stack profile"),
    ("v8-version,", "a log of V8 (node --prof-process --preprocess, or --cpu-prof for a profile that opens)"),
    ("[BeginEvents]", "an Nsight Compute text report"),
];

/// The name of the kind of a text that is not a profile, if its start says so.
pub(super) fn name_of_text(head: &[u8]) -> Option<&'static str> {
    let has = |part: &str| memchr::memmem::find(head, part.as_bytes()).is_some();
    KNOWN_TEXTS.iter().find(|(part, _)| has(part)).map(|(_, name)| *name)
}

/// The name of the kind of a file with this start, if it is known.
pub(super) fn name_of(head: &[u8]) -> Option<&'static str> {
    if head.get(257..262) == Some(b"ustar") {
        return Some("a tar archive (unpack it; a NEFF is one)");
    }
    if is_neff(head) {
        return Some(
            "a Neuron executable (NEFF: run it under neuron-profile capture, and open what neuron-profile view writes)",
        );
    }
    if is_ntff(head) {
        return Some("a Neuron device profile (NTFF: view it with neuron-profile view --output-format json)");
    }
    KNOWN.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, name)| *name)
}
