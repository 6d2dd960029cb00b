//! The run options of a benchmark as text, for links and the form. A default is an empty text, so that a link names only
//! what was chosen.

use super::BenchField;
use ns_bench::{Accounting, BenchConfig, Dataset, DeviceType, Processes, RunOptions, SdkGeneration, parse_inputs};
use ns_compiler::Workflow;

const PROCESSES: [(&str, Processes); 3] =
    [("per_model", Processes::PerModel), ("shared", Processes::Shared), ("fresh", Processes::Fresh)];
const ACCOUNTINGS: [(&str, Accounting); 2] = [("window", Accounting::Window), ("original", Accounting::Original)];
const GENERATIONS: [(&str, SdkGeneration); 2] =
    [(SdkGeneration::Pt1.name(), SdkGeneration::Pt1), (SdkGeneration::Pt2.name(), SdkGeneration::Pt2)];
const WORKFLOWS: [(&str, Workflow); 2] =
    [(Workflow::Trace.name(), Workflow::Trace), (Workflow::MarkStep.name(), Workflow::MarkStep)];

/// The text of a run option.
pub(super) fn text(field: BenchField, config: &BenchConfig) -> String {
    let (options, default) = (&config.options, RunOptions::default());
    let unless = |is_default: bool, text: String| if is_default { String::new() } else { text };
    let ms = |ms: f64| unless(ms == 0.0, ms.to_string());
    match field {
        BenchField::Inputs => config.inputs.iter().map(ToString::to_string).collect::<Vec<_>>().join(";"),
        BenchField::DeviceType => unless(options.device_type == default.device_type, options.device_type.name().into()),
        BenchField::Processes => unless(options.processes == default.processes, name(&PROCESSES, options.processes)),
        BenchField::Preprocess => unless(options.preprocess == default.preprocess, options.preprocess.to_string()),
        BenchField::Postprocess => unless(options.postprocess == default.postprocess, options.postprocess.to_string()),
        BenchField::EnvSetup => ms(options.env_setup_ms),
        BenchField::Setup => ms(options.setup_ms),
        BenchField::Dataset => {
            options.dataset.map_or_else(String::new, |d| format!("{}{}", d.length, if d.looped { ",loop" } else { "" }))
        }
        BenchField::Accounting => {
            unless(options.accounting == default.accounting, name(&ACCOUNTINGS, options.accounting))
        }
        BenchField::SdkGeneration => {
            unless(options.sdk_generation == default.sdk_generation, name(&GENERATIONS, options.sdk_generation))
        }
        BenchField::Workflow => unless(options.workflow == default.workflow, name(&WORKFLOWS, options.workflow)),
        _ => String::new(),
    }
}

/// Puts a text into a run option; an empty text means the default.
///
/// # Errors
/// One sentence for the user: what is wrong and what would be right.
pub(super) fn set(field: BenchField, config: &mut BenchConfig, text: &str) -> Result<(), String> {
    let (key, default, options) = (field.config_name(), RunOptions::default(), &mut config.options);
    let ms = || match text {
        "" => Ok(0.0),
        text => {
            text.parse::<f64>().map_err(|_| format!("{key}: '{text}' is not a number of milliseconds, such as 2.5"))
        }
    };
    match field {
        BenchField::Inputs if text.is_empty() => config.inputs.clear(),
        BenchField::Inputs => config.inputs = parse_inputs(text).map_err(|e| e.to_string())?,
        BenchField::DeviceType if text.is_empty() => options.device_type = default.device_type,
        BenchField::DeviceType => {
            let wrong = || format!("{key}: '{text}' cannot be run here; use neuron or cpu");
            options.device_type = DeviceType::from_name(text).ok_or_else(wrong)?;
        }
        BenchField::Processes => options.processes = value(key, &PROCESSES, text, default.processes)?,
        BenchField::Preprocess if text.is_empty() => options.preprocess = default.preprocess,
        BenchField::Preprocess => options.preprocess = text.parse().map_err(|e| format!("{key}: {e}"))?,
        BenchField::Postprocess if text.is_empty() => options.postprocess = default.postprocess,
        BenchField::Postprocess => options.postprocess = text.parse().map_err(|e| format!("{key}: {e}"))?,
        BenchField::EnvSetup => options.env_setup_ms = ms()?,
        BenchField::Setup => options.setup_ms = ms()?,
        BenchField::Dataset if text.is_empty() => options.dataset = None,
        BenchField::Dataset => {
            let (length, looped) = text.strip_suffix(",loop").map_or((text, false), |length| (length, true));
            let wrong = |_| {
                format!("{key}: '{text}' is not a dataset; write its length, such as 500, or 500,loop to repeat it")
            };
            options.dataset = Some(Dataset { length: length.trim().parse().map_err(wrong)?, looped });
        }
        BenchField::Accounting => options.accounting = value(key, &ACCOUNTINGS, text, default.accounting)?,
        BenchField::SdkGeneration => {
            options.sdk_generation = value(key, &GENERATIONS, text, default.sdk_generation)?;
        }
        BenchField::Workflow => options.workflow = value(key, &WORKFLOWS, text, default.workflow)?,
        _ => {}
    }
    Ok(())
}

