//! Simulated times of segments, each shape once.

use std::cell::RefCell;
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

type Times = Rc<RefCell<FxHashMap<(Shard, Segment), SimTime>>>;

/// Times of segments that decoders share: those of one model on cores of the same costs. Instances of a family differ in their number of cores.
#[derive(Clone, Default)]
pub struct KnownTimes(Rc<RefCell<Vec<(DecoderConfig, CostTable, Times)>>>);

impl KnownTimes {
    fn of(&self, config: &DecoderConfig, costs: &CostTable) -> Times {
        let mut all = self.0.borrow_mut();
        if let Some((.., times)) = all.iter().find(|(model, cores, _)| model == config && cores == costs) {
            return Rc::clone(times);
        }
        let times = Times::default();
        all.push((config.clone(), costs.clone(), Rc::clone(&times)));
        times
    }
}

/// Segments of one core's part of a decoder on one kind of core.
pub struct Windows {
    config: DecoderConfig,
    pub costs: CostTable,
    /// From the first instruction or DMA of a segment to its last.
    known: Times,
}

impl Windows {
    /// Nothing is simulated yet.
    /// Fails when figures of the instance's cores that a simulation needs are not public.
    pub fn new(config: &DecoderConfig, instance: &Instance, lnc: Option<u32>) -> Result<Self, Refusal> {
        let costs = CostTable::of_instance(instance)?;
        let lnc = instance.lnc(lnc);
        let costs = if lnc > 1 { costs.logical(lnc) } else { costs };
        Ok(Self { config: config.clone(), costs, known: Times::default() })
    }

    /// Reads and adds to the times that decoders share, from now on.
    pub fn share(&mut self, times: &KnownTimes) {
        self.known = times.of(&self.config, &self.costs);
    }

    /// The code of a segment of a core's part.
    /// Fails when it cannot be compiled.
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
    /// Fails when it cannot be compiled.
    pub fn of(&mut self, shard: &Shard, segment: Segment) -> Result<SimTime, Refusal> {
        let known = self.known.borrow().get(&(*shard, segment)).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let executable = self.executable(shard, segment)?;
        let window = simulate(&executable, &self.costs, &mut NoObserver)?.window;
        self.known.borrow_mut().insert((*shard, segment), window);
        Ok(window)
    }
}
