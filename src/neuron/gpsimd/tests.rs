//! Custom operators by themselves and in a network.

use super::report::{Fault, ns};
use super::*;
use ns_kernel::{CoreMeter, Fill, KernelDtype, built_in};
use ns_machine::cost::CostTable;

fn spec(name: &str) -> CustomOpSpec {
    let kernel = built_in(name).unwrap();
    CustomOpSpec::new(kernel.name, kernel.source, kernel.multicore)
}

fn report(spec: &CustomOpSpec) -> CustomOpReport {
    run(spec, &CostTable::neuroncore_v2()).unwrap()
}

/// The tutorial's three figures, from one set of costs.
#[test]
fn the_tutorial_is_met_within_five_percent() {
    for (name, published) in [("relu-element", 8.0986), ("relu-tcm", 220.738), ("relu-multicore", 269.936)] {
        let found = report(&spec(name));
        let rate = found.iterations_per_s.unwrap();
        assert!((rate / published - 1.0).abs() < 0.05, "{name}: {rate} against {published}: {:?}", found.breakdown_ns);
        assert_eq!((found.max_abs_error, found.diagnostics.len()), (Some(0.0), 0), "{name}");
    }
}

#[test]
fn parts_of_any_size_give_the_same_answer() {
    for name in ["relu-element", "relu-tcm", "relu-multicore"] {
        let spec = CustomOpSpec { input: Some(vec![503]), workload: Workload::Training, ..small(name) };
        let costs = CostTable::neuroncore_v2();
        let whole = run_with_processors(&spec, &costs).unwrap();
        for part in [1, 7, 1_000] {
            let mut run = CustomOpRun::new(spec.clone(), &costs).unwrap();
            let (mut parts, mut fraction) = (0, 0.0);
            while !run.advance(part) {
                assert!(run.fraction() >= fraction && run.fraction() < 1.0);
                fraction = run.fraction();
                parts += 1;
            }
            let found = run.finish().unwrap();
            assert_eq!(found.0, whole.0, "{name} in parts of {part}");
            let ends = |meters: &[CoreMeter]| meters.iter().map(CoreMeter::total_ps).collect::<Vec<_>>();
            assert_eq!(ends(&found.1), ends(&whole.1));
            assert!(parts >= 4);
        }
    }
}

#[test]
fn a_kernel_without_end_can_be_left_after_any_part() {
    let source = "torch::Tensor f(const torch::Tensor& t) { while (true) { } return t; }";
    let spec = CustomOpSpec { source: source.to_owned(), ..small("relu-tcm") };
    let mut run = CustomOpRun::new(spec, &CostTable::neuroncore_v2()).unwrap();
    for _ in 0..100 {
        assert!(!run.advance(1_000));
    }
    let (report, _) = run.finish().unwrap();
    assert_eq!((report.iterations_per_s, report.complete), (None, false));
}

/// Models take the element-wise ReLU's time from the cost table; it equals the time of the kernel.
#[test]
fn the_relu_of_models_takes_its_kernels_time() {
    let costs = CostTable::neuroncore_v2();
    let found = report(&CustomOpSpec { input: Some(vec![64, 512]), ..small("relu-element") });
    let table_ns = ns(costs.engine.custom_element_ps);
    let ratio = found.ns_per_element.unwrap() / table_ns;
    assert!((ratio - 1.0).abs() < 0.01, "{:?} against {table_ns}", found.ns_per_element);
}

fn small(name: &str) -> CustomOpSpec {
    CustomOpSpec { layers: vec![16, 24, 8, 4], batch: 4, ..spec(name) }
}

#[test]
fn an_input_is_reported_by_itself() {
    let found = report(&CustomOpSpec { input: Some(vec![100, 3]), fill: Fill::Ramp, ..small("relu-element") });
    assert_eq!(found.max_abs_error, Some(0.0));
    assert_eq!((found.output.len(), found.output[0], found.breakdown_ns.host), (64, Some(0.0), 0.0));
    let inner = found.lines.iter().max_by_key(|l| l.count).unwrap();
    // 300 elements and the 100 ends of the inner loop on its line.
    assert_eq!(inner.count, 400);
    assert!(found.lines.iter().any(|l| l.count == 300));
    let sum: f64 = found.lines.iter().map(|l| l.time_ns).sum();
    assert!((sum - found.cores_ns[0]).abs() < 1e-6);
}

