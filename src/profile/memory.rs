//! Memory events of PyTorch: the names that the reader of files gives and that the analysis finds again.

/// The name of the instants, one for each allocation and release.
pub const MEMORY_EVENT: &str = "[memory]";

/// Series of the counter of a device: the bytes that are used.
pub const ALLOCATED: &str = "allocated";
/// The bytes that the allocator holds, used or not.
pub const RESERVED: &str = "reserved";
/// The bytes that are used, less those at the start, which profilers before 2022 do not say.
pub const ALLOCATED_SINCE: &str = "allocated since the start";

/// Start and end of the names of the counters.
const COUNTER: (&str, &str) = ("Allocator of ", " (bytes)");

/// The counter of a device.
pub fn counter_name(device: &str) -> String {
    format!("{}{device}{}", COUNTER.0, COUNTER.1)
}

/// The device of a counter; `None` for other counters.
pub fn device_of_counter(name: &str) -> Option<&str> {
    name.strip_prefix(COUNTER.0)?.strip_suffix(COUNTER.1)
}

/// The name of a device by PyTorch's numbers (`c10::DeviceType`).
pub fn device_name(kind: i64, number: i64) -> String {
    let kind = match kind {
        0 => "CPU",
        1 => "CUDA",
        6 => "HIP",
        9 => "XLA",
        12 => "XPU",
        13 => "MPS",
        15 => "HPU",
        19 => "MTIA",
        other => return format!("device {number} of type {other}"),
    };
    if number < 0 || kind == "CPU" { kind.to_owned() } else { format!("{kind} {number}") }
}
