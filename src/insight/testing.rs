//! Runs written by hand, for the tests of this module.

use super::run::{Item, ItemRef, Role, Run, Transfer, UnitRun, Work};
use ns_base::Interval;
use ns_machine::isa::{Activity, Engine};
use ns_machine::{SourceEntry, SourceId, SourceMap};

/// Builds a [`Run`].
#[derive(Debug)]
pub(crate) struct TestRun {
    pub total: Interval<i64>,
    pub units: Vec<UnitRun>,
    pub sources: SourceMap,
    pub model_flops: Option<u64>,
}

/// A DMA between device memory and SBUF, or within device memory when its role is staging.
pub(crate) fn dma(role: Role, bytes: u64, descriptors: u32) -> Work {
    let stages = matches!(role, Role::StagedInput | Role::StagedOutput);
    let writes_hbm = stages || matches!(role, Role::Output | Role::SpillSave);
    Work::Transfer(Transfer { bytes, descriptors, reads_hbm: stages || !writes_hbm, writes_hbm, role })
}

impl TestRun {
    pub fn new(start_ns: i64, end_ns: i64) -> Self {
        let unit = |e: &Engine| UnitRun { name: e.name().to_owned(), engine: Some(*e), items: Vec::new() };
        Self {
            total: Interval::new(start_ns, end_ns),
            units: Engine::ALL.iter().map(unit).collect(),
            sources: SourceMap::new(),
            model_flops: None,
        }
    }

    pub fn source(&mut self, path: &str, opcode: &str) -> SourceId {
        let (scope, op) = path.rsplit_once('/').unwrap_or(("", path));
        self.sources.push(SourceEntry {
            hlo_text: format!("%{opcode}"),
            hlo_opcode: opcode.to_owned(),
            framework_op: op.to_owned(),
            scope: scope.split('/').map(str::to_owned).collect(),
            path: path.to_owned(),
            members: Vec::new(),
        })
    }

    /// An instruction with the activity Execution; Data Transfer for constants and transposes, Control for tables.
    pub fn item(&mut self, engine: Engine, time: (i64, i64), source: SourceId, work: Work) -> ItemRef {
        let activity = match work {
            Work::Constant | Work::Matmul { transpose: true, .. } => Activity::DataTransfer,
            Work::TableLoad => Activity::Control,
            _ => Activity::Execution,
        };
        self.push(engine.index(), time, source, activity, work)
    }

    /// A DMA of a queue.
    pub fn queue(&mut self, name: &str, time: (i64, i64), source: SourceId, work: Work) -> ItemRef {
        let unit = self.units.iter().position(|u| u.name == name).unwrap_or_else(|| {
            self.units.push(UnitRun { name: name.to_owned(), engine: None, items: Vec::new() });
            self.units.len() - 1
        });
        self.push(unit, time, source, Activity::DataTransfer, work)
    }

    /// Records that the first item waited for the second.
    pub fn waits(&mut self, waiting: ItemRef, awaited: ItemRef) {
        self.units[waiting.unit as usize].items[waiting.item as usize].waited_for = Some(awaited);
    }

    pub fn run(&self) -> Run<'_> {
        let times: Vec<Interval<i64>> = self.units.iter().flat_map(|u| &u.items).map(|i| i.time).collect();
        let start = times.iter().map(|t| t.start).min().unwrap_or(self.total.start);
        let end = times.iter().map(|t| t.end).max().unwrap_or(start);
        Run {
            total: self.total,
            window: Interval::new(start, end),
            units: self.units.clone(),
            sources: &self.sources,
            model_flops: self.model_flops,
            memory: None,
            products: None,
            rows_per_partition: 1,
            clock_limits: Vec::new(),
            throttle: None,
        }
    }

    fn push(
        &mut self,
        unit: usize,
        (start, end): (i64, i64),
        source: SourceId,
        activity: Activity,
        work: Work,
    ) -> ItemRef {
        let items = &mut self.units[unit].items;
        items.push(Item { time: Interval::new(start, end), source, activity, work, waited_for: None });
        ItemRef { unit: unit as u32, item: items.len() as u32 - 1 }
    }
}
