//! What to look at in a kernel, each with what it costs here.

use std::collections::BTreeMap;

use ns_base::SimTime;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_count, format_number, format_plural};
use ns_machine::cost::{CostTable, KernelWork, instruction_cost, kernel_cycles};
use ns_machine::isa::{Engine, KernelOpcode, Op};

use crate::answer::Answer;
use crate::kernel::{Action, Choice, Kernel};
use crate::list::{List, Problem};
use crate::room::usable_bytes;
use crate::setup::Setup;

/// A rule: what an instruction costs that it would not have to, and the words for it.
struct Rule {
    kind: &'static str,
    /// Before "(N instructions)".
    what: &'static str,
    fix: &'static str,
    cost: fn(&CostTable, &Action) -> SimTime,
}

const RULES: [Rule; 8] = [
    Rule {
        kind: "partitions",
        what: "fewer than 128 partitions, which use fewer than all DMA engines",
        fix: "spread the tile over 128 partitions",
        cost: few_partitions,
    },
    Rule {
        kind: "small-dma",
        what: "DMAs so small that the interval between two takes longer than their bytes",
        fix: "load neighbouring tiles with one DMA",
        cost: small_transfer,
    },
    Rule {
        kind: "short-rows",
        what: "rows of less than 512 bytes in one piece",
        fix: "make the contiguous dimension of the tile longer",
        cost: short_rows,
    },
    Rule {
        kind: "fp32-product",
        what: "products in fp32, which take four passes",
        fix: "cast the operands to bf16 if the result allows it",
        cost: wide_product,
    },
    Rule {
        kind: "small-product",
        what: "products on less than half of the array, so that the clock stays limited",
        fix: "use 128 rows and 128 columns for the stationary tile",
        cost: small_product,
    },
    Rule {
        kind: "short-instruction",
        what: "fewer than 64 elements in a partition, which take as long as 64",
        fix: "work on several tiles at once",
        cost: short_instruction,
    },
    Rule {
        kind: "scalar-copy",
        what: "short rows that are copied on the scalar engine, whose fixed time is longer than that of the vector engine",
        fix: "give engine=nki.isa.vector_engine, or copy longer rows",
        cost: scalar_copy,
    },
    Rule {
        kind: "vector-transpose",
        what: "transposes on the vector engine",
        fix: "transpose on the tensor engine",
        cost: vector_transpose,
    },
];

/// From which part of the time a cost is worth a word.
const WORTH: f64 = 0.01;

pub(crate) fn lint(list: &List, kernel: &Kernel, answer: &Answer, setup: &Setup) -> Vec<Problem> {
    let (costs, total) = (&setup.costs, answer.total_us.unwrap_or_default());
    let mut found: BTreeMap<(usize, u32), (u64, SimTime)> = BTreeMap::new();
    for item in &kernel.items {
        for (at, rule) in RULES.iter().enumerate() {
            let cost = (rule.cost)(costs, &item.action);
            if cost > SimTime::ZERO {
                let sum = found.entry((at, item.site)).or_default();
                *sum = (sum.0 + 1, sum.1 + cost);
            }
        }
    }
    // A line may have several calls.
    let mut of_line: BTreeMap<_, (u64, f64)> = BTreeMap::new();
    for ((at, site), (count, cost)) in found {
        let sum = of_line.entry((at, list.place(site as usize))).or_default();
        *sum = (sum.0 + count, sum.1 + cost.to_secs_f64() * 1e6);
    }
    let mut problems: Vec<Problem> = of_line
        .into_iter()
        .filter(|(_, (_, us))| *us >= WORTH * total)
        .map(|((at, (file, line)), (count, us))| {
            let Rule { kind, what, fix, .. } = RULES[at];
            let (count, us) = (format_plural(count, "instruction"), format_number(us));
            let message = format!("{what} ({count}): {us} \u{b5}s of the engine");
            Problem { kind: kind.to_owned(), file, line, message, fix: fix.to_owned(), ..Problem::default() }
        })
        .collect();
    problems.extend(of_all(list, answer, costs, total));
    problems
}

/// What no single line is the cause of.
fn of_all(list: &List, answer: &Answer, costs: &CostTable, total: f64) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut say = |kind: &str, message: String, fix: &str| {
        let line = list.kernel.as_ref().map_or(0, |kernel| kernel.line);
        let (kind, fix) = (kind.to_owned(), fix.to_owned());
        problems.push(Problem { kind, line, message, fix, ..Problem::default() });
    };
    let loads = answer.instructions.get("act_table_load").copied().unwrap_or(0);
    let load_us = u64_to_f64(loads * costs.engine.act_table_load_ns) / 1e3;
    if loads > 2 && load_us >= WORTH * total {
        let message = format!(
            "the activation function changes {} times: {} \u{b5}s for its tables",
            format_count(loads),
            format_number(load_us)
        );
        say("table-loads", message, "do all of one function before the next");
    }
    let (peak, usable) = (answer.sbuf_peak_bytes, usable_bytes(costs));
    if answer.spill.bytes == 0 && peak * 2 > usable {
        let message = format!(
            "{} of {} KiB of a partition are live at once, so that loads hardly overlap with work",
            peak.div_ceil(1024),
            usable / 1024
        );
        say("large-tiles", message, "use smaller tiles");
    }
    problems
}

