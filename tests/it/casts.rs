//! The effect of compiler flags and generations on simulated times.

use neuronscope::compiler::{AutoCast, CastType, CompileOptions, OptLevel, Workflow, modelled_compile_s};
use neuronscope::device::Device;
use neuronscope::machine::cost::CostTable;
use neuronscope::machine::isa::{DmaQueue, Engine, Op};
use neuronscope::neuron::sim::{NoObserver, simulate};

const MODELS: [&str; 4] = ["nn", "matmult:n=512,loop_count=10", "google/vit-base-patch16-224", "resnet18"];

fn options(auto_cast: AutoCast, auto_cast_type: CastType) -> CompileOptions {
    CompileOptions { auto_cast, auto_cast_type, ..CompileOptions::default() }
}

/// Simulated nanoseconds of one call.
fn window(model: &str, instance: &str, options: CompileOptions) -> u64 {
    let device = Device::new(instance, options).unwrap();
    let executable = device.compile(model, Some(1), Workflow::Trace).unwrap();
    simulate(&executable, &device.costs, &mut NoObserver).unwrap().window.to_ns()
}

#[test]
fn casts_have_the_documented_order_of_speed() {
    // Slow to fast: none, matmult to tf32, all to tf32, matmult to bf16, all to bf16.
    for model in &MODELS[1..] {
        let time = |cast, to| window(model, "trn1.2xlarge", options(cast, to));
        let order = [
            time(AutoCast::None, CastType::Bf16),
            time(AutoCast::Matmult, CastType::Tf32),
            time(AutoCast::All, CastType::Tf32),
            time(AutoCast::Matmult, CastType::Bf16),
            time(AutoCast::All, CastType::Bf16),
        ];
        assert!(order.windows(2).all(|w| w[1] <= w[0]) && order[4] < order[0], "{model}: {order:?}");
    }
}

#[test]
fn no_cast_means_four_passes_and_four_bytes() {
    let compile = |cast| {
        let device = Device::new("trn1.2xlarge", options(cast, CastType::Bf16)).unwrap();
        device.compile("matmult:n=512,loop_count=2", Some(1), Workflow::Trace).unwrap()
    };
    let (none, matmult) = (compile(AutoCast::None), compile(AutoCast::Matmult));
    let weights = |e: &neuronscope::machine::Executable| -> u64 {
        e.queues[DmaQueue::Weights.index()].iter().map(|d| d.bytes).sum()
    };
    assert_eq!(none.memory.weight_bytes, 2 * matmult.memory.weight_bytes);
    // Biases are read by additions, which are not cast either way.
    let bias = 512 * 4;
    assert_eq!(weights(&none) - bias, 2 * (weights(&matmult) - bias));
    let four = |e: &neuronscope::machine::Executable| {
        let stream = &e.engines[Engine::Tensor.index()];
        stream.iter().filter(|i| matches!(e.op(i), Op::Matmul { passes: 4, .. })).count()
    };
    assert_eq!(four(&matmult), 0);
    assert_eq!(four(&none), 2 * 4 * 4, "two products of four by four tiles");
}

#[test]
fn eight_bits_are_faster_only_where_the_array_contracts_two_rows() {
    let (bf16, fp8) = (options(AutoCast::Matmult, CastType::Bf16), options(AutoCast::Matmult, CastType::Fp8E4m3));
    let ratio = |instance| {
        let time = |o| window("matmult:n=1024,loop_count=20", instance, o) as f64;
        time(bf16) / time(fp8)
    };
    assert!(ratio("trn2.48xlarge") > 1.6, "{}", ratio("trn2.48xlarge"));
    assert!(ratio("trn1.2xlarge") < 1.1, "{}", ratio("trn1.2xlarge"));
}

#[test]
fn the_first_level_does_not_fuse() {
    let at = |opt_level| {
        let device = Device::new("trn1.2xlarge", CompileOptions { opt_level, ..CompileOptions::default() }).unwrap();
        let executable = device.compile("google/vit-base-patch16-224", Some(1), Workflow::Trace).unwrap();
        let fused = executable.sources.iter().filter(|s| !s.members.is_empty()).count();
        (fused, simulate(&executable, &device.costs, &mut NoObserver).unwrap().window)
    };
    let (o1, o2, o3) = (at(OptLevel::O1), at(OptLevel::O2), at(OptLevel::O3));
    assert!(o1.0 == 0 && o2.0 > 0, "{o1:?} {o2:?}");
    assert!(o1.1 >= o2.1);
    assert_eq!(o2, o3);
}

/// Makes one part of a device faster.
type Change = fn(&mut CostTable);

#[test]
fn a_faster_device_is_never_slower() {
    for model in MODELS {
        for base in [CostTable::neuroncore_v2(), CostTable::inferentia2(), CostTable::neuroncore_v3().unwrap()] {
            let device =
                Device { costs: std::rc::Rc::new(base.clone()), ..Device::of_instance("trn1.2xlarge").unwrap() };
            let executable = device.compile(model, Some(1), Workflow::Trace).unwrap();
            let time = |costs: &CostTable| simulate(&executable, costs, &mut NoObserver).unwrap().window;
            let faster: [(&str, Change); 6] = [
                ("tensor clock", |c| c.core.tensor_mhz = c.core.tensor_mhz * 3 / 2),
                ("vector and scalar clocks", |c| {
                    c.core.vector_mhz *= 2;
                    c.core.scalar_mhz *= 2;
                }),
                ("DMA rate", |c| {
                    c.dma.engine_bytes_per_us *= 2;
                    c.dma.aggregate_bytes_per_us *= 2;
                }),
                ("DMA latency", |c| c.dma.trigger_to_data_ns /= 2),
                ("two physical cores", |c| *c = c.clone().logical(2)),
                ("no limit of the clock", |c| c.engine.tensor_throttle = None),
            ];
            for (what, change) in faster {
                let mut costs = base.clone();
                change(&mut costs);
                // What keeps a tensor engine busier may make its clock slower, on hardware as here.
                let mut base = base.clone();
                if what != "no limit of the clock" {
                    base.engine.tensor_throttle = None;
                    costs.engine.tensor_throttle = None;
                }
                let before = time(&base);
                assert!(
                    time(&costs) <= before,
                    "{model} on {} with {what}: {:?} > {before:?}",
                    base.core.name,
                    time(&costs)
                );
            }
        }
    }
}

#[test]
fn logical_cores_of_two_are_faster_and_fewer() {
    let with = |lnc| CompileOptions { lnc: Some(lnc), ..CompileOptions::default() };
    for model in MODELS {
        assert!(window(model, "trn2.48xlarge", with(2)) <= window(model, "trn2.48xlarge", with(1)), "{model}");
        let default = window(model, "trn2.48xlarge", CompileOptions::default());
        assert_eq!(default, window(model, "trn2.48xlarge", with(2)), "{model}");
    }
    assert!(Device::new("trn1.2xlarge", with(2)).unwrap_err().to_string().contains("--lnc 2"));
    assert!(Device::new("inf1.xlarge", CompileOptions::default()).unwrap_err().to_string().contains("tensor_mhz"));
}

#[test]
fn the_microbenchmark_compiles_in_its_published_time() {
    let device = Device::of_instance("trn1.2xlarge").unwrap();
    let compile = |model| modelled_compile_s(&device.compile(model, Some(1), Workflow::Trace).unwrap());
    let seconds = compile("matmult:n=1024,loop_count=1000");
    assert!((seconds / 236.53 - 1.0).abs() < 0.05, "{seconds}");
    assert!(compile("matmult:n=1024,loop_count=500") < 0.55 * seconds);
}
