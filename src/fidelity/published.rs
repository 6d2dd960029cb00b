//! The rows that ship with the crate, and the row that describes exactly what is shown. Nothing is interpolated: another batch
//! size, instance, number of cores or compiler option has no published row.

use std::sync::LazyLock;

use super::predict::{configuration, instance_of};
use super::row::{PublishedRow, read_rows};
use super::tables::PUBLISHED;
use ns_base::SimTime;
use ns_bench::matmult::MatmultCase;
use ns_bench::{Configuration, RunOptions, no_published_row};
use ns_compiler::{CompileOptions, Workflow};
use ns_model::zoo::ModelSpec;
use ns_neuron::gpsimd::{CustomOpSpec, Workload};

static ROWS: LazyLock<Vec<PublishedRow>> = LazyLock::new(|| read_rows(PUBLISHED.as_bytes()).unwrap_or_default());

/// The rows that describe a benchmark, with its configuration: every row of a sweep is compared with them.
static BENCHMARKS: LazyLock<Vec<(&'static PublishedRow, Configuration)>> = LazyLock::new(|| {
    let has_figure = |row: &&PublishedRow| row.published.is_some();
    shipped_rows().iter().filter(has_figure).filter_map(|row| Some((row, configuration(row).ok()?))).collect()
});

/// The rows that ship with the crate, in their order.
pub fn shipped_rows() -> &'static [PublishedRow] {
    &ROWS
}

/// The row of a benchmark's configuration: same model, instance, batch size, copies, workers, compiler options and generation of
/// the SDK. Of several releases the last one in the table.
pub fn published_benchmark(configuration: &Configuration) -> Option<&'static PublishedRow> {
    let last = BENCHMARKS.iter().rev().find(|(_, of_row)| are_equal(of_row, configuration))?;
    Some(last.0)
}

/// Whether two configurations measure the same: their durations, seeds and prices may differ.
fn are_equal(a: &Configuration, b: &Configuration) -> bool {
    let model = |c: &Configuration| c.model.parse::<ModelSpec>().ok().map(|spec| spec.to_string());
    let size = |c: &Configuration| (c.batch_size, c.n_models, c.workers_per_model, c.pipeline_size);
    let options = |c: &Configuration| RunOptions { stats_interval_s: 0.0, ..c.options.clone() };
    a.instance_type == b.instance_type
        && size(a) == size(b)
        && a.compile_options() == b.compile_options()
        && options(a) == options(b)
        && model(a).is_some_and(|of_a| Some(of_a) == model(b))
}

/// The row of a case of the microbenchmark; its throughput is in TFLOPS.
pub fn published_product(case: &MatmultCase) -> Option<&'static PublishedRow> {
    let run = &case.run;
    let is_guides = case.model.is_none()
        && case.batch_size == 1
        && case.options == CompileOptions::default()
        && run.add_bias
        && run.chained
        && run.warmup_iterations > 0
        && !run.sync
        && run.workflow == Workflow::Trace;
    let size = format!("n={}, loop_count={},", case.matrix_dim, case.loop_count);
    shipped_rows().iter().filter(|_| is_guides).find(|row| {
        row.model.starts_with("Matmult")
            && row.throughput_unit.starts_with("TFLOPS")
            && row.sequence_or_image.starts_with(&size)
            && row.instance.split_whitespace().any(|word| word == case.instance)
    })
}

/// The rate that AWS's guide has for a case of the microbenchmark, TFLOPS.
pub fn published_tops(case: &MatmultCase) -> Option<f64> {
    published_product(case)?.published
}

/// The rate of AWS's guide beside that of a case of the microbenchmark, TFLOPS: `77.64 in AWS's guide, ratio 0.98`; or that its
/// instance has no published row.
pub fn product_beside(case: &MatmultCase, here: f64) -> Option<String> {
    match published_tops(case) {
        Some(published) => Some(format!("{published:.2} in AWS\u{2019}s guide, ratio {:.2}", here / published)),
        None => no_published_row(&case.instance).map(str::to_owned),
    }
}

/// A published time of a profile: of the whole device window, or of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedTime {
    /// The operator as profiles name it; `None` for the device window.
    pub operator: Option<String>,
    pub time: SimTime,
    /// What measured it: `torch_neuronx profiler`.
    pub release: String,
}

