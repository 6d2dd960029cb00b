//! The `neuronscope bench` command for a configuration of the Benchmark page.

use super::shell::{Line, has_name};
use crate::share::{BENCH_FIELDS, BenchField};
use ns_bench::{BenchConfig, Processes};

/// The command that gives the same rows as the page. `None` for a model file, whose path only its owner knows, and for an index of
/// compiled models, which is also a file.
#[must_use]
pub fn bench_command(config: &BenchConfig) -> Option<String> {
    if config.index.is_some() || !has_name(&config.model) {
        return None;
    }
    let default = BenchConfig::default();
    let line = Line::new("bench").option("model", &config.model);
    let fields = BENCH_FIELDS.into_iter().filter(|field| *field != BenchField::Model);
    let line = fields.fold(line, |line, field| {
        let text = field.text(config);
        // A scenario has its own defaults; so has every empty field.
        let is_said = !text.is_empty() && (text != field.text(&default) || is_always_said(field));
        if is_said { with_field(line, field, &text, config) } else { line }
    });
    Some(line.print())
}

/// Fields that are written even if they have the default, for the reader of the command.
const fn is_always_said(field: BenchField) -> bool {
    matches!(field, BenchField::Instance | BenchField::Duration | BenchField::Seed)
}

fn with_field(line: Line, field: BenchField, text: &str, config: &BenchConfig) -> Line {
    match field {
        BenchField::Processes => match config.options.processes {
            Processes::PerModel => line,
            Processes::Shared => line.option("multiprocess", "false"),
            Processes::Fresh => line.option("multiinterpreter", "true"),
        },
        BenchField::Dataset => {
            let length = text.strip_suffix(",loop");
            line.option("dataset", length.unwrap_or(text)).flag("loop-dataset", length.is_some())
        }
        field => line.option(flag(field), text),
    }
}

/// The flag of a field.
const fn flag(field: BenchField) -> &'static str {
    match field {
        BenchField::Model => "model",
        BenchField::Name => "model-name",
        BenchField::Instance => "instance",
        BenchField::BatchSizes => "batch-sizes",
        BenchField::NModels => "n-models",
        BenchField::WorkersPerModel => "workers-per-model",
        BenchField::PipelineSizes => "pipeline-sizes",
        BenchField::Duration => "duration",
        BenchField::Seed => "seed",
        BenchField::Warmup => "warmup-inferences",
        BenchField::Jitter => "jitter",
        BenchField::PerformanceLevel => "performance-levels",
        BenchField::CostPerHour => "cost-per-hour",
        BenchField::AutoCast => "auto-cast",
        BenchField::AutoCastType => "auto-cast-type",
        BenchField::OptLevel => "optlevel",
        BenchField::Lnc => "lnc",
        BenchField::SdkGeneration => "sdk-generation",
        BenchField::Workflow => "workflow",
        BenchField::Inputs => "inputs",
        BenchField::DeviceType => "device-type",
        BenchField::Processes => "multiprocess",
        BenchField::Preprocess => "preprocess",
        BenchField::Postprocess => "postprocess",
        BenchField::EnvSetup => "env-setup-ms",
        BenchField::Setup => "setup-ms",
        BenchField::Dataset => "dataset",
        BenchField::Accounting => "duration-accounting",
        BenchField::Scenario => "scenario",
        BenchField::MinDuration => "min-duration",
        BenchField::MinQueries => "min-queries",
        BenchField::SamplesPerQuery => "samples-per-query",
        BenchField::LatencyBound => "latency-bound-ms",
        BenchField::TargetQps => "target-qps",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_says_what_was_chosen_and_no_more() {
        let config = BenchConfig { n_models: Some(vec![1, 2]), ..BenchConfig::default() };
        let command = bench_command(&config).unwrap();
        assert_eq!(
            command,
            "neuronscope bench --model nn --instance trn1.2xlarge --n-models 1,2 --duration 60 --seed 0"
        );
        let of_file = BenchConfig { model: "file:a.onnx@x".to_owned(), ..config };
        assert_eq!(bench_command(&of_file), None);
    }
}