fn few_partitions(costs: &CostTable, action: &Action) -> SimTime {
    let Action::Move { bytes, partitions: [_, count], is_spill: false, .. } = *action else { return SimTime::ZERO };
    let all = u64::from(costs.core.dma_engines.max(1));
    let used = u64::from(count.div_ceil(costs.dma.partitions_per_engine.max(1))).clamp(1, all);
    let time = |engines: u64| {
        SimTime(bytes.saturating_mul(1_000_000) / (costs.kernel.dma_engine_bytes_per_us.max(1) * engines))
    };
    time(used) - time(all)
}

fn small_transfer(costs: &CostTable, action: &Action) -> SimTime {
    let Action::Move { bytes, is_spill: false, .. } = *action else { return SimTime::ZERO };
    let rate = costs.kernel.dma_engine_bytes_per_us.max(1) * u64::from(costs.core.dma_engines.max(1));
    SimTime::from_ns(costs.kernel.dma_issue_ns) - SimTime(bytes.saturating_mul(1_000_000) / rate)
}

fn short_rows(costs: &CostTable, action: &Action) -> SimTime {
    let Action::Move { bytes, descriptors, .. } = *action else { return SimTime::ZERO };
    if descriptors == 0 || bytes / descriptors >= 512 {
        return SimTime::ZERO;
    }
    SimTime(costs.kernel.dma_descriptor_ps.saturating_mul(descriptors) / u64::from(costs.core.dma_engines.max(1)))
}

/// The time of an instruction on its engine, if that is the one asked for.
fn time_on(costs: &CostTable, action: &Action, wanted: Engine) -> Option<SimTime> {
    let Action::Compute { choice: Choice::Only(engine), opcode, free, is_narrow, in_psum, has_gaps, products, .. } =
        *action
    else {
        return None;
    };
    let cycles = kernel_cycles(costs, &KernelWork { engine, opcode, free, is_narrow, in_psum, has_gaps });
    let cost = instruction_cost(costs, engine, &Op::Kernel { opcode, free, cycles });
    (engine == wanted).then(|| cost.interval.times(u64::from(products)))
}

fn wide_product(costs: &CostTable, action: &Action) -> SimTime {
    let Action::Compute { opcode: KernelOpcode::Matmul, is_narrow: false, .. } = action else { return SimTime::ZERO };
    time_on(costs, action, Engine::Tensor).map_or(SimTime::ZERO, |time| SimTime(time.0 / 4 * 3))
}

fn small_product(costs: &CostTable, action: &Action) -> SimTime {
    let Action::Compute { opcode: KernelOpcode::Matmul, array: [rows, columns], .. } = *action else {
        return SimTime::ZERO;
    };
    let limits = costs.engine.tensor_throttle.is_some_and(|t| t.light_eighths < t.dense_eighths);
    if !limits || rows * columns * 2 >= costs.core.partitions.pow(2) {
        return SimTime::ZERO;
    }
    time_on(costs, action, Engine::Tensor).unwrap_or_default()
}

fn short_instruction(costs: &CostTable, action: &Action) -> SimTime {
    let Action::Compute { free, opcode, .. } = *action else { return SimTime::ZERO };
    // What has one element is a column, of which there is no more.
    if !(2..64).contains(&free) || opcode == KernelOpcode::Memset {
        return SimTime::ZERO;
    }
    Engine::ALL.into_iter().find_map(|engine| time_on(costs, action, engine)).unwrap_or_default()
}

fn scalar_copy(costs: &CostTable, action: &Action) -> SimTime {
    let Action::Compute { opcode: KernelOpcode::Copy | KernelOpcode::Activate, function: 0, free: ..512, .. } = action
    else {
        return SimTime::ZERO;
    };
    let vector = u64::from(costs.kernel.vector_fixed_cycles) * 1_000 / u64::from(costs.core.vector_mhz.max(1));
    let more = SimTime::from_ns(costs.kernel.scalar_fixed_ns.saturating_sub(vector));
    time_on(costs, action, Engine::Scalar).map_or(SimTime::ZERO, |_| more)
}

fn vector_transpose(costs: &CostTable, action: &Action) -> SimTime {
    let Action::Compute { opcode: KernelOpcode::Transpose, .. } = action else { return SimTime::ZERO };
    time_on(costs, action, Engine::Vector).unwrap_or_default()
}