/// The published times of one call of a model: the two-layer network of the profiling tutorial. `model` is a specification.
pub fn published_times(model: &str, batch_size: Option<u32>, workflow: Workflow, instance: &str) -> Vec<PublishedTime> {
    let default = "nn".parse::<ModelSpec>().map(|spec| spec.to_string()).ok();
    let spelled = model.parse::<ModelSpec>().map(|spec| spec.to_string()).ok();
    if spelled.is_none() || spelled != default {
        return Vec::new();
    }
    let workflow = match workflow {
        Workflow::MarkStep => "markstep",
        Workflow::Trace => "trace",
    };
    let of = |row: &PublishedRow| {
        let subject = row.model.strip_prefix("NN Linear(4,4)-ReLU-Linear(4,2)-Tanh, ")?;
        let part = subject.strip_prefix(workflow)?.strip_prefix(" workflow: ")?;
        let is_equal = batch_size.is_none_or(|batch| row.batch_size == Some(batch))
            && instance_of(&row.instance).is_ok_and(|size| size.name.split('.').next() == instance.split('.').next());
        let time = SimTime::from_ns_f64(row.latency_p50_ms.filter(|_| is_equal)? * 1e6);
        let operator = part.strip_prefix("operator ").map(str::to_owned);
        Some(PublishedTime { operator, time, release: row.framework.clone() })
    };
    shipped_rows().iter().filter_map(of).collect()
}

/// The row of a step of the custom operator tutorial; its throughput is in steps a second.
pub fn published_custom_op(spec: &CustomOpSpec) -> Option<&'static PublishedRow> {
    let built_in = ns_kernel::built_in(&spec.name).filter(|kernel| kernel.source.trim() == spec.source.trim())?;
    let accessor = match built_in.name {
        "relu-element" => "element-wise accessor",
        "relu-tcm" => "TCM accessor",
        "relu-multicore" => "TCM multicore",
        _ => return None,
    };
    let tutorial = CustomOpSpec::new(built_in.name, built_in.source, built_in.multicore);
    let is_tutorials = spec.layers == tutorial.layers
        && spec.workload == Workload::Inference
        && spec.input.is_none()
        && spec.dtype == tutorial.dtype
        && (spec.cores == tutorial.cores || !built_in.multicore);
    shipped_rows().iter().filter(|_| is_tutorials).find(|row| {
        row.model.starts_with("MLP 784-4096-2048-10")
            && row.model.contains(accessor)
            && row.throughput_unit.starts_with("iter/s")
            && row.batch_size.map(u64::from) == Some(spec.batch)
    })
}

/// The rate that AWS's tutorial has for a step of a custom operator, steps a second.
pub fn published_steps_per_s(spec: &CustomOpSpec) -> Option<f64> {
    published_custom_op(spec)?.published
}

