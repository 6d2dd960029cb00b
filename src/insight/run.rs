//! The input of an analysis: the activity of each unit of a core over time. Simulated executions provide it; a reader of
//! instruction-level profiles can too.

use super::spans::secs;
use ns_base::{Interval, names};
use ns_machine::arch::CoreSpec;
use ns_machine::cost::Throttle;
use ns_machine::isa::{Activity, Engine};
use ns_machine::{MemoryPlan, SourceEntry, SourceId, SourceMap};

/// One execution on one core. Times are nanoseconds on the timeline of its profile.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// From the start of the execution on the device to its stop, set-up and tear-down included.
    pub total: Interval<i64>,
    /// From the first to the last instruction or DMA of the model: the device window.
    pub window: Interval<i64>,
    /// Engines, then DMA queues.
    pub units: Vec<UnitRun>,
    /// Operations of the model that items name.
    pub sources: &'a SourceMap,
    /// Floating point operations of the model's matrix products, two per multiply-accumulate; `None` when not known.
    pub model_flops: Option<u64>,
    /// Memory use; `None` when not known.
    pub memory: Option<MemoryPlan>,
    /// Matrix products and convolutions of the model as written, and after the compiler's passes; `None` when not known.
    pub products: Option<(u64, u64)>,
    /// Rows that a pass contracts on each partition: 2 for 8-bit products where the array has a mode for them, else 1.
    pub rows_per_partition: u32,
    /// When the tensor engine's clock is limited, in the order of time.
    pub clock_limits: Vec<ClockLimit>,
    /// The rule behind the limits; `None` when it is not known.
    pub throttle: Option<Throttle>,
}

/// A stretch in which the tensor engine's clock is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockLimit {
    pub time: Interval<i64>,
    /// The limit in eighths of the published clock.
    pub eighths: u32,
}

/// The items of one unit.
#[derive(Clone, Debug)]
pub struct UnitRun {
    /// Name of the unit's row in the timeline: `Tensor`, `qSyncIO0`.
    pub name: String,
    /// The engine; `None` for a DMA queue.
    pub engine: Option<Engine>,
    /// Items in the order of their start. Those of an engine do not overlap; those of a queue may.
    pub items: Vec<Item>,
}

/// One instruction or DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    pub time: Interval<i64>,
    /// The operation it serves.
    pub source: SourceId,
    /// The process of the operator timeline it belongs to.
    pub activity: Activity,
    pub work: Work,
    /// Of the items it waited for, the last to complete.
    pub waited_for: Option<ItemRef>,
}

/// The position of an item in a [`Run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemRef {
    /// Position in [`Run::units`].
    pub unit: u32,
    /// Position in [`UnitRun::items`].
    pub item: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A matmul of the array.
    Matmul {
        /// 2 x rows x columns x moving elements.
        flops: u64,
        /// Passes over the array: 4 for fp32, else 1.
        passes: u32,
        /// Whether it only transposes data.
        transpose: bool,
    },
    /// Loads a stationary tile into the array.
    LoadWeights,
    Activate,
    /// Loads a table of activation functions.
    TableLoad,
    /// Elementwise arithmetic.
    Elementwise,
    Reduce,
    /// A copy on the chip.
    Copy,
    /// Writes a constant.
    Constant,
    Custom,
    Transfer(Transfer),
}

/// One DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Bytes moved.
    pub bytes: u64,
    /// Lower limit of its descriptors: one for each partition touched, one within device memory.
    pub descriptors: u32,
    /// Whether it reads device memory.
    pub reads_hbm: bool,
    /// Whether it writes device memory.
    pub writes_hbm: bool,
    /// The kind of data that is moved.
    pub role: Role,
}

names! {
    /// The kind of data that a DMA moves.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Role {
        /// An input, from device memory into SBUF.
        Input = "inputs",
        /// An input, moved within device memory to where the executable reads it.
        StagedInput = "inputs moved within device memory",
        Weight = "weights",
        /// An output, from SBUF to device memory.
        Output = "outputs",
        /// An output, moved within device memory to where the framework reads it.
        StagedOutput = "outputs moved within device memory",
        /// Operands and results of custom operators.
        Custom = "operands of custom operators",
        /// A value saved to device memory to make room in SBUF.
        SpillSave = "spilled values",
        /// A spilled value, brought back into SBUF.
        SpillReload = "reloaded values",
    }

    /// The role in words: `inputs`.
    pub const fn words(self) -> &'static str;
}

impl Item {
    /// The transfer, when it is a DMA.
    pub const fn transfer(&self) -> Option<Transfer> {
        match self.work {
            Work::Transfer(t) => Some(t),
            _ => None,
        }
    }
}

impl Run<'_> {
    /// The array's peak in the mode of the run's products, floating point operations per second; of single precision, in bf16
    /// equivalents.
    pub fn peak_flops(&self, core: &CoreSpec) -> f64 {
        core.peak_bf16_flops() * f64::from(self.rows_per_partition.max(1))
    }

    pub fn engine_items(&self) -> impl Iterator<Item = &Item> {
        self.units.iter().filter(|u| u.engine.is_some()).flat_map(|u| &u.items)
    }

    /// DMAs of all queues, each with the kind of data that it moves.
    pub fn transfers(&self) -> impl Iterator<Item = (&Item, Transfer)> {
        let queues = self.units.iter().filter(|u| u.engine.is_none());
        queues.flat_map(|u| &u.items).filter_map(|i| i.transfer().map(|t| (i, t)))
    }

    pub fn engine(&self, engine: Engine) -> Option<&UnitRun> {
        self.units.iter().find(|u| u.engine == Some(engine))
    }

    /// Items of the tensor engine, each with the limit of the clock at its start in eighths; 8 is none.
    pub fn clocked_items(&self) -> impl Iterator<Item = (&Item, u32)> {
        let mut limits = self.clock_limits.iter().peekable();
        self.engine(Engine::Tensor).map_or(&[][..], |unit| &unit.items).iter().map(move |item| {
            while limits.next_if(|limit| limit.time.end <= item.time.start).is_some() {}
            let limit = limits.peek().filter(|limit| limit.time.start <= item.time.start);
            (item, limit.map_or(8, |limit| limit.eighths))
        })
    }

    /// The item at a position.
    pub fn item(&self, at: ItemRef) -> Option<(&UnitRun, &Item)> {
        let unit = self.units.get(at.unit as usize)?;
        Some((unit, unit.items.get(at.item as usize)?))
    }

    /// The operation that an item serves.
    pub fn source(&self, item: &Item) -> Option<&SourceEntry> {
        self.sources.get(item.source)
    }

    /// Framework path of an item's operation; empty when the item has none.
    pub fn path(&self, item: &Item) -> &str {
        self.source(item).map_or("", |s| s.path.as_str())
    }

    /// From the start of the execution on the device to its stop, in seconds: the time that rates of the whole run refer to.
    pub fn total_s(&self) -> f64 {
        secs((self.total.end - self.total.start).unsigned_abs())
    }

    /// Length of the device window in nanoseconds.
    pub const fn window_ns(&self) -> i64 {
        self.window.end - self.window.start
    }
}
