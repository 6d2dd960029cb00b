//! Test: ranks that are all simulated, with their collectives, end when the one that stands for all does.

use ns_base::SimTime;
use ns_machine::cost::CostTable;
use ns_neuron::sim::{NoObserver, simulate};

use super::rank_program::RankProgram;
use super::segment::Segment;
use super::step::Decoder;
use super::{FITTED, llm_instance, named_config};

/// A core of its own: what its instructions cost, and how long after the first it begins.
#[derive(Clone)]
struct Rank {
    costs: CostTable,
    late: SimTime,
}

/// The segments of a step, with a collective after each but the last.
fn segments(decoder: &Decoder, batch: u64, bucket: u64) -> Vec<Segment> {
    let layer = [Segment::Decode { batch, bucket }, Segment::FeedForward { rows: batch }];
    let layers = (0..decoder.config.layers).flat_map(|_| layer);
    layers.chain([Segment::Head { rows: batch }]).collect()
}

/// When a rank has done these segments, with collectives of these times between them.
fn end(decoder: &Decoder, rank: &Rank, segments: &[Segment], exchanges: &[SimTime]) -> SimTime {
    let mut program = RankProgram::default();
    for (n, segment) in segments.iter().enumerate() {
        program.segment(&decoder.executable(0, *segment).unwrap());
        if let Some(time) = exchanges.get(n) {
            program.collective(*time);
        }
    }
    rank.late + simulate(program.executable(), &rank.costs, &mut NoObserver).unwrap().window
}

/// When each rank ends a step. Every rank is simulated from its first instruction to its last; a collective begins when the last rank has
/// come to it, so it is longer for those who came before.
fn ends(decoder: &Decoder, ranks: &[Rank], batch: u64, bucket: u64) -> Vec<SimTime> {
    let all = segments(decoder, batch, bucket);
    let time = decoder.all_reduce(batch, false);
    let mut exchanges: Vec<Vec<SimTime>> = vec![Vec::new(); ranks.len()];
    for n in 1..all.len() {
        let come: Vec<SimTime> =
            ranks.iter().zip(&exchanges).map(|(rank, known)| end(decoder, rank, &all[..n], known)).collect();
        let last = come.iter().copied().max().unwrap();
        for (known, come) in exchanges.iter_mut().zip(come) {
            known.push(last.saturating_sub(come) + time);
        }
    }
    ranks.iter().zip(&exchanges).map(|(rank, known)| end(decoder, rank, &all, known)).collect()
}

/// A decoder of few layers, so that every meeting of the ranks can be simulated from the start.
fn decoder(model: &str, instance: &str, degree: u32) -> Decoder {
    let mut config = named_config(model).unwrap();
    config.layers = 2;
    config.kinds[0].count = 2;
    config.order.truncate(2);
    Decoder::new(&config, llm_instance(instance).unwrap(), degree, None, FITTED).unwrap()
}

#[test]
fn ranks_that_are_all_simulated_end_when_one_does() {
    for (model, instance, degree, batch) in
        [("gpt2", "inf2.xlarge", 2_u32, 1), ("gpt2", "trn2.48xlarge", 4, 8), ("llama-2-7b", "trn1.32xlarge", 2, 4)]
    {
        let mut decoder = decoder(model, instance, degree);
        let rank = Rank { costs: decoder.costs().clone(), late: SimTime::ZERO };
        let all = segments(&decoder, batch, 256);
        let one = end(&decoder, &rank, &all, &vec![decoder.all_reduce(batch, false); all.len() - 1]);
        let ranks = vec![rank.clone(); degree as usize];
        assert_eq!(ends(&decoder, &ranks, batch, 256), vec![one; ranks.len()], "{model}");
        // The sum of parts that a step is made of leaves out the semaphores around its collectives.
        // What a step adds for further sequences is in no segment.
        decoder.calibration.further_cache_permille = 0;
        let step = decoder.decode(batch, 256).unwrap();
        let device = step.time().saturating_sub(step.host);
        let off = one.to_ms_f64() / device.to_ms_f64() - 1.0;
        assert!((-0.001..0.01).contains(&off), "{model}: {one:?} and {device:?}");
        // The others wait for one that comes late, once: from then on all go together.
        let mut late = ranks.clone();
        late[1].late = SimTime::from_us(7);
        assert!(ends(&decoder, &late, batch, 256).iter().all(|end| *end == one + late[1].late), "{model}");
    }
}

#[test]
fn all_ranks_are_as_slow_as_the_slowest() {
    let decoder = decoder("gpt2", "inf2.xlarge", 2);
    let fast = Rank { costs: decoder.costs().clone(), late: SimTime::ZERO };
    let mut slow = fast.clone();
    slow.costs.dma.aggregate_bytes_per_us = slow.costs.dma.aggregate_bytes_per_us * 9 / 10;
    let all = segments(&decoder, 1, 256);
    let alone = |rank: &Rank| end(&decoder, rank, &all, &vec![decoder.all_reduce(1, false); all.len() - 1]);
    let both = ends(&decoder, &[fast.clone(), slow.clone()], 1, 256);
    assert_eq!(both[1], alone(&slow));
    // The fast one is ahead in its last segment only, which no collective follows.
    let head = |rank: &Rank| end(&decoder, rank, &[Segment::Head { rows: 1 }], &[]);
    let ahead = both[1].saturating_sub(both[0]);
    assert!(both[0] > alone(&fast) && ahead < both[1].saturating_sub(alone(&fast)));
    assert!(ahead <= head(&slow).saturating_sub(head(&fast)) + SimTime::from_us(1), "{ahead:?}");
}
