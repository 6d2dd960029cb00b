//! How much memory opening a file takes: for each format a text of about 60 MB is made, opened in a process of its own,
//! and the peak of that process's memory (beyond what it had before) is printed as a share of the text.
//!
//! `cargo bench --bench open_memory [-- FORMAT...]`; prints ratios, asserts nothing. Where `/proc` is not there it says so.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::disallowed_methods, missing_docs)]

use std::fmt::Write as _;
use std::io::Read;
use std::process::Command;

use neuronscope::base::Rng;
use neuronscope::profile::formats::{ChunkedReader, ProfileReader, WriteFormat, read_bytes};

/// Bytes of text made for each format, about.
const TEXT_BYTES: usize = 60 << 20;
/// Functions that stacks are made of.
const FUNCTIONS: u32 = 3000;

/// Makes the file of a format.
type Make = fn() -> Vec<u8>;

const FORMATS: [(&str, Make); 16] = [
    ("chrome X", chrome_complete),
    ("chrome B E", chrome_begin_end),
    ("speedscope evented", speedscope_evented),
    ("speedscope sampled", speedscope_sampled),
    ("cpuprofile", cpuprofile),
    ("firefox columns", firefox_columns),
    ("firefox rows", firefox_rows),
    ("collapsed", collapsed),
    ("stackprof", stackprof),
    ("pprof", pprof),
    ("xplane", xplane),
    ("xplane with stats", xplane_with_stats),
    ("memory timeline", memory_timeline),
    ("rocprof", rocprof),
    ("neuron-profile", neuron_profile),
    ("perfetto", perfetto),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    if let [flag, path] = args.as_slice()
        && flag == "open"
    {
        return open(path);
    }
    println!("{:20} {:>9} {:>10} {:>9} {:>6} {:>8}", "format", "text MB", "slices", "peak MB", "ratio", "seconds");
    for (name, make) in FORMATS {
        if args.is_empty() || args.iter().any(|a| name.contains(a.as_str())) {
            measure(name, &make());
        }
    }
}