#[test]
fn a_wrong_backward_kernel_is_a_fault_of_training() {
    let right = small("relu-tcm");
    let source = right.source.replace("> 0.0 ? grads[i]", "< 0.0 ? grads[i]");
    assert_ne!(source, right.source);
    let wrong = |workload| report(&CustomOpSpec { source: source.clone(), workload, ..right.clone() });
    assert_eq!(wrong(Workload::Inference).max_abs_error, Some(0.0));
    assert!(matches!(wrong(Workload::Training).fault(), Some(Fault::Values(error)) if error > 0.5));
}

#[test]
fn training_adds_the_backward_kernel() {
    for name in ["relu-element", "relu-tcm", "relu-multicore-fixed"] {
        let inference = report(&small(name));
        let training = report(&CustomOpSpec { workload: Workload::Training, ..small(name) });
        let (a, b) = (inference.breakdown_ns, training.breakdown_ns);
        assert!(b.compute > 1.5 * a.compute && b.network > 2.0 * a.network && b.host > 2.0 * a.host, "{name}");
        assert!(training.iterations_per_s.unwrap() < inference.iterations_per_s.unwrap());
    }
    let forward_only = "torch::Tensor f(const torch::Tensor& t) { return t; }";
    let found =
        report(&CustomOpSpec { source: forward_only.to_owned(), workload: Workload::Training, ..small("relu-tcm") });
    assert_eq!((found.iterations_per_s, found.diagnostics[0].code), (None, "no_kernel"));
}

#[test]
fn the_partition_mistake_is_found_and_explained() {
    let odd = |name| report(&CustomOpSpec { input: Some(vec![1003]), fill: Fill::Ramp, ..small(name) });
    let found = odd("relu-multicore");
    let codes: Vec<&str> = found.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["out_of_bounds", "out_of_bounds", "unwritten"]);
    let message = &found.diagnostics[2].message;
    assert!(
        message.starts_with("21 element(s) of the result are never written, the first is element 875"),
        "{message}"
    );
    assert!(message.contains("Processor 7 begins at element 896") && message.contains("875 = 125 x 7"), "{message}");
    assert!(found.max_abs_error.unwrap() > 0.0);
    let fixed = odd("relu-multicore-fixed");
    assert_eq!((fixed.diagnostics.len(), fixed.max_abs_error), (0, Some(0.0)));
    // Fewer elements than processors: seven empty slices, and the last processor takes all.
    let few = report(&CustomOpSpec { input: Some(vec![5]), fill: Fill::Ramp, ..small("relu-multicore-fixed") });
    assert_eq!((few.diagnostics.len(), few.max_abs_error), (0, Some(0.0)));
}

/// Fewer bytes per element need fewer copies; a type that the kernel or the language does not take is in the
/// report.
#[test]
fn tensors_have_other_element_types() {
    let of = |name, dtype| report(&CustomOpSpec { dtype, input: Some(vec![5_000]), fill: Fill::Ramp, ..small(name) });
    let mut copies = Vec::new();
    for dtype in [KernelDtype::Int64, KernelDtype::Float32, KernelDtype::Int32, KernelDtype::Int16] {
        let found = of("relu-any-type", dtype);
        assert_eq!((found.max_abs_error, found.diagnostics.len(), found.dtype), (Some(0.0), 0, dtype), "{dtype}");
        copies.push(found.breakdown_ns.dma);
    }
    assert!(copies[0] > copies[1] && copies[1] == copies[2] && copies[2] > copies[3], "{copies:?}");
    let whole = of("relu-any-type", KernelDtype::Int32);
    assert_eq!((whole.output[0], whole.iterations_per_s.is_some()), (Some(0.0), true));
    for (name, dtype, code) in [
        ("relu-tcm", KernelDtype::Int32, "invalid"),
        ("relu-element", KernelDtype::Uint8, "invalid"),
        ("relu-any-type", KernelDtype::Bfloat16, "not_supported"),
    ] {
        let found = of(name, dtype);
        assert_eq!((found.iterations_per_s, found.diagnostics[0].code), (None, code), "{name} {dtype}");
    }
}

