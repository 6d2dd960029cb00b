//! The kernel's records of scheduling: the activity of each processor.

use ns_base::wire::{Fields, Wire};
use ns_base::{FxHashMap, StrId};
use ns_profile::{ArgsId, ProfileBuilder, TrackId};

/// Field numbers of events in `FtraceEvent`.
const SCHED_SWITCH: u32 = 4;

/// The processors, and the task that runs on each.
#[derive(Debug, Default)]
pub(super) struct Scheduling {
    cpus: FxHashMap<u64, Cpu>,
    order: Vec<u64>,
}

#[derive(Debug)]
struct Cpu {
    track: TrackId,
    running: Option<(StrId, ArgsId, i64)>,
}

impl Scheduling {
    /// Takes an `FtraceEventBundle`.
    pub fn bundle(&mut self, builder: &mut ProfileBuilder, message: &[u8]) {
        let cpu = Fields::of(message).find(|(field, _)| *field == 1).map_or(0, |(_, value)| value.u64());
        for (field, value) in Fields::of(message) {
            match field {
                2 => self.event(builder, cpu, value.bytes()),
                4 => self.compact(builder, cpu, value.bytes()),
                _ => {}
            }
        }
    }

    fn event(&mut self, builder: &mut ProfileBuilder, cpu: u64, message: &[u8]) {
        let (mut at, mut switch) = (0i64, None);
        for (field, value) in Fields::of(message) {
            match field {
                1 => at = value.i64(),
                SCHED_SWITCH => switch = Some(value.bytes()),
                _ => {}
            }
        }
        let Some(switch) = switch else { return builder.count_event(Some("ftrace")) };
        let (mut comm, mut pid) = (String::new(), 0);
        for (field, value) in Fields::of(switch) {
            match field {
                5 => comm = value.text().into_owned(),
                6 => pid = value.i64(),
                _ => {}
            }
        }
        self.switch(builder, cpu, at, &comm, pid);
    }

    /// Switches in columns: times as differences, names as positions in a table.
    fn compact(&mut self, builder: &mut ProfileBuilder, cpu: u64, message: &[u8]) {
        let (mut names, mut times, mut pids, mut name_at) =
            (Vec::<Wire<'_>>::new(), Vec::new(), Vec::new(), Vec::new());
        for (field, value) in Fields::of(message) {
            match field {
                5 => names.push(value),
                1 => times.extend(value.varints()),
                3 => pids.extend(value.varints()),
                6 => name_at.extend(value.varints()),
                _ => {}
            }
        }
        let mut now = 0i64;
        for ((delta, pid), at) in times.into_iter().zip(pids).zip(name_at) {
            now = now.saturating_add(delta.cast_signed());
            let name = usize::try_from(at).ok().and_then(|i| names.get(i)).map(|n| n.text().into_owned());
            self.switch(builder, cpu, now, &name.unwrap_or_default(), pid.cast_signed());
        }
    }

    fn switch(&mut self, builder: &mut ProfileBuilder, cpu: u64, at: i64, comm: &str, pid: i64) {
        let order = &mut self.order;
        let known = self.cpus.entry(cpu).or_insert_with(|| {
            order.push(cpu);
            let process = builder.process("CPU", "CPU");
            let track = builder.thread(process, &cpu.to_string(), &format!("CPU {cpu}"));
            builder.set_track_sort_index(track, i64::try_from(cpu).unwrap_or(i64::MAX));
            Cpu { track, running: None }
        });
        builder.count_event(Some("sched_switch"));
        builder.note_track(known.track);
        builder.note_time(at);
        let next = (pid != 0).then(|| {
            let (name, args) = (builder.intern(comm), builder.add_args(&format!("{{\"pid\":{pid}}}")));
            (name, args, at)
        });
        if let Some((name, args, start)) = std::mem::replace(&mut known.running, next) {
            builder.derived_slice(known.track, start, at, name, StrId::EMPTY, args);
        }
    }

    /// Ends everything that still runs.
    pub fn finish(&mut self, builder: &mut ProfileBuilder) {
        let end = builder.end_time();
        for cpu in &self.order {
            let Some(cpu) = self.cpus.get_mut(cpu) else { continue };
            if let Some((name, args, start)) = cpu.running.take() {
                builder.derived_slice(cpu.track, start, end, name, StrId::EMPTY, args);
            }
        }
    }
}
