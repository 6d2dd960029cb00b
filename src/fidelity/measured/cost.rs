//! What the model charges for what a row measures, in the row's unit.

use super::MeasuredRow;
use crate::predict::instance_of;
use ns_base::convert::u64_to_f64;
use ns_base::{Refusal, SimTime, refuse};
use ns_machine::cost::{CostTable, Throttle, instruction_cost, tile_crossing};
use ns_machine::isa::{Dma, DmaDirection, DmaQueue, Engine, Op};
use ns_machine::{Executable, SourceId};
use ns_neuron::sim::{NoObserver, simulate};

/// The sizes between which a row's straight line is compared.
const FIT: [u32; 2] = [128, 512];
/// Elements of one instruction of a row that measures a rate: the longest that the model emits.
const LONG: u32 = 2_048;

/// The model's value for a row, in the row's unit. Fails when the model has no cost for what the row measures: the reason.
pub(super) fn model_value(row: &MeasuredRow) -> Result<f64, Refusal> {
    let costs = CostTable::of_instance(instance_of(&row.instance)?)?;
    let words: Vec<&str> = row.what.split_whitespace().collect();
    let value = match row.level.as_str() {
        "instruction" => instruction(row, &words, &costs),
        "dma" => dma(row, &words, &costs),
        "memory" => memory(row, &words, &costs),
        "host_link" => host_link(&words, &costs),
        "throttle" => throttle(row, &words, &costs)?,
        "kernel" => return Err(refuse!("a whole kernel, whose program the model does not have")),
        other => return Err(refuse!("rows of level '{other}' measure nothing that the model has a cost for")),
    };
    value.ok_or_else(|| refuse!("the model has no cost for '{}' as {}", row.what, row.metric))
}

/// A time in the row's unit.
fn time(row: &MeasuredRow, ns: f64) -> Option<f64> {
    Some(match row.unit.as_str() {
        "ns" => ns,
        "us" => ns / 1e3,
        "ms" => ns / 1e6,
        _ => return None,
    })
}

fn ns(time: SimTime) -> f64 {
    time.to_secs_f64() * 1e9
}

fn instruction(row: &MeasuredRow, words: &[&str], costs: &CostTable) -> Option<f64> {
    let passes = if row.dtype == "fp32" || words.contains(&"fp32") { 4 } else { 1 };
    let of = |free: u32| {
        Some(match *words.first()? {
            "MATMUL" | "TensorE" => (Engine::Tensor, Op::Matmul { free, passes }),
            "LDWEIGHTS" => {
                let (rows, columns) = words.get(1)?.split_once('x')?;
                (Engine::Tensor, Op::LdWeights { rows: rows.parse().ok()?, columns: columns.parse().ok()? })
            }
            "ACTIVATE" | "ScalarE" => (Engine::Scalar, Op::Activate { free }),
            "ACT_TABLE_LOAD" => (Engine::Scalar, Op::ActTableLoad),
            "VectorE" if words.contains(&"2-input") => (Engine::Vector, Op::TensorTensor { free, sbuf_only: true }),
            "VectorE" | "TENSOR_SCALAR" => (Engine::Vector, Op::TensorScalar { free }),
            "TENSOR_TENSOR" => (Engine::Vector, Op::TensorTensor { free, sbuf_only: true }),
            "REDUCE" => (Engine::Vector, Op::TensorReduce { free }),
            _ => return None,
        })
    };
    let cost = |free| of(free).map(|(engine, op)| (engine, instruction_cost(costs, engine, &op)));
    // Products were measured with a tile that fills the array.
    let full = tile_crossing(costs, costs.core.partitions, costs.core.partitions);
    let crossing = |free| match of(free) {
        Some((_, Op::Matmul { .. })) => full,
        _ => SimTime::ZERO,
    };
    let latency = |free| Some(ns(cost(free)?.1.latency + crossing(free)));
    let interval = |free| {
        let (engine, cost) = cost(free)?;
        let limit = costs.engine.tensor_throttle.filter(|_| engine == Engine::Tensor).map_or(1.0, highest);
        Some(ns(cost.interval) / limit)
    };
    let size = words.iter().find_map(|word| word.strip_prefix("free="));
    let free: Option<u32> = size.and_then(|size| size.parse().ok());
    if size.is_some() && free.is_none() {
        return None;
    }
    let slope = || Some((latency(FIT[1])? - latency(FIT[0])?) / f64::from(FIT[1] - FIT[0]));
    let rows = f64::from(costs.core.partitions);
    match row.metric.as_str() {
        "instr_latency_median" => time(row, latency(free.unwrap_or(1))?),
        "interval_median" => time(row, interval(free?)?),
        "a" => time(row, latency(FIT[0])? - slope()? * f64::from(FIT[0])),
        "b" if row.unit == "ns/elem" => slope(),
        "throughput" if row.unit == "TFLOPS" => {
            let free = costs.core.moving_free_max;
            Some(2.0 * rows * rows * f64::from(free) / interval(free)? / 1e3)
        }
        "throughput" if row.unit == "Gelem/s" => {
            let each = if words.contains(&"dependent") { latency(LONG)? } else { interval(LONG)? };
            Some(rows * f64::from(LONG) / each)
        }
        _ => None,
    }
}

/// The higher of an engine's limits, as a share of the published clock.
fn highest(throttle: Throttle) -> f64 {
    f64::from(throttle.light_eighths.max(throttle.dense_eighths)) / 8.0
}

/// A size in a text: `8 KiB`, `128 B`.
fn bytes(words: &[&str]) -> Option<u64> {
    words.windows(2).rev().find_map(|pair| {
        let unit = match pair[1].trim_end_matches([',', ':']) {
            "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return None,
        };
        pair[0].trim_start_matches("<=").parse::<u64>().ok()?.checked_mul(unit)
    })
}

