//! The rule: the rooms, what each may use, and the names that only shells may use.

/// What a room may use.
#[derive(Clone, Copy, Debug)]
pub enum Sees {
    /// These rooms.
    Only(&'static [&'static str]),
    /// Every room that is earlier in the table, but these.
    AllAboveBut(&'static [&'static str]),
}

use Sees::{AllAboveBut, Only};

/// Every room, in the order of the table in ARCHITECTURE.md.
pub const ROOMS: &[(&str, Sees)] = &[
    ("base", Only(&[])),
    ("tensor", Only(&["base"])),
    ("profile", Only(&["base"])),
    ("formats", Only(&["base", "profile"])),
    ("analysis", Only(&["base", "profile"])),
    ("machine", Only(&["base"])),
    ("insight", Only(&["base", "tensor", "profile", "machine"])),
    ("kernel", Only(&["base", "tensor", "machine"])),
    ("view", Only(&["base", "tensor", "profile", "analysis", "machine"])),
    ("import", Only(&["base", "tensor"])),
    ("model", Only(&["base", "tensor", "machine", "kernel"])),
    ("compiler", Only(&["base", "tensor", "machine", "kernel", "import", "model"])),
    ("neuron", Only(&["base", "tensor", "machine", "kernel", "model", "compiler"])),
    ("device", Only(&["base", "tensor", "machine", "kernel", "import", "model", "compiler", "neuron"])),
    ("bench", AllAboveBut(&["formats", "analysis", "insight", "view"])),
    ("experiment", AllAboveBut(&["formats", "analysis", "kernel", "import"])),
    ("capture", AllAboveBut(&["view", "import", "experiment"])),
    ("fidelity", Only(&["base", "tensor", "machine", "model", "compiler", "neuron", "device", "bench"])),
    ("session", AllAboveBut(&["fidelity"])),
    ("page", Only(&["base", "profile", "analysis", "insight", "view", "bench", "session"])),
    ("cli", AllAboveBut(&["page"])),
    (
        "web",
        Only(&[
            "base", "profile", "formats", "analysis", "machine", "insight", "view", "import", "bench", "session",
            "page",
        ]),
    ),
];

/// Rooms that know files, threads, clocks, the terminal or the web.
pub const SHELLS: &[&str] = &["cli", "web"];

/// Allowed re-exports of a room from another room: the name, and the reason. Everything else is imported from the room that
/// defines it, so that the table shows which room uses which.
pub const SHOWN: &[(&str, &str)] = &[
    (
        "bench::ServiceTimes",
        "requests and events carry the times of a row; the page passes them on and knows no device",
    ),
    ("session::BROUGHT_PREFIX", "a form of the page tells a model of a file from one of the zoo"),
    ("session::BatchRule", "a field of events"),
    ("session::BroughtSettings", "a field of requests"),
    ("session::ModelLibrary", "the command line runs models of a session without requests"),
    ("session::OpenedModel", "a field of events"),
    ("session::AutoCast", "a form of the page fills the options of a request with it"),
    ("session::CastType", "a form of the page fills the options of a request with it"),
    ("session::CompileOptions", "a field of requests"),
    ("session::OptLevel", "a form of the page fills the options of a request with it"),
    ("session::Workflow", "a field of requests"),
    ("session::without_source", "links and notes of both shells leave the source of a kernel out in the same way"),
    ("session::NumericsReport", "a field of events"),
    ("session::NumericsSpec", "a field of requests"),
    ("session::Origin", "what a report of an event is made of"),
    ("session::OutputComparison", "what a report of an event is made of"),
    ("session::Sample", "what a report of an event is made of"),
    ("session::value_text", "both shells write a value of a report in the same way"),
    ("session::Rounding", "a form of the page fills the options of a request with it"),
];

/// Folders in which no file uses a file that uses it. `cargo test --test it layering::circles -- --ignored --nocapture` prints
/// the others that could be listed.
pub const WITHOUT_CIRCLES: &[&str] = &[
    "analysis/query",
    "analysis/sentences",
    "base",
    "capture",
    "capture/bench_run",
    "cli/commands/experiment",
    "cli/parquet",
    "cli/serve",
    "compiler",
    "compiler/codegen",
    "compiler/from_program",
    "compiler/hlo/eval",
    "compiler/hlo/text",
    "device",
    "device/library",
    "experiment",
    "experiment/aggregate",
    "experiment/analyze",
    "experiment/figure",
    "experiment/micro",
    "experiment/plan",
    "experiment/record",
    "experiment/regression",
    "experiment/verify",
    "formats/json",
    "formats/plugin",
    "formats/sampled",
    "formats/write",
    "insight",
    "insight/findings",
    "kernel",
    "kernel/operator",
    "kernel/run",
    "machine/arch",
    "model/nn",
    "model/zoo",
    "model/zoo/operator",
    "model/zoo/text",
    "model/zoo/vision",
    "neuron",
    "neuron/gpsimd",
    "neuron/numerics",
    "neuron/sim",
    "profile/levels",
    "session/analysis",
    "session/commands",
    "session/experiments",
    "session/inspect",
    "session/pages",
    "session/protocol",
    "session/results",
    "session/share/profile_link",
    "session/shelf",
    "session/studies",
    "session/timeline",
    "tensor",
    "tensor/kernels",
    "view",
    "view/colours",
    "view/flame",
    "view/graph",
    "view/page",
    "view/plot",
];

/// Names that only shells may use outside tests: modules and types of std, and crates that need files, threads,
/// a terminal or a browser. Everything below a name is forbidden with it.
pub const SHELL_ONLY: &[&str] = &[
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "std::io::Stdin",
    "std::io::Stdout",
    "std::io::Stderr",
    "std::io::IsTerminal",
    "std::time::Instant",
    "std::time::SystemTime",
    "anyhow",
    "clap",
    "clap_complete",
    "clap_mangen",
    "console_error_panic_hook",
    "ctrlc",
    "font8x8",
    "gloo_events",
    "gloo_timers",
    "include_dir",
    "indicatif",
    "js_sys",
    "parquet",
    "serde_wasm_bindgen",
    "tiny_http",
    "tiny_skia",
    "wasm_bindgen",
    "wasm_bindgen_futures",
    "web_sys",
    "yew",
];

/// Macros that only shells call.
pub const SHELL_MACROS: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];

/// Whether a room with this name exists.
pub fn is_room(name: &str) -> bool {
    ROOMS.iter().any(|(room, _)| *room == name)
}

/// The rooms that a room may use, in the order of the table.
pub fn seen_by(room: &str) -> Vec<&'static str> {
    let Some(at) = ROOMS.iter().position(|(name, _)| *name == room) else { return Vec::new() };
    let is_seen = |(place, name): (usize, &str)| match ROOMS[at].1 {
        Only(rooms) => rooms.contains(&name),
        AllAboveBut(rooms) => place < at && !rooms.contains(&name),
    };
    ROOMS.iter().enumerate().filter(|(place, (name, _))| is_seen((*place, name))).map(|(_, (name, _))| *name).collect()
}

/// Whether a room may use another.
pub fn may_use(room: &str, other: &str) -> bool {
    room == other || seen_by(room).contains(&other)
}
