//! pprof profiles (`profile.proto`): samples with the places of their stacks and one value for each kind of sample.
//!
//! Schema: <https://github.com/google/pprof/blob/main/proto/profile.proto>. The format has no times of samples:
//! stacks are shown one after another, each as long as its value. A sample whose value of a kind is 0 is left out of
//! the profile of that kind.

use super::frames::{WeightUnit, bad_sample, check_slices};
use crate::document::TextContent;
use crate::stacks::{MAX_STACK, StackFrame, StackTrack, frame};
use ns_base::Refusal;
use ns_base::wire::{Fields, Wire};
use ns_base::{Diagnostics, FxHashMap};
use ns_profile::ProfileBuilder;

/// The most kinds of samples that are shown; only hostile files have more.
const MAX_KINDS: usize = 16;

/// Reads a whole file: a profile for each kind of sample, since their values have no common axis.
pub(crate) fn read_pprof(bytes: &[u8]) -> Result<TextContent, Refusal> {
    let mut file = File::default();
    let mut fields = Fields::of(bytes);
    for (field, value) in fields.by_ref() {
        file.add(field, value);
    }
    let mut damage = Diagnostics::new();
    if !fields.is_done() {
        let at = fields.offset();
        damage.add("not_closed", Some(at as u64), || {
            "the file is cut off or damaged here: read as far as it goes".to_owned()
        });
    }
    let mut kinds = file.kinds();
    for kind in kinds.drain(kinds.len().min(MAX_KINDS)..) {
        damage.add("other_values", None, || format!("samples also have {}: not shown", kind.title()));
    }
    let read = kinds.iter().map(|kind| read_kind(&file, bytes, kind, &damage));
    read.collect::<Result<_, _>>().map(TextContent::Several)
}

/// The samples with the values of one kind.
fn read_kind(
    file: &File<'_>,
    bytes: &[u8],
    kind: &Kind,
    damage: &Diagnostics,
) -> Result<(ProfileBuilder, Diagnostics), Refusal> {
    let (mut builder, mut diagnostics) = (ProfileBuilder::new("pprof"), damage.clone());
    builder.set_title(&kind.title());
    let unit = WeightUnit::from_name(&kind.unit);
    unit.note(&kind.unit, &mut builder, &mut diagnostics);
    let process = builder.process("", "pprof");
    let track = builder.thread(process, "", &kind.title());
    let (mut now, mut stack, mut frames) = (0i64, StackTrack::new(track), Vec::new());
    let mut made = FxHashMap::default();
    let mut sample = Sample::default();
    for (_, message) in Fields::of(bytes).filter(|(field, _)| *field == SAMPLE) {
        sample.read(message);
        let Some(&value) = sample.values.get(kind.column) else {
            builder.count_event(None);
            bad_sample(&mut diagnostics, None, "a sample has no value of the kind that is shown");
            continue;
        };
        builder.count_event(Some("P"));
        builder.note_track(track);
        if value <= 0 {
            diagnostics.add_many("negative_weight", u64::from(value < 0), None, || {
                format!("a sample counts {value}, as the difference of two profiles has it: not shown")
            });
            continue;
        }
        frames.clear();
        // The innermost place comes first, and within it the innermost inlined function.
        for location in sample.locations.iter().rev() {
            let lines = made.entry(*location).or_insert_with(|| file.frames(&mut builder, *location));
            frames.extend(lines.iter().copied());
        }
        stack.set(&mut builder, now, &frames);
        now = now.saturating_add(unit.scale(value));
        check_slices(&builder, bytes.len())?;
    }
    stack.finish(&mut builder, now);
    Ok((builder, diagnostics))
}

/// A kind of sample: one of the values that every sample has.
struct Kind {
    /// The index of its value.
    column: usize,
    name: String,
    unit: String,
}

impl Kind {
    fn title(&self) -> String {
        format!("{} ({})", self.name, self.unit)
    }
}

/// The field of a sample in the file. Samples are most of the file: they stay in place, and are read when everything
/// that they refer to is known.
const SAMPLE: u32 = 2;

#[derive(Default)]
struct Sample {
    locations: Vec<u64>,
    values: Vec<i64>,
}

impl Sample {
    fn read(&mut self, message: Wire<'_>) {
        self.locations.clear();
        self.values.clear();
        for (field, value) in Fields::of(message.bytes()) {
            match field {
                1 => self.locations.extend(value.varints().take(MAX_STACK)),
                2 => self.values.extend(value.varints().map(|n| n.cast_signed())),
                _ => {}
            }
        }
    }
}

