//! One layer of a token opened: what each engine and DMA queue does in its segments.

use ns_base::Order;
use ns_base::convert::u64_to_usize;
use ns_base::{Interval, Refusal, SimTime};
use ns_machine::isa::{DmaQueue, Engine, Unit};
use ns_machine::{Executable, SourceId};
use ns_neuron::sim::{Observer, simulate};

use super::rank_program::{COLLECTIVE, RankProgram};
use super::step::Decoder;
use super::token::TokenPart;

/// The longest gap between two instructions of one operation that a stretch spans: less is the engine's own latency.
const GAP: SimTime = SimTime::from_ns(200);

/// A stretch of one operation on one engine or queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitWork {
    /// `Tensor`, `Vector`, `Scalar`, `GpSimd`, or the name of a DMA queue.
    pub unit: &'static str,
    /// The framework operator, by which operator tables aggregate.
    pub operator: String,
    pub start: SimTime,
    pub time: SimTime,
}

/// What the units of a core do in these parts of one layer, in the order of units and time: the layer's segments and collectives,
/// simulated as one program. A part that [`super::token_parts`] has made longer or shorter has its stretches scaled alike.
/// Fails when a segment cannot be compiled.
pub fn layer_work(
    decoder: &mut Decoder,
    batch: u64,
    bucket: u64,
    layer: &[TokenPart],
) -> Result<Vec<UnitWork>, Refusal> {
    let mut program = RankProgram::default();
    let of_layer = layer.iter().find_map(|part| part.layer).unwrap_or_default();
    let kind = decoder.config.order.get(u64_to_usize(of_layer)).copied().unwrap_or_default();
    let [attention, feed_forward] = decoder.layer(kind, batch, bucket);
    for part in layer {
        match part.name {
            "attention" => program.segment(&*decoder.executable(kind, attention)?),
            "feed-forward" => program.segment(&*decoder.executable(kind, feed_forward)?),
            COLLECTIVE => program.collective(part.time),
            _ => {}
        }
    }
    let executable = program.executable();
    let mut stretches = Stretches { executable, units: Vec::new() };
    let window = simulate(executable, decoder.costs(), &mut stretches)?.window;
    let places = Places::of(&stretches, layer, window);
    let mut work = Vec::new();
    for (unit, of_unit) in &stretches.units {
        work.extend(of_unit.iter().map(|(source, span)| {
            let (start, end) = (places.place(span.start), places.place(span.end));
            let operator = executable.sources.get(*source).map_or_else(String::new, |s| s.framework_op.clone());
            UnitWork { unit, operator, start, time: end.saturating_sub(start) }
        }));
    }
    work.retain(|w| w.time > SimTime::ZERO);
    work.order_by_key(|w| (place(w.unit), w.start));
    Ok(work)
}

/// Where times of the simulated layer lie in the token: each part has its own scale.
struct Places {
    /// The start of each part and the end of the last, simulated and in the token.
    bounds: Vec<(SimTime, SimTime)>,
}

impl Places {
    fn of(stretches: &Stretches<'_>, layer: &[TokenPart], window: SimTime) -> Self {
        let mut collectives = stretches.collectives().into_iter();
        let mut bounds = Vec::new();
        let mut simulated = SimTime::ZERO;
        for part in layer {
            if part.name == COLLECTIVE
                && let Some(span) = collectives.next()
            {
                bounds.push((span.start, part.start));
                simulated = span.end;
            } else {
                bounds.push((simulated, part.start));
            }
        }
        bounds.extend(layer.last().map(|last| (window, last.start + last.time)));
        Self { bounds }
    }

    fn place(&self, at: SimTime) -> SimTime {
        let after =
            self.bounds.partition_point(|(simulated, _)| *simulated <= at).clamp(1, self.bounds.len().max(2) - 1);
        let (Some((from, start)), Some((to, end))) = (self.bounds.get(after - 1), self.bounds.get(after)) else {
            return at;
        };
        let (within, whole) = (at.min(*to).saturating_sub(*from), to.saturating_sub(*from));
        let scaled = u128::from(within.0) * u128::from(end.saturating_sub(*start).0) / u128::from(whole.0.max(1));
        *start + SimTime(u64::try_from(scaled).unwrap_or(u64::MAX))
    }
}

