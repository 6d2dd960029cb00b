//! Properties that hold for any program, checked on random ones.

use proptest::prelude::*;

use super::core::{Core, Program};
use super::prices::prices;
use super::{NoObserver, Observer, SimOutcome, SimProgress, simulate};
use ns_base::{Interval, SimTime};
use ns_machine::cost::{CostTable, psum_time};
use ns_machine::isa::{Activity, Dma, DmaDirection, DmaQueue, Engine, Instruction, Op, Unit, Wait};
use ns_machine::{Executable, SourceId};

/// A program as a list of (unit, size, distance back to an item it waits for).
fn program(items: &[(usize, u32, usize)]) -> Executable {
    let mut executable = Executable::default();
    let mut emitted: Vec<Wait> = Vec::new();
    for (unit, size, back) in items {
        let waits_start = executable.waits.len() as u32;
        let awaited = emitted.len().checked_sub(*back).and_then(|i| emitted.get(i));
        executable.waits.extend(awaited);
        let waits_len = u8::from(awaited.is_some());
        let source = SourceId(0);
        let done = if let Some(engine) = Engine::ALL.get(*unit) {
            let op = match engine {
                Engine::Tensor if size % 3 == 0 => Op::LdWeights { rows: 128, columns: size % 128 + 1 },
                Engine::Tensor => Op::Matmul { free: size % 512 + 1, passes: 1 },
                Engine::Vector => Op::TensorTensor { free: *size, sbuf_only: size % 2 == 0 },
                Engine::Scalar => Op::Activate { free: *size },
                Engine::GpSimd => Op::Memset { free: *size },
            };
            let activity = Activity::Execution;
            let op = executable.ops.id_of(*engine, op);
            let stream = &mut executable.engines[engine.index()];
            let from_psum = matches!(engine, Engine::Vector | Engine::Scalar) && size % 5 < 2;
            stream.push(Instruction { op, activity, waits_start, waits_len, from_psum, source });
            Wait { unit: Unit::Engine(*engine), count: stream.len() as u32 }
        } else {
            let queue = DmaQueue::ALL[unit - Engine::ALL.len()];
            let direction = DmaDirection::HbmToSbuf;
            let ring = &mut executable.queues[queue.index()];
            let bytes = u64::from(*size) * 1_000;
            ring.push(Dma {
                bytes,
                partitions: size % 128 + 1,
                descriptors: u64::from(size % 50),
                first_partition: None,
                direction,
                exchange_ps: 0,
                waits_start,
                waits_len,
                source,
            });
            Wait { unit: Unit::Queue(queue), count: ring.len() as u32 }
        };
        emitted.push(done);
    }
    executable
}

fn items() -> impl Strategy<Value = Vec<(usize, u32, usize)>> {
    prop::collection::vec((0..Unit::COUNT, 1u32..2_000, 1usize..12), 1..120)
}

#[derive(Default)]
struct Spans {
    engines: [Vec<Interval<SimTime>>; 4],
    dmas: Vec<Interval<SimTime>>,
    items: usize,
}

impl Observer for Spans {
    fn instruction(&mut self, engine: Engine, _: usize, span: Interval<SimTime>) {
        self.engines[engine.index()].push(span);
        self.items += 1;
    }
    fn dma(&mut self, _: DmaQueue, _: usize, triggered: SimTime, span: Interval<SimTime>) {
        assert!(triggered <= span.start);
        self.dmas.push(span);
        self.items += 1;
    }
}

fn window(executable: &Executable, costs: &CostTable) -> SimTime {
    simulate(executable, costs, &mut NoObserver).unwrap().window
}

/// Runs one item after another, always the one that is due first.
fn simulate_in_order(executable: &Executable, costs: &CostTable, observer: &mut Spans) -> SimOutcome {
    let prices = prices(costs, &executable.ops);
    let program = Program { executable, costs, prices: &prices };
    let mut core = Core::new(program);
    while let Some(turn) = core.agenda.earliest() {
        core.take_turn(program, turn, 1, observer);
    }
    assert_eq!(core.run_observed(program, 1, observer).unwrap(), SimProgress::Done);
    core.outcome
}