/// The simulated time of a transfer, nanoseconds, from its first data to its last.
fn transfer_ns(costs: &CostTable, bytes: u64, partitions: u32, descriptors: u64) -> Option<f64> {
    let mut executable = Executable::default();
    let dma = Dma {
        bytes,
        partitions,
        descriptors,
        first_partition: None,
        direction: DmaDirection::HbmToSbuf,
        exchange_ps: 0,
        waits_start: 0,
        waits_len: 0,
        source: SourceId(0),
    };
    executable.queues[DmaQueue::Io.index()] = vec![dma];
    let window = simulate(&executable, costs, &mut NoObserver).ok()?.window;
    Some(ns(window) - u64_to_f64(costs.dma.trigger_to_data_ns))
}

fn dma(row: &MeasuredRow, words: &[&str], costs: &CostTable) -> Option<f64> {
    let d = &costs.dma;
    let partitions = costs.core.partitions;
    let rows = u64::from(partitions);
    let size = bytes(words);
    let whole = |size: u64| transfer_ns(costs, size.checked_mul(rows)?, partitions, rows);
    let around = u64_to_f64(d.trigger_to_data_ns + d.completion_ns);
    match row.metric.as_str() {
        // One descriptor of one engine, while all engines of the core are at work.
        "packet_median" => {
            let size = size?;
            let engines = u64::from(costs.core.dma_engines);
            let descriptor_ns = u64_to_f64(d.descriptor_ps * engines) / 1e3;
            let bytes_ns = u64_to_f64(size) * 1e3 / u64_to_f64(d.engine_bytes_per_us);
            time(row, descriptor_ns + bytes_ns)
        }
        "latency" | "roundtrip" => {
            let one =
                around + u64_to_f64(d.semaphore_to_engine_ns) + transfer_ns(costs, size.unwrap_or(1), partitions, 0)?;
            time(row, one * if words.contains(&"roundtrip") { 2.0 } else { 1.0 })
        }
        "bandwidth" if words.contains(&"transpose") => None,
        "bandwidth" if words.contains(&"engine") => Some(u64_to_f64(d.engine_bytes_per_us) / 1e3),
        "data phase" => time(row, whole(size?)?),
        "bandwidth" if words.contains(&"single") => {
            let size = size?;
            Some(u64_to_f64(size.checked_mul(rows)?) / (whole(size)? + around))
        }
        "bandwidth" => {
            let size = size?;
            Some(u64_to_f64(size.checked_mul(rows)?) / whole(size)?)
        }
        // A descriptor for each element of every partition.
        "latency_p50" => {
            let free: u64 = words.iter().find_map(|word| word.strip_prefix('F')?.parse().ok())?;
            let elements = free.checked_mul(rows)?;
            time(row, transfer_ns(costs, elements.checked_mul(4)?, partitions, elements)? + around)
        }
        metric if metric.starts_with("time per") => time(row, u64_to_f64(d.issue_interval_ns)),
        _ => None,
    }
}

/// Streams of device memory, on every core of the row.
fn memory(row: &MeasuredRow, words: &[&str], costs: &CostTable) -> Option<f64> {
    let bytes_per_ns = u64_to_f64(costs.dma.aggregate_bytes_per_us) / 1e3;
    let cores = if words.first()?.ends_with("_agg") { 2.0 } else { 1.0 };
    match row.metric.as_str() {
        "total_active_time" => time(row, u64_to_f64(bytes(words)?) / bytes_per_ns),
        "hbm_read_bandwidth" | "sustained_rate_median" | "rate" if row.unit == "GB/s" => Some(bytes_per_ns * cores),
        _ => None,
    }
}

fn host_link(words: &[&str], costs: &CostTable) -> Option<f64> {
    let rate = match *words.first()? {
        "h2d" | "d2h" => costs.runtime.host_copy_bytes_per_us,
        _ => return None,
    };
    Some(u64_to_f64(rate) / 1e3)
}

/// Dense products that last, and the limits themselves.
fn throttle(row: &MeasuredRow, words: &[&str], costs: &CostTable) -> Result<Option<f64>, Refusal> {
    let Some(throttle) = costs.engine.tensor_throttle else {
        return Err(refuse!("no limit of the clock is known for {}, and none is assumed", row.instance));
    };
    let dense = f64::from(throttle.dense_eighths) / 8.0;
    let sustained = dense * f64::from(costs.engine.sustained_matmul_permille) / 1e3;
    let what = *words.first().unwrap_or(&"");
    if let (Some(n), "tensor_engine_active_time") = (what.strip_suffix("^3"), row.metric.as_str()) {
        let n: f64 = n.parse().map_err(|_| refuse!("'{what}' is no product of square matrices"))?;
        return Ok(time(row, 2.0 * n * n * n * 1e9 / (costs.core.peak_bf16_flops() * sustained)));
    }
    Ok(match (what, row.metric.as_str()) {
        ("tensor_virus" | "int_virus", "sustained_rate_median") => {
            Some(costs.core.peak_bf16_flops() / 1e12 * sustained)
        }
        ("pulse_virus", "sustained_rate_median") => Some(costs.core.peak_bf16_flops() / 1e12 * sustained / 2.0),
        ("8192^3", "activity_1_limit") | ("dense", "throttle_activity_1_util_limit") => Some(dense),
        ("8192^3", "ideal_time_at_91.75_TFLOPS_over_tensor_active") => Some(sustained),
        ("rope", "activity_1_limit") => Some(f64::from(throttle.light_eighths) / 8.0),
        _ => None,
    })
}