fn name<T: PartialEq>(names: &[(&str, T)], value: T) -> String {
    names.iter().find(|(_, v)| *v == value).map_or_else(String::new, |(name, _)| (*name).to_owned())
}

fn value<T: Copy>(key: &str, names: &[(&str, T)], text: &str, default: T) -> Result<T, String> {
    if text.is_empty() {
        return Ok(default);
    }
    let known = || names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" or ");
    let found = names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    found.ok_or_else(|| format!("{key}: '{text}' is not {}", known()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::BENCH_FIELDS;
    use ns_bench::HostStep;

    #[test]
    fn what_was_chosen_is_written_and_reads_back() {
        let mut config = BenchConfig { inputs: parse_inputs("1x4;(2x3,2)").unwrap(), ..BenchConfig::default() };
        config.options = RunOptions {
            device_type: DeviceType::Cpu,
            processes: Processes::Shared,
            preprocess: HostStep::Normalize,
            postprocess: HostStep::Custom(0.25),
            env_setup_ms: 1.5,
            setup_ms: 2.0,
            dataset: Some(Dataset { length: 500, looped: true }),
            accounting: Accounting::Original,
            sdk_generation: SdkGeneration::Pt1,
            workflow: Workflow::MarkStep,
            ..config.options
        };
        let mut read = BenchConfig::default();
        for field in BENCH_FIELDS {
            field.set(&mut read, &field.text(&config)).unwrap();
            assert_eq!(field.text(&read), field.text(&config));
        }
        assert_eq!(read, config);
        for field in BENCH_FIELDS {
            field.set(&mut read, &field.text(&BenchConfig::default())).unwrap();
        }
        assert_eq!(read, BenchConfig::default());
    }

    #[test]
    fn wrong_texts_are_named() {
        let message = |field: BenchField, text: &str| field.set(&mut BenchConfig::default(), text).unwrap_err();
        assert!(message(BenchField::DeviceType, "gpu").contains("use neuron or cpu"));
        assert!(message(BenchField::Processes, "two").contains("per_model or shared or fresh"));
        assert!(message(BenchField::Dataset, "many").contains("500,loop"));
        assert!(message(BenchField::Dataset, "0").contains("dataset"));
        assert!(message(BenchField::Preprocess, "resize").contains("preprocess: 'resize' is not a step"));
        assert!(message(BenchField::Workflow, "eager").contains("workflow: 'eager' is not trace or mark_step"));
        assert!(message(BenchField::SdkGeneration, "pt3").contains("sdk_generation: 'pt3' is not pt1 or pt2"));
        assert!(message(BenchField::Setup, "-1").contains("setup_ms"));
        assert!(message(BenchField::Inputs, "axb").contains("'axb' is not a shape"));
    }
}