/// Units in the order of profiles.
fn place(unit: &str) -> usize {
    Unit::ALL.iter().position(|known| known.name() == unit).unwrap_or(usize::MAX)
}

/// An operation, and when a unit works for it.
type Stretch = (SourceId, Interval<SimTime>);

/// Stretches by unit.
struct Stretches<'e> {
    executable: &'e Executable,
    units: Vec<(&'static str, Vec<Stretch>)>,
}

impl Stretches<'_> {
    /// When the collectives ran.
    fn collectives(&self) -> Vec<Interval<SimTime>> {
        let is_collective =
            |source: &SourceId| self.executable.sources.get(*source).is_some_and(|s| s.framework_op == COLLECTIVE);
        let all = self.units.iter().flat_map(|(_, stretches)| stretches);
        all.filter(|(source, _)| is_collective(source)).map(|(_, span)| *span).collect()
    }

    fn add(&mut self, unit: &'static str, source: SourceId, span: Interval<SimTime>) {
        let at = self.units.iter().position(|(name, _)| *name == unit).unwrap_or_else(|| {
            self.units.push((unit, Vec::new()));
            self.units.len() - 1
        });
        let of_unit = &mut self.units[at].1;
        match of_unit.last_mut() {
            Some((last, whole)) if *last == source && span.start <= whole.end + GAP => {
                whole.end = whole.end.max(span.end);
            }
            // Rings of DMAs overlap: a stretch begins where the one before it ends.
            Some((_, whole)) => {
                let start = span.start.max(whole.end);
                of_unit.push((source, Interval::new(start, span.end.max(start))));
            }
            None => of_unit.push((source, span)),
        }
    }
}

impl Observer for Stretches<'_> {
    fn instruction(&mut self, engine: Engine, index: usize, span: Interval<SimTime>) {
        if let Some(instruction) = self.executable.engines[engine.index()].get(index) {
            self.add(engine.name(), instruction.source, span);
        }
    }

    fn dma(&mut self, queue: DmaQueue, index: usize, _triggered: SimTime, span: Interval<SimTime>) {
        if let Some(dma) = self.executable.queues[queue.index()].get(index) {
            self.add(queue.name(), dma.source, span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FITTED, llm_instance, named_config, token_parts};

    #[test]
    fn the_work_of_a_layer_lies_in_its_segments() {
        let (config, instance) = (named_config("llama-2-7b").unwrap(), llm_instance("inf2.48xlarge").unwrap());
        let mut decoder = Decoder::new(&config, instance, 24, None, FITTED).unwrap();
        let parts = token_parts(&mut decoder, 4, 2_048).unwrap();
        let layer: Vec<TokenPart> = parts.iter().filter(|p| p.layer == Some(1)).copied().collect();
        let work = layer_work(&mut decoder, 4, 2_048, &layer).unwrap();
        let inside = |w: &&UnitWork| {
            let is_collective = w.operator == "all-reduce";
            let mut own = layer.iter().filter(|p| (p.name == "all-reduce") == is_collective);
            own.any(|p| p.start <= w.start && w.start + w.time <= p.start + p.time)
        };
        assert_eq!(work.iter().filter(|w| w.operator == "all-reduce").count(), 2);
        assert!(work.iter().all(|w| inside(&w)), "{:?}", work.iter().find(|w| !inside(w)));
        // A unit does one thing at a time.
        assert!(work.windows(2).all(|w| w[0].unit != w[1].unit || w[0].start + w[0].time <= w[1].start));
        for unit in ["Tensor", "Vector", "Scalar", "qSyncWeights0"] {
            assert!(work.iter().any(|w| w.unit == unit), "{unit}");
        }
        // Streaming the weights and the sums is most of a layer.
        let of = |unit: &str| work.iter().filter(|w| w.unit == unit).map(|w| w.time).sum::<SimTime>();
        let segments = layer.iter().filter(|p| p.name != "all-reduce").map(|p| p.time).sum::<SimTime>();
        assert!(of("qSyncWeights0").0 * 2 > segments.0, "{:?} of {segments:?}", of("qSyncWeights0"));
        assert!(work.len() < 2_000, "{} stretches are not for eyes", work.len());
    }
}