#[test]
fn processors_share_the_work() {
    let with = |cores| report(&CustomOpSpec { cores, input: Some(vec![65_536]), ..small("relu-multicore-fixed") });
    let (one, eight) = (with(1).ns_per_element.unwrap(), with(8).ns_per_element.unwrap());
    assert!((7.0..=8.0).contains(&(one / eight)), "{one} {eight}");
}

#[test]
fn a_user_written_reference_is_an_expression() {
    let square = "torch::Tensor square(const torch::Tensor& t) { torch::Tensor o = torch::empty(t.sizes(), torch::kFloat); auto r = t.read_stream_accessor<float>(); auto w = o.write_stream_accessor<float>(); for (int i = 0; i < t.numel(); i++) { float x = r.read(); w.write(x * x); } return o; }";
    let base = CustomOpSpec { source: square.to_owned(), ..small("relu-tcm") };
    assert_eq!(report(&base).max_abs_error, None);
    let right = CustomOpSpec { reference: Some("x * x".to_owned()), ..base.clone() };
    assert_eq!(report(&right).max_abs_error, Some(0.0));
    let wrong = CustomOpSpec { reference: Some("2 * x".to_owned()), ..base.clone() };
    let found = report(&wrong);
    assert!(found.max_abs_error.unwrap() > 0.0 && found.iterations_per_s.is_some());
    assert!(matches!(found.fault(), Some(Fault::Values(_))) && found.comparable_rate().is_none());
    assert!(found.problem().starts_with("off by "));
    // The same formula in another order: its last digit is another one.
    let rounded = CustomOpSpec { reference: Some("x * x * 3.0f / 3.0f".to_owned()), ..base.clone() };
    let found = report(&rounded);
    assert!(found.max_abs_error.unwrap() > 0.0 && found.fault().is_none() && found.comparable_rate().is_some());
    let bad = CustomOpSpec { reference: Some("x +".to_owned()), ..base };
    assert!(
        run(&bad, &CostTable::neuroncore_v2())
            .is_err_and(|e| e.what().contains("the reference expression 'x +' cannot be computed"))
    );
}

#[test]
fn options_have_bounds() {
    for bad in [
        CustomOpSpec { batch: 0, ..small("relu-tcm") },
        CustomOpSpec { layers: vec![4], ..small("relu-tcm") },
        CustomOpSpec { cores: 0, ..small("relu-tcm") },
        CustomOpSpec { input: Some(vec![1 << 40]), ..small("relu-tcm") },
        CustomOpSpec { layers: vec![4, 65_536, 4], batch: 65_536, ..small("relu-tcm") },
    ] {
        assert!(run(&bad, &CostTable::neuroncore_v2()).is_err_and(|e| e.what().contains(" is outside ")));
    }
}

#[test]
fn a_wrong_kernel_is_reported_with_its_place() {
    let spec = CustomOpSpec { source: "int f( {".to_owned(), ..small("relu-tcm") };
    let found = report(&spec);
    assert_eq!((found.iterations_per_s, found.diagnostics.len()), (None, 1));
    assert_eq!((found.diagnostics[0].code, found.diagnostics[0].line, found.diagnostics[0].column), ("syntax", 1, 8));
    let json = customop_json(&[(&spec, &found)], |_| Some(2.0)).unwrap();
    assert!(json.contains("\"iterations_per_s\": null") && json.contains("\"published_iterations_per_s\": 2.0"));
    let fault = found.fault().unwrap();
    assert!(matches!(fault, Fault::DoesNotCompile(Some(_))), "{fault}");
    assert!(fault.to_string().starts_with("the kernel does not compile: line 1: expected"), "{fault}");
}