/// The rate of AWS's tutorial beside that of a step of a custom operator, steps a second: `269.9 in AWS's tutorial, ratio 0.99`.
pub fn custom_op_beside(spec: &CustomOpSpec, here: f64) -> Option<String> {
    let published = published_steps_per_s(spec)?;
    let rate = if published >= 100.0 { format!("{published:.1}") } else { format!("{published:.3}") };
    Some(format!("{rate} in AWS\u{2019}s tutorial, ratio {:.2}", here / published))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_bench::matmult::MatmultConfig;
    use ns_bench::{BenchConfig, SdkGeneration, expand};

    fn published_rows(config: BenchConfig) -> Vec<Option<&'static PublishedRow>> {
        expand(&config).unwrap().configurations.iter().map(published_benchmark).collect()
    }

    fn resnet(batch_size: u32, n_models: u32) -> BenchConfig {
        BenchConfig {
            model: "resnet50".into(),
            instance_type: "inf2.xlarge".into(),
            batch_sizes: vec![batch_size],
            n_models: Some(vec![n_models]),
            ..BenchConfig::default()
        }
    }

    #[test]
    fn only_the_published_configuration_has_a_row() {
        let rate = |row: &Option<&PublishedRow>| row.and_then(|row| row.published);
        // One worker, then two.
        let rates = |config| published_rows(config).iter().map(rate).collect::<Vec<_>>();
        assert_eq!(rates(resnet(1, 1)), [Some(1_218.875), None]);
        assert_eq!(rates(resnet(1, 2)), [None, None]);
        assert_eq!(rates(resnet(8, 2)), [None, Some(4_393.304)]);
        assert_eq!(rates(resnet(4, 2)), [None, None]);
        let older = |sdk_generation| RunOptions { sdk_generation, ..RunOptions::default() };
        assert_eq!(rates(BenchConfig { options: older(SdkGeneration::Pt1), ..resnet(1, 1) }), [Some(1_044.93), None]);
        assert_eq!(rates(BenchConfig { instance_type: "trn1.2xlarge".into(), ..resnet(1, 1) }), [None, None]);
        let row = published_rows(BenchConfig { duration_s: 3.0, seed: 7, ..resnet(1, 1) }).remove(0).unwrap();
        assert_eq!((row.framework.as_str(), row.latency_p50_ms), ("PyTorch 2.5", Some(0.83)));
        let bert = |model: &str| BenchConfig {
            model: model.into(),
            instance_type: "trn1.2xlarge".into(),
            batch_sizes: vec![16],
            n_models: Some(vec![2]),
            workers_per_model: Some(vec![1]),
            ..BenchConfig::default()
        };
        assert_eq!(rates(bert("bert-base-uncased")), [Some(3_421.56625089)]);
        assert_eq!(rates(bert("bert-base-uncased:seq=128")), [Some(3_421.56625089)]);
        assert_eq!(rates(bert("bert-base-uncased:seq=64")), [None]);
    }

    #[test]
    fn the_guides_product_has_its_rate() {
        let case = MatmultConfig::default().cases().unwrap().remove(0);
        assert_eq!(published_product(&case).and_then(|row| row.published), Some(77.6383));
        assert_eq!(product_beside(&case, 76.4).as_deref(), Some("77.64 in AWS\u{2019}s guide, ratio 0.98"));
        let inf2 = MatmultCase { instance: "inf2.xlarge".into(), ..case.clone() };
        assert!(published_product(&inf2).is_some());
        let later = MatmultCase { instance: "trn2.48xlarge".into(), ..case.clone() };
        assert_eq!(product_beside(&later, 76.4).as_deref(), Some("no published row to compare"));
        for other in [
            MatmultCase { loop_count: 100, ..case.clone() },
            MatmultCase { matrix_dim: 2_048, ..case.clone() },
            MatmultCase { instance: "trn2.48xlarge".into(), ..case.clone() },
        ] {
            assert_eq!(published_product(&other), None, "{}", other.label());
        }
    }

    #[test]
    fn the_tutorials_network_has_its_times() {
        let ns = |workflow, instance: &str| {
            let times = published_times("nn", None, workflow, instance);
            times.into_iter().map(|t| (t.operator, t.time)).collect::<Vec<_>>()
        };
        let operator = |name: &str, ns| (Some(name.to_owned()), SimTime::from_ns(ns));
        assert_eq!(
            ns(Workflow::MarkStep, "trn1.2xlarge"),
            [
                (None, SimTime::from_ns(7_200)),
                operator("aten__addmm_dot", 279),
                operator("aten__relu_maximum", 276),
                operator("aten__tanh_tanh", 159),
            ]
        );
        assert_eq!(ns(Workflow::Trace, "inf2.xlarge"), [(None, SimTime::from_ns(4_050))]);
        assert!(ns(Workflow::Trace, "trn1.2xlarge").is_empty());
        assert!(published_times("nn", Some(8), Workflow::MarkStep, "trn1.2xlarge").is_empty());
        assert!(published_times("mlp", None, Workflow::MarkStep, "trn1.2xlarge").is_empty());
    }

    #[test]
    fn the_custom_operator_tutorial_has_its_three_rates() {
        let rate = |name: &str, batch: u64| {
            let kernel = ns_kernel::built_in(name).unwrap();
            let spec = CustomOpSpec { batch, ..CustomOpSpec::new(kernel.name, kernel.source, kernel.multicore) };
            published_custom_op(&spec).and_then(|row| row.published)
        };
        assert_eq!(rate("relu-element", 32), Some(8.099));
        assert_eq!(rate("relu-tcm", 32), Some(220.738));
        assert_eq!(rate("relu-multicore", 32), Some(269.936));
        assert_eq!((rate("relu-tcm", 64), rate("relu-any-type", 32)), (None, None));
    }
}
