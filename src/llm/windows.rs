//! Simulated times of segments, each shape once.

use std::rc::Rc;

use ns_base::{FxHashMap, Refusal, SimTime};
use ns_compiler::{CompileOptions, Pipeline, Workflow};
use ns_machine::Executable;
use ns_machine::arch::Instance;
use ns_machine::cost::CostTable;
use ns_neuron::sim::{NoObserver, simulate};

use super::config::DecoderConfig;
use super::rank_program::RankProgram;
use super::segment::Segment;
use super::shard::Shard;

/// Segments of one core's part of a decoder on one kind of core.
pub struct Windows {
    config: DecoderConfig,
    pub costs: CostTable,
    /// From the first instruction or DMA of a segment to its last.
    known: FxHashMap<(Shard, Segment), SimTime>,
}

impl Windows {
    /// Nothing is simulated yet.
    ///
    /// # Errors
    /// When figures of the instance's cores that a simulation needs are not public.
    pub fn new(config: &DecoderConfig, instance: &Instance, lnc: Option<u32>) -> Result<Self, Refusal> {
        let costs = CostTable::of_instance(instance).map_err(|e| Refusal::new(e.to_string()))?;
        let lnc = instance.lnc(lnc);
        let costs = if lnc > 1 { costs.logical(lnc) } else { costs };
        Ok(Self { config: config.clone(), costs, known: FxHashMap::default() })
    }

    /// The code of a segment of a core's part.
    ///
    /// # Errors
    /// When it cannot be compiled.
    pub fn executable(&self, shard: &Shard, segment: Segment) -> Result<Rc<Executable>, Refusal> {
        let graph = Rc::new(segment.graph(&self.config, shard)?);
        let pipeline = Pipeline::of_graph(graph, Workflow::Trace, CompileOptions::default());
        let compiled = Rc::clone(pipeline.executable(&self.costs).map_err(|e| e.refusal)?);
        let Segment::Sparse { loads, each, lines, .. } = segment else { return Ok(compiled) };
        let mut program = RankProgram::default();
        program.segment(&compiled);
        program.experts(&*self.executable(shard, Segment::Expert { rows: each })?, loads, lines);
        Ok(Rc::new(program.into_executable()))
    }

    /// The simulated time of a segment; a shape is simulated once.
    ///
    /// # Errors
    /// When it cannot be compiled.
    pub fn of(&mut self, shard: &Shard, segment: Segment) -> Result<SimTime, Refusal> {
        if let Some(known) = self.known.get(&(*shard, segment)) {
            return Ok(*known);
        }
        let executable = self.executable(shard, segment)?;
        let window = simulate(&executable, &self.costs, &mut NoObserver)?.window;
        self.known.insert((*shard, segment), window);
        Ok(window)
    }
}