proptest! {
    #[test]
    fn every_item_runs_once_and_no_engine_overlaps_itself(items in items()) {
        let executable = program(&items);
        let mut spans = Spans::default();
        let outcome = simulate(&executable, &CostTable::neuroncore_v2(), &mut spans).unwrap();
        prop_assert_eq!(spans.items, items.len());
        prop_assert_eq!(outcome.items, items.len() as u64);
        for engine in &spans.engines {
            for pair in engine.windows(2) {
                prop_assert!(pair[0].end <= pair[1].start);
            }
        }
        // Shared bandwidth: no set of DMAs moves more than the aggregate rate allows.
        let costs = CostTable::neuroncore_v2();
        let dma_time = spans.dmas.iter().map(|d| d.end).max().unwrap_or_default();
        let at_full_rate = outcome.dma_bytes * 1_000_000 / costs.dma.aggregate_bytes_per_us;
        prop_assert!(dma_time.0 + spans.dmas.len() as u64 >= at_full_rate);
    }

    #[test]
    fn an_observer_changes_nothing(items in items()) {
        let (executable, costs) = (program(&items), CostTable::inferentia2());
        let observed = simulate(&executable, &costs, &mut Spans::default()).unwrap();
        prop_assert_eq!(observed, simulate(&executable, &costs, &mut NoObserver).unwrap());
    }

    #[test]
    fn units_that_run_ahead_change_nothing(items in items()) {
        let executable = program(&items);
        for costs in [CostTable::neuroncore_v2(), CostTable::inferentia2(), CostTable::neuroncore_v3().unwrap()] {
            let (mut ahead, mut in_order) = (Spans::default(), Spans::default());
            let outcome = simulate(&executable, &costs, &mut ahead).unwrap();
            prop_assert_eq!(outcome, simulate_in_order(&executable, &costs, &mut in_order));
            prop_assert_eq!(ahead.engines, in_order.engines);
            prop_assert_eq!(ahead.dmas, in_order.dmas);
        }
    }

    #[test]
    fn a_faster_machine_is_never_slower(items in items()) {
        let executable = program(&items);
        let slow = CostTable::neuroncore_v2();
        let mut fast = slow.clone();
        fast.core.tensor_mhz *= 2;
        fast.core.vector_mhz *= 2;
        fast.core.scalar_mhz *= 2;
        fast.core.gpsimd_mhz *= 2;
        fast.dma.trigger_to_data_ns /= 2;
        fast.dma.aggregate_bytes_per_us *= 2;
        fast.dma.engine_bytes_per_us *= 2;
        prop_assert!(window(&executable, &fast) <= window(&executable, &slow));
    }

    #[test]
    fn the_window_is_at_least_the_busiest_engine(items in items()) {
        let executable = program(&items);
        let outcome = simulate(&executable, &CostTable::neuroncore_v2(), &mut NoObserver).unwrap();
        // The array loads a stationary tile while it streams, so its own intervals may add up to more.
        for engine in [Engine::Vector, Engine::Scalar, Engine::GpSimd] {
            prop_assert!(outcome.engine_busy[engine.index()] <= outcome.window);
        }
    }
}

/// Reads of PSUM by the vector and the scalar engine, alternately.
fn psum_reads(free: u32, from_psum: bool) -> Executable {
    let mut executable = Executable::default();
    for engine in [Engine::Vector, Engine::Scalar] {
        let op = if engine == Engine::Vector { Op::TensorCopy { free } } else { Op::Activate { free } };
        let op = executable.ops.id_of(engine, op);
        let (activity, source) = (Activity::Execution, SourceId(0));
        let read = Instruction { op, activity, waits_start: 0, waits_len: 0, from_psum, source };
        executable.engines[engine.index()] = vec![read; 50];
    }
    executable
}

#[test]
fn reads_of_psum_share_a_port_on_v2_and_none_on_v3() {
    let (v2, v3) = (CostTable::neuroncore_v2(), CostTable::neuroncore_v3().unwrap());
    let (apart, shared) = (psum_reads(512, false), psum_reads(512, true));
    assert_eq!(window(&shared, &v3), window(&apart, &v3));
    let port = [Engine::Vector, Engine::Scalar].map(|engine| {
        let op = shared.op(&shared.engines[engine.index()][0]);
        psum_time(&v2, engine, &op).0 * shared.engines[engine.index()].len() as u64
    });
    // One after the other, but for the overhead of the last instruction.
    let whole = window(&shared, &v2).0;
    assert!(whole >= port.iter().sum() && whole < port.iter().sum::<u64>() * 11 / 10, "{whole} {port:?}");
    assert!(window(&apart, &v2).0 < whole * 2 / 3);
}

#[test]
fn steps_of_any_size_give_the_same_result() {
    let items: Vec<_> = (0..200).map(|i| (i % Unit::COUNT, (i as u32 * 37) % 900 + 1, i % 7 + 1)).collect();
    let executable = program(&items);
    let costs = CostTable::neuroncore_v2();
    let whole = simulate(&executable, &costs, &mut NoObserver).unwrap();
    let mut stepped = super::Simulator::new(&executable, &costs);
    while stepped.step(3, &mut NoObserver).unwrap() != super::SimProgress::Done {}
    assert_eq!(*stepped.outcome(), whole);
}

#[test]
fn a_wait_that_never_ends_is_named() {
    let mut executable = program(&[(1, 4, 1), (0, 4, 1)]);
    executable.waits[0].count = 9;
    let error = simulate(&executable, &CostTable::neuroncore_v2(), &mut NoObserver).unwrap_err();
    assert_eq!(
        error.what(),
        "deadlock at item 0 of Tensor: it waits for Vector to complete 9 items, which it never does"
    );
}