fn measure(name: &str, text: &[u8]) {
    let path = std::env::temp_dir().join(format!("neuronscope-open-memory-{}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let child = Command::new(std::env::current_exe().unwrap()).arg("open").arg(&path).output().unwrap();
    std::fs::remove_file(&path).unwrap();
    let answer = String::from_utf8(child.stdout).unwrap();
    let [slices, kib, ms] = answer.split_whitespace().map(|w| w.parse::<f64>().unwrap()).collect::<Vec<_>>()[..] else {
        println!("{name:20} {}", String::from_utf8_lossy(&child.stderr).trim());
        return;
    };
    let (text_mb, peak_mb) = (text.len() as f64 / 1e6, kib * 1024.0 / 1e6);
    println!("{name:20} {text_mb:9.1} {slices:10} {peak_mb:9.1} {:6.2} {:8.2}", peak_mb / text_mb, ms / 1e3);
}

/// Opens a file as the command line does; prints slices, KiB of memory at the peak beyond those at the start, and ms.
fn open(path: &str) {
    let mut file = std::fs::File::open(path).unwrap();
    let mut chunk = vec![0xa5; 1 << 20];
    let before = peak_kib();
    let start = std::time::Instant::now();
    let mut reader = Box::new(ProfileReader::new("measured"));
    loop {
        let read = file.read(&mut chunk).unwrap();
        if read == 0 {
            break;
        }
        reader.push(&chunk[..read]).unwrap();
    }
    let profile = reader.finish().unwrap();
    let ms = start.elapsed().as_millis();
    println!("{} {} {ms}", profile.slices().len(), peak_kib() - before);
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("memory is only measured where /proc is");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A number below `n`.
fn below(rng: &mut Rng, n: u32) -> u32 {
    rng.next_u32() % n
}

/// The stack of a program that is sampled: half of the samples find it as it was, others find some frames changed.
struct Walk {
    rng: Rng,
    stack: Vec<u32>,
}

impl Walk {
    fn new() -> Self {
        Self { rng: Rng::new(11, 1), stack: vec![0, 1, 2, 3] }
    }

    /// The number of frames that stayed.
    fn step(&mut self) -> usize {
        let mut kept = self.stack.len();
        if below(&mut self.rng, 2) == 0 {
            kept -= 1 + below(&mut self.rng, 3).min(kept as u32 - 2) as usize;
            self.stack.truncate(kept);
            let pushed = 1 + below(&mut self.rng, 3).min(24 - kept.min(24) as u32);
            // What a function calls is one of a few.
            for _ in 0..pushed {
                let caller = self.stack.last().copied().unwrap_or(0);
                self.stack.push((caller * 7 + 1 + below(&mut self.rng, 6)) % FUNCTIONS);
            }
        }
        kept
    }

    /// Microseconds to the next sample.
    fn delta_us(&mut self) -> u32 {
        990 + below(&mut self.rng, 30)
    }
}

fn function(i: u32) -> String {
    format!("package.module{}.Class{}.method_{i}", i % 17, i % 311)
}

fn file(i: u32) -> String {
    format!("file:///srv/app/node_modules/package{}/lib/module{}.js", i % 17, i % 311)
}

fn chrome_complete() -> Vec<u8> {
    let (mut rng, mut text) = (Rng::new(11, 2), String::from("{\"traceEvents\":[\n"));
    let mut now_ns = 1_700_000_000_000_000u64;
    let mut i = 0u64;
    while text.len() < TEXT_BYTES {
        now_ns += u64::from(below(&mut rng, 20_000));
        let dur = below(&mut rng, 9_000);
        let _ = writeln!(
            text,
            "{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{}.{:03},\"dur\":{dur}.{:03},\
             \"args\":{{\"External id\":{i},\"correlation\":{},\"stream\":7}}}},",
            function(below(&mut rng, FUNCTIONS)),
            i % 2,
            i % 8,
            now_ns / 1000,
            now_ns % 1000,
            dur % 1000,
            i * 3
        );
        i += 1;
    }
    text.push_str("{}]}");
    text.into_bytes()
}

fn chrome_begin_end() -> Vec<u8> {
    let (mut walk, mut text) = (Walk::new(), String::from("[\n"));
    let (mut now, mut open) = (0u64, Vec::new());
    while text.len() < TEXT_BYTES {
        let kept = walk.step().min(open.len());
        now += u64::from(walk.delta_us());
        while open.len() > kept {
            open.pop();
            let _ = writeln!(text, "{{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":{now}}},");
        }
        for &frame in &walk.stack[kept..] {
            open.push(frame);
            let name = function(frame);
            let _ = writeln!(text, "{{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":{now},\"name\":\"{name}\"}},");
        }
    }
    text.push_str("{}]");
    text.into_bytes()
}

fn speedscope(profile: &str, fill: impl FnOnce(&mut String)) -> Vec<u8> {
    let mut text =
        String::from("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[");
    for i in 0..FUNCTIONS {
        let _ = write!(
            text,
            "{}{{\"name\":\"{}\",\"file\":\"{}\",\"line\":{i}}}",
            if i > 0 { "," } else { "" },
            function(i),
            file(i)
        );
    }
    let _ = write!(
        text,
        "]}},\"profiles\":[{{\"name\":\"p\",\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":9,{profile}"
    );
    fill(&mut text);
    text.push_str("}]}");
    text.into_bytes()
}

fn speedscope_evented() -> Vec<u8> {
    speedscope("\"type\":\"evented\",\"events\":[", |text| {
        let (mut walk, mut now, mut open) = (Walk::new(), 0u64, Vec::new());
        let mut comma = "";
        while text.len() < TEXT_BYTES {
            let kept = walk.step().min(open.len());
            now += u64::from(walk.delta_us());
            while open.len() > kept {
                let frame: u32 = open.pop().unwrap();
                let _ = write!(text, "{comma}{{\"type\":\"C\",\"frame\":{frame},\"at\":{now}}}");
            }
            for &frame in &walk.stack[kept..] {
                open.push(frame);
                let _ = write!(text, "{comma}{{\"type\":\"O\",\"frame\":{frame},\"at\":{now}}}");
                comma = ",";
            }
        }
        text.push(']');
    })
}

fn numbers(text: &mut String, numbers: impl IntoIterator<Item = u64>) {
    for (i, n) in numbers.into_iter().enumerate() {
        let _ = write!(text, "{}{n}", if i > 0 { "," } else { "" });
    }
}

fn speedscope_sampled() -> Vec<u8> {
    speedscope("\"type\":\"sampled\",\"samples\":[", |text| {
        let (mut walk, mut weights) = (Walk::new(), Vec::new());
        while text.len() + weights.len() * 5 < TEXT_BYTES {
            walk.step();
            text.push_str(if weights.is_empty() { "[" } else { ",[" });
            numbers(text, walk.stack.iter().map(|&f| u64::from(f)));
            text.push(']');
            weights.push(u64::from(walk.delta_us()));
        }
        text.push_str("],\"weights\":[");
        numbers(text, weights);
        text.push(']');
    })
}

/// A tree of calls with the node of each sample.
struct Calls {
    /// Function and caller of each node.
    nodes: Vec<(u32, usize)>,
    known: std::collections::BTreeMap<(usize, u32), usize>,
    walk: Walk,
}

impl Calls {
    fn new() -> Self {
        Self { nodes: vec![(0, 0)], known: std::collections::BTreeMap::new(), walk: Walk::new() }
    }

    /// The node of the next sample. Stacks of a real program repeat: no more than a few ten thousand nodes are made.
    fn sample(&mut self) -> u64 {
        self.walk.step();
        let mut node = 0;
        for &function in &self.walk.stack {
            let next = self.nodes.len();
            if let Some(&known) = self.known.get(&(node, function)) {
                node = known;
            } else if next < 40_000 {
                self.nodes.push((function, node));
                self.known.insert((node, function), next);
                node = next;
            } else {
                break;
            }
        }
        node as u64
    }
}

fn cpuprofile() -> Vec<u8> {
    let (mut calls, mut samples, mut deltas) = (Calls::new(), Vec::new(), Vec::new());
    while samples.len() * 11 < TEXT_BYTES - (8 << 20) {
        samples.push(calls.sample() + 1);
        deltas.push(u64::from(calls.walk.delta_us()));
    }
    let mut children = vec![Vec::new(); calls.nodes.len()];
    for (i, &(_, parent)) in calls.nodes.iter().enumerate().skip(1) {
        children[parent].push(i as u64 + 1);
    }
    let mut text = String::from("{\"nodes\":[");
    for (i, &(f, _)) in calls.nodes.iter().enumerate() {
        let (comma, name) = if i == 0 { ("", "(root)".to_owned()) } else { (",", function(f)) };
        let _ = write!(
            text,
            "{comma}{{\"id\":{},\"callFrame\":{{\"functionName\":\"{name}\",\"scriptId\":\"{f}\",\"url\":\"{}\",\
             \"lineNumber\":{f},\"columnNumber\":3}},\"hitCount\":1,\"children\":[",
            i + 1,
            file(f)
        );
        numbers(&mut text, children[i].iter().copied());
        text.push_str("]}");
    }
    text.push_str("],\"startTime\":1000000,\"endTime\":1000001,\"samples\":[");
    numbers(&mut text, samples);
    text.push_str("],\"timeDeltas\":[");
    numbers(&mut text, deltas);
    text.push_str("]}");
    text.into_bytes()
}

/// Strings, frames and functions of a thread of Firefox, and its samples.
fn firefox_samples() -> (Calls, Vec<(u64, u64)>) {
    let (mut calls, mut samples, mut now) = (Calls::new(), Vec::new(), 0u64);
    while samples.len() * 22 < TEXT_BYTES {
        now += u64::from(calls.walk.delta_us());
        samples.push((calls.sample(), now));
    }
    (calls, samples)
}

fn strings(text: &mut String) {
    for i in 0..FUNCTIONS {
        let _ = write!(text, "{}\"{} ({}:{i})\"", if i > 0 { "," } else { "" }, function(i), file(i));
    }
}

fn firefox_columns() -> Vec<u8> {
    let (calls, samples) = firefox_samples();
    let mut text = String::from(
        "{\"meta\":{\"interval\":1,\"version\":27,\"preprocessedProfileVersion\":47,\"categories\":[{\"name\":\"Other\"}]},\
         \"libs\":[],\"threads\":[{\"name\":\"main\",\"pid\":1,\"tid\":1,\"stringArray\":[",
    );
    strings(&mut text);
    let column = |text: &mut String, key: &str, values: &mut dyn Iterator<Item = String>| {
        let _ = write!(text, "\"{key}\":[");
        for (i, value) in values.enumerate() {
            text.push_str(if i > 0 { "," } else { "" });
            text.push_str(&value);
        }
        text.push(']');
    };
    let n = FUNCTIONS;
    let _ = write!(text, "],\"funcTable\":{{\"length\":{n},");
    column(&mut text, "name", &mut (0..n).map(|i| i.to_string()));
    let _ = write!(text, "}},\"frameTable\":{{\"length\":{n},");
    column(&mut text, "func", &mut (0..n).map(|i| i.to_string()));
    let _ = write!(text, "}},\"stackTable\":{{\"length\":{},", calls.nodes.len());
    column(&mut text, "frame", &mut calls.nodes.iter().map(|n| n.0.to_string()));
    text.push(',');
    let prefix = |(i, n): (usize, &(u32, usize))| if i == 0 { "null".to_owned() } else { n.1.to_string() };
    column(&mut text, "prefix", &mut calls.nodes.iter().enumerate().map(prefix));
    let _ = write!(text, "}},\"samples\":{{\"length\":{},\"weightType\":\"samples\",", samples.len());
    column(&mut text, "stack", &mut samples.iter().map(|s| s.0.to_string()));
    text.push(',');
    column(&mut text, "time", &mut samples.iter().map(|s| format!("{}.{:03}", s.1 / 1000, s.1 % 1000)));
    text.push_str("}}]}");
    text.into_bytes()
}

fn firefox_rows() -> Vec<u8> {
    let (calls, samples) = firefox_samples();
    let mut text = String::from(
        "{\"meta\":{\"interval\":1,\"version\":24,\"startTime\":1,\"processType\":0},\"libs\":[],\"threads\":[{\"name\":\"main\",\"pid\":1,\"tid\":1,\
         \"stringTable\":[",
    );
    strings(&mut text);
    text.push_str("],\"frameTable\":{\"schema\":{\"location\":0},\"data\":[");
    for i in 0..FUNCTIONS {
        let _ = write!(text, "{}[{i}]", if i > 0 { "," } else { "" });
    }
    text.push_str("]},\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[");
    for (i, &(frame, prefix)) in calls.nodes.iter().enumerate() {
        let prefix = if i == 0 { "null".to_owned() } else { prefix.to_string() };
        let _ = write!(text, "{}[{prefix},{frame}]", if i > 0 { "," } else { "" });
    }
    text.push_str("]},\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"eventDelay\":2},\"data\":[");
    for (i, &(stack, us)) in samples.iter().enumerate() {
        let _ = write!(text, "{}[{stack},{}.{:03},0]", if i > 0 { "," } else { "" }, us / 1000, us % 1000);
    }
    text.push_str("]}}]}");
    text.into_bytes()
}

fn collapsed() -> Vec<u8> {
    let (mut walk, mut text) = (Walk::new(), String::new());
    while text.len() < TEXT_BYTES {
        walk.step();
        let names: Vec<String> = walk.stack.iter().map(|f| format!("fn_{f}")).collect();
        let _ = writeln!(text, "{} {}", names.join(";"), 1 + below(&mut walk.rng, 40));
    }
    text.into_bytes()
}

fn stackprof() -> Vec<u8> {
    let mut text = String::from("{\"version\":1.2,\"mode\":\"wall\",\"interval\":1000,\"samples\":9,\"frames\":{");
    for i in 0..FUNCTIONS {
        let comma = if i > 0 { "," } else { "" };
        let _ = write!(
            text,
            "{comma}\"{}\":{{\"name\":\"{}\",\"file\":\"{}\",\"line\":{i}}}",
            140_000_000 + u64::from(i),
            function(i),
            file(i)
        );
    }
    text.push_str("},\"raw\":[");
    let (mut walk, mut deltas) = (Walk::new(), Vec::new());
    while text.len() + deltas.len() * 5 < TEXT_BYTES {
        walk.step();
        let _ = write!(text, "{}{},", if deltas.is_empty() { "" } else { "," }, walk.stack.len());
        numbers(&mut text, walk.stack.iter().map(|&f| 140_000_000 + u64::from(f)).chain([1]));
        deltas.push(u64::from(walk.delta_us()));
    }
    text.push_str("],\"raw_timestamp_deltas\":[");
    numbers(&mut text, deltas);
    text.push_str("]}");
    text.into_bytes()
}

/// Writes protocol buffers.
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
}

fn pprof() -> Vec<u8> {
    let mut file = Message::default().bytes(1, &Message::default().number(1, 1).number(2, 2).0);
    for i in 0..u64::from(FUNCTIONS) {
        let line = Message::default().number(1, i + 1).number(2, i);
        file = file.bytes(4, &Message::default().number(1, i + 1).number(3, i * 16).bytes(4, &line.0).0);
        file = file.bytes(5, &Message::default().number(1, i + 1).number(2, i + 3).0);
    }
    for name in ["", "cpu", "nanoseconds"].map(str::to_owned).into_iter().chain((0..FUNCTIONS).map(function)) {
        file = file.bytes(6, name.as_bytes());
    }
    let mut walk = Walk::new();
    while file.0.len() < TEXT_BYTES {
        walk.step();
        let mut places = Message::default();
        walk.stack.iter().rev().for_each(|&f| places.varint(u64::from(f) + 1));
        let mut value = Message::default();
        value.varint(u64::from(walk.delta_us()) * 1000);
        file = file.bytes(2, &Message::default().bytes(1, &places.0).bytes(2, &value.0).0);
    }
    file.0
}

fn xplane() -> Vec<u8> {
    xplane_of(|event, _| event)
}

fn xplane_with_stats() -> Vec<u8> {
    xplane_of(|event, i| {
        let stat = |id: u64, n: u64| Message::default().number(1, id).number(4, n).0;
        event.bytes(4, &stat(1, i)).bytes(4, &stat(2, i * 3))
    })
}

fn xplane_of(stats: impl Fn(Message, u64) -> Message) -> Vec<u8> {
    let mut rng = Rng::new(11, 3);
    let mut plane = Message::default().number(1, 1).bytes(2, b"/device:TPU:0");
    let mut i = 0;
    for line in 0..4 {
        let mut lines = Message::default().number(1, line).bytes(2, b"XLA Ops").number(3, 1_700_000_000_000_000_000);
        let mut now_ps = 0;
        while lines.0.len() < TEXT_BYTES / 4 {
            let dur = u64::from(below(&mut rng, 9_000_000));
            let event = Message::default().number(1, u64::from(below(&mut rng, FUNCTIONS)));
            lines = lines.bytes(4, &stats(event.number(2, now_ps).number(3, dur), i).0);
            now_ps += dur + 1_000_000;
            i += 1;
        }
        plane = plane.bytes(3, &lines.0);
    }
    for i in 0..FUNCTIONS {
        let metadata = Message::default().number(1, u64::from(i)).bytes(2, function(i).as_bytes());
        plane = plane.bytes(4, &Message::default().number(1, u64::from(i)).bytes(2, &metadata.0).0);
    }
    for (id, name) in [(1, "correlation_id"), (2, "group_id")] {
        let metadata = Message::default().number(1, id).bytes(2, name.as_bytes());
        plane = plane.bytes(5, &Message::default().number(1, id).bytes(2, &metadata.0).0);
    }
    Message::default().bytes(1, &plane.0).0
}

fn memory_timeline() -> Vec<u8> {
    let (mut rng, mut text, mut now) = (Rng::new(11, 4), String::from("["), 1_700_000_000_000_000_000u64);
    while text.len() < TEXT_BYTES {
        now += u64::from(below(&mut rng, 20_000));
        let (action, bytes, kind) = (below(&mut rng, 4), below(&mut rng, 1 << 24), below(&mut rng, 8));
        let _ = write!(text, "{}[{now}, {action}, {bytes}, {kind}]", if text.len() > 1 { ", " } else { "" });
    }
    text.push(']');
    text.into_bytes()
}

fn rocprof() -> Vec<u8> {
    let mut text = String::from(
        "{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":1},\"agents\":[],\"kernel_symbols\":[{\"kernel_id\":1,\
         \"formatted_kernel_name\":\"gemm\"}],\"buffer_records\":{\"kernel_dispatch\":[",
    );
    let (mut rng, mut now, mut i) = (Rng::new(11, 5), 1_700_000_000_000u64, 0u64);
    while text.len() < TEXT_BYTES {
        let dur = u64::from(below(&mut rng, 50_000));
        let _ = write!(
            text,
            "{}{{\"size\":64,\"kind\":11,\"operation\":2,\"thread_id\":7,\"correlation_id\":{{\"internal\":{i},\"external\":0}},\
             \"start_timestamp\":{now},\"end_timestamp\":{},\"dispatch_info\":{{\"size\":1,\"agent_id\":{{\"handle\":5}},\
             \"queue_id\":{{\"handle\":1}},\"kernel_id\":1,\"dispatch_id\":{i}}}}}",
            if i > 0 { "," } else { "" },
            now + dur
        );
        now += dur + 100;
        i += 1;
    }
    text.push_str("]}}]}");
    text.into_bytes()
}

fn neuron_profile() -> Vec<u8> {
    let (mut rng, mut now, mut text) = (Rng::new(11, 6), 1_700_000_000_000u64, String::from("{\"instruction\":["));
    let mut i = 0;
    while text.len() < TEXT_BYTES {
        let dur = u64::from(below(&mut rng, 5000));
        let _ = write!(
            text,
            "{}{{\"timestamp\":{now},\"duration\":{dur},\"opcode\":\"MATMUL\",\"label\":\"pe\",\"subgroup\":\"PE\",\
             \"hlo_name\":\"{}\",\"nc_idx\":0,\"operands\":\"src={i} dst={now}\",\"pc\":{i}}}",
            if i > 0 { "," } else { "" },
            function(below(&mut rng, FUNCTIONS)),
        );
        now += dur + 10;
        i += 1;
    }
    text.push_str("]}");
    text.into_bytes()
}

fn perfetto() -> Vec<u8> {
    WriteFormat::Perfetto.write(&read_bytes("made", &chrome_complete()).unwrap())
}
