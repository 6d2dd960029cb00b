//! Simulated times of segments, each shape once.

use std::rc::Rc;

use ns_base::{FxHashMap, Refusal, SimTime};
use ns_compiler::{CompileOptions, Pipeline, Workflow};
use ns_machine::Executable;
use ns_machine::arch::{Instance, features};
use ns_machine::cost::CostTable;
use ns_neuron::sim::{NoObserver, simulate};

use super::config::DecoderConfig;
use super::segment::Segment;
use super::shard::Shard;

/// The simulation of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// From the first instruction or DMA to the last.
    pub time: SimTime,
    /// Bytes moved by DMA.
    pub dma_bytes: u64,
    /// Instructions and DMAs of the executable.
    pub items: u64,
}

/// Segments of one core's part of a decoder on one kind of core.
pub struct Windows {
    config: DecoderConfig,
    shard: Shard,
    pub costs: CostTable,
    known: FxHashMap<Segment, Window>,
}

impl Windows {
    /// Nothing is simulated yet.
    ///
    /// # Errors
    /// When figures of the instance's cores that a simulation needs are not public.
    pub fn new(config: &DecoderConfig, shard: Shard, instance: &Instance, lnc: Option<u32>) -> Result<Self, Refusal> {
        let costs = CostTable::of_instance(instance).map_err(|e| Refusal::new(e.to_string()))?;
        let lnc = lnc.or_else(|| features(instance.core_version).map(|f| f.default_lnc)).unwrap_or(1);
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

    /// The simulation of a segment; a shape is simulated once.
    ///
    /// # Errors
    /// When it cannot be compiled.
    pub fn of(&mut self, segment: Segment) -> Result<Window, Refusal> {
        if let Some(known) = self.known.get(&segment) {
            return Ok(*known);
        }
        let executable = self.executable(segment)?;
        let outcome = simulate(&executable, &self.costs, &mut NoObserver)?;
        let window = Window { time: outcome.window, dma_bytes: outcome.dma_bytes, items: outcome.items };
        self.known.insert(segment, window);
        Ok(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KvRule, named_config};
    use ns_machine::arch::instance;

    struct Spans<'a>(&'a Executable, std::collections::BTreeMap<(String, String), (u64, u64, u64, u64)>);
    impl Spans<'_> {
        fn add(&mut self, unit: String, source: ns_machine::SourceId, s: u64, e: u64) {
            let src = &self.0.sources[source];
            let at = self
                .1
                .entry((
                    format!("{:>8}", s / 50_000_000 * 0),
                    format!("{} {}", src.path.rsplit('/').take(2).collect::<Vec<_>>().join("<"), unit),
                ))
                .or_insert((u64::MAX, 0, 0, 0));
            at.0 = at.0.min(s);
            at.1 = at.1.max(e);
            at.2 += e - s;
            at.3 += 1;
        }
    }
    impl ns_neuron::sim::Observer for Spans<'_> {
        fn instruction(&mut self, engine: ns_machine::isa::Engine, index: usize, span: ns_base::Interval<SimTime>) {
            let i = self.0.engines[engine.index()][index];
            self.add(engine.name().to_owned(), i.source, span.start.0, span.end.0);
        }
        fn dma(&mut self, q: ns_machine::isa::DmaQueue, index: usize, t: SimTime, span: ns_base::Interval<SimTime>) {
            let i = self.0.queues[q.index()][index];
            let _ = t;
            self.add(q.name().to_owned(), i.source, span.start.0, span.end.0);
        }
    }

    #[test]
    fn spans() {
        let host = instance("inf2.48xlarge").unwrap();
        let config = named_config("llama-2-13b").unwrap();
        let shard = Shard::of(&config, 24, KvRule::PerQueryHead).unwrap();
        let windows = Windows::new(&config, shard, host, None).unwrap();
        for segment in [
            Segment::Decode { batch: 8, bucket: 4096 },
            Segment::Decode { batch: 1, bucket: 16384 },
            Segment::Prefill { batch: 1, tokens: 1024 },
        ] {
            let executable = windows.executable(segment).unwrap();
            let mut spans = Spans(&executable, Default::default());
            let outcome = simulate(&executable, &windows.costs, &mut spans).unwrap();
            println!("{segment:?} {:?} busy {:?} dma {:?}", outcome.window, outcome.engine_busy, outcome.dma_busy);
            let mut all: Vec<_> = spans.1.into_iter().collect();
            all.sort_by_key(|(_, v)| v.0);
            for ((_, name), (s, e, busy, n)) in all {
                println!(
                    "{:>8.1} {:>8.1} busy {:>7.1} n {n:>5} {name}",
                    s as f64 / 1e6,
                    e as f64 / 1e6,
                    busy as f64 / 1e6
                );
            }
        }
    }

    #[test]
    fn probe() {
        let host = instance("inf2.48xlarge").unwrap();
        for (model, degree) in [("llama-2-13b", 24), ("llama-2-7b", 24), ("llama-2-70b", 24)] {
            let config = named_config(model).unwrap();
            let shard = Shard::of(&config, degree, KvRule::PerQueryHead).unwrap();
            let mut windows = Windows::new(&config, shard, host, None).unwrap();
            let rows = [Segment::FeedForward { rows: 1 }, Segment::FeedForward { rows: 8 }, Segment::Head { rows: 1 }];
            let decode = [1, 4, 8].into_iter().flat_map(|batch| {
                [128, 1024, 2048, 4096, 8192, 16_384].map(|bucket| Segment::Decode { batch, bucket })
            });
            let prefill = [(1, 128), (1, 1024), (1, 4096), (1, 8192), (8, 4096)]
                .map(|(batch, tokens)| Segment::Prefill { batch, tokens });
            let all: Vec<Segment> = rows
                .into_iter()
                .chain(decode)
                .chain(prefill)
                .chain([Segment::FeedForward { rows: 4096 }, Segment::FeedForward { rows: 32_768 }])
                .collect();
            for s in all {
                let start = std::time::Instant::now();
                match windows.of(s) {
                    Ok(w) => {
                        let us = w.time.to_ms_f64() * 1e3;
                        let rate = w.dma_bytes as f64 / us / 1e3;
                        println!(
                            "{model} {s:?}: {us:.1} us, {} bytes, {rate:.0} GB/s, {} items, {:?}",
                            w.dma_bytes,
                            w.items,
                            start.elapsed()
                        );
                    }
                    Err(e) => println!("{model} {s:?}: {e}"),
                }
            }
        }
    }
}
