//! Test: a step with every rank simulated is the step of one rank with the times of the collectives added.

use ns_base::SimTime;
use ns_neuron::sim::{NoObserver, simulate};

use super::segment::Segment;
use super::step::Decoder;
use super::{FITTED, llm_instance, named_config};

/// When each rank ends a step of decode. The segments of every rank are simulated, each rank on a core of its own that begins `late` after the
/// first. A collective is not simulated: it begins when the last rank has come, takes the time of the cost model, and no rank begins its next
/// segment before it ends.
fn ends_of_ranks(decoder: &Decoder, batch: u64, bucket: u64, late: &[SimTime]) -> Vec<SimTime> {
    let mut clocks = late.to_vec();
    let run = |segment: Segment, clocks: &mut [SimTime]| {
        for clock in clocks {
            let executable = decoder.executable(segment).unwrap();
            *clock += simulate(&executable, decoder.costs(), &mut NoObserver).unwrap().window;
        }
    };
    let meet = |clocks: &mut [SimTime]| {
        let end = clocks.iter().copied().max().unwrap() + decoder.all_reduce(batch);
        clocks.fill(end);
    };
    for _ in 0..decoder.config.layers {
        run(Segment::Decode { batch, bucket }, &mut clocks);
        meet(&mut clocks);
        run(Segment::FeedForward { rows: batch }, &mut clocks);
        meet(&mut clocks);
    }
    run(Segment::Head { rows: batch }, &mut clocks);
    clocks
}

#[test]
fn ranks_that_are_all_simulated_end_when_one_does_with_its_collectives() {
    let config = named_config("gpt2").unwrap();
    for (instance, degree) in [("inf2.xlarge", 2_u32), ("trn2.48xlarge", 4)] {
        let mut decoder = Decoder::new(&config, llm_instance(instance).unwrap(), degree, None, FITTED).unwrap();
        let step = decoder.decode(1, 256).unwrap();
        let late = vec![SimTime::ZERO; degree as usize];
        let ends = ends_of_ranks(&decoder, 1, 256, &late);
        assert_eq!(ends, vec![step.time().saturating_sub(step.host); degree as usize]);
        // The others wait for one that comes late, once: from then on all go together.
        let mut late = late;
        late[1] = SimTime::from_us(7);
        assert!(ends_of_ranks(&decoder, 1, 256, &late).iter().all(|end| *end == ends[0] + late[1]));
    }
}