#[derive(Default)]
struct Location {
    mapping: u64,
    address: u64,
    /// Function and line, innermost first.
    lines: Vec<(u64, i64)>,
}

#[derive(Default)]
struct Function {
    name: i64,
    system_name: i64,
    file: i64,
    line: i64,
}

/// The parts of the file that are used. Texts are positions in the table of strings, which comes last.
#[derive(Default)]
struct File<'a> {
    sample_types: Vec<(i64, i64)>,
    mappings: FxHashMap<u64, i64>,
    locations: FxHashMap<u64, Location>,
    functions: FxHashMap<u64, Function>,
    strings: Vec<Wire<'a>>,
    default_type: i64,
}

impl<'a> File<'a> {
    fn add(&mut self, field: u32, value: Wire<'a>) {
        let message = || Fields::of(value.bytes());
        match field {
            1 => {
                let (mut kind, mut unit) = (0, 0);
                for (field, value) in message() {
                    match field {
                        1 => kind = value.i64(),
                        2 => unit = value.i64(),
                        _ => {}
                    }
                }
                self.sample_types.push((kind, unit));
            }
            3 => {
                let (mut id, mut file) = (0, 0);
                for (field, value) in message() {
                    match field {
                        1 => id = value.u64(),
                        5 => file = value.i64(),
                        _ => {}
                    }
                }
                self.mappings.insert(id, file);
            }
            4 => self.add_location(message()),
            5 => self.add_function(message()),
            6 => self.strings.push(value),
            14 => self.default_type = value.i64(),
            _ => {}
        }
    }

    fn add_location(&mut self, message: Fields<'_>) {
        let (mut id, mut location) = (0, Location::default());
        for (field, value) in message {
            match field {
                1 => id = value.u64(),
                2 => location.mapping = value.u64(),
                3 => location.address = value.u64(),
                4 => {
                    let (mut function, mut line) = (0, 0);
                    for (field, value) in Fields::of(value.bytes()) {
                        match field {
                            1 => function = value.u64(),
                            2 => line = value.i64(),
                            _ => {}
                        }
                    }
                    location.lines.push((function, line));
                }
                _ => {}
            }
        }
        self.locations.insert(id, location);
    }

    fn add_function(&mut self, message: Fields<'_>) {
        let (mut id, mut function) = (0, Function::default());
        for (field, value) in message {
            match field {
                1 => id = value.u64(),
                2 => function.name = value.i64(),
                3 => function.system_name = value.i64(),
                4 => function.file = value.i64(),
                5 => function.line = value.i64(),
                _ => {}
            }
        }
        self.functions.insert(id, function);
    }

    fn text(&self, position: i64) -> String {
        let value = usize::try_from(position).ok().and_then(|i| self.strings.get(i));
        value.map(|v| v.text().into_owned()).unwrap_or_default()
    }

    /// The kinds of samples. The first is the file's default kind, or else the last kind of the file, as in pprof.
    fn kinds(&self) -> Vec<Kind> {
        let kind = |(column, (name, unit)): (usize, &(i64, i64))| Kind {
            column,
            name: self.text(*name),
            unit: self.text(*unit),
        };
        let mut kinds: Vec<_> = self.sample_types.iter().enumerate().map(kind).collect();
        let is_default = |kind: &(i64, i64)| self.default_type != 0 && kind.0 == self.default_type;
        let default_at = self.sample_types.iter().position(is_default).unwrap_or(kinds.len().saturating_sub(1));
        if let Some(first) = kinds.get_mut(..=default_at) {
            first.rotate_right(1);
        }
        if kinds.is_empty() {
            kinds.push(Kind { column: 0, name: String::new(), unit: String::new() });
        }
        kinds
    }

    /// The frames of a place, outermost first: several if calls were inlined.
    fn frames(&self, builder: &mut ProfileBuilder, id: u64) -> Vec<StackFrame> {
        let Some(location) = self.locations.get(&id) else {
            return vec![frame(builder, &format!("location {id}"), "", None, None)];
        };
        let mut frames = Vec::new();
        for (function, _) in location.lines.iter().rev() {
            let Some(function) = self.functions.get(function) else { continue };
            let mut name = self.text(function.name);
            if name.is_empty() {
                name = self.text(function.system_name);
            }
            let line = (function.line > 0).then_some(function.line);
            frames.push(frame(builder, &name, &self.text(function.file), line, None));
        }
        if frames.is_empty() {
            let file = self.mappings.get(&location.mapping).map(|&f| self.text(f)).unwrap_or_default();
            frames.push(frame(builder, &format!("0x{:x}", location.address), &file, None, None));
        }
        frames
    }
}
