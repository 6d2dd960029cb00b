//! Simulated times of segments, each shape once.

use std::rc::Rc;

use ns_base::{FxHashMap, Refusal, SimTime};
use ns_compiler::{CompileOptions, Pipeline, Workflow};
use ns_machine::Executable;
use ns_machine::arch::Instance;
use ns_machine::cost::CostTable;
use ns_neuron::sim::{NoObserver, simulate};

use super::config::DecoderConfig;
use super::segment::Segment;
use super::shard::Shard;

/// Segments of one core's part of a decoder on one kind of core.
pub struct Windows {
    config: DecoderConfig,
    shard: Shard,
    pub costs: CostTable,
    /// From the first instruction or DMA of a segment to its last.
    known: FxHashMap<Segment, SimTime>,
}

impl Windows {
    /// Nothing is simulated yet.
    ///
    /// # Errors
    /// When figures of the instance's cores that a simulation needs are not public.
    pub fn new(config: &DecoderConfig, shard: Shard, instance: &Instance, lnc: Option<u32>) -> Result<Self, Refusal> {
        let costs = CostTable::of_instance(instance).map_err(|e| Refusal::new(e.to_string()))?;
        let lnc = instance.lnc(lnc);
        let costs = if lnc > 1 { costs.logical(lnc) } else { costs };
        Ok(Self { config: config.clone(), shard, costs, known: FxHashMap::default() })
    }

    /// The code of a segment.
    ///
    /// # Errors
    /// When it cannot be compiled.
    pub fn executable(&self, segment: Segment) -> Result<Rc<Executable>, Refusal> {
        let graph = Rc::new(segment.graph(&self.config, &self.shard)?);
        let pipeline = Pipeline::of_graph(graph, Workflow::Trace, CompileOptions::default());
        Ok(Rc::clone(pipeline.executable(&self.costs).map_err(|e| e.refusal)?))
    }

    /// The simulated time of a segment; a shape is simulated once.
    ///
    /// # Errors
    /// When it cannot be compiled.
    pub fn of(&mut self, segment: Segment) -> Result<SimTime, Refusal> {
        if let Some(known) = self.known.get(&segment) {
            return Ok(*known);
        }
        let executable = self.executable(segment)?;
        let window = simulate(&executable, &self.costs, &mut NoObserver)?.window;
        self.known.insert(segment, window);
        Ok(window)
    }
}
