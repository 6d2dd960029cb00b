//! The parameters of the profiler's call, beside those that every run has.

use anyhow::{Result, anyhow, bail};
use clap::Parser;

use super::bench;
use crate::args::{Args, Command};
use crate::profile_args::{CallArgs, ProfileArgs};
use crate::shell::Shell;

/// How long a trace is, if `--ms-duration` is not given.
const TRACE_MS: u64 = 10_000;

/// A sentence for each parameter that needs no counterpart in a simulation.
pub(super) fn notes(call: &CallArgs) -> Vec<String> {
    let port =
        call.port.map(|port| format!("note: --port {port} has no effect: no server is needed to record a simulation"));
    let duration = call.ms_duration.map(|ms| {
        format!(
            "note: --ms-duration {ms}: one execution is recorded from its beginning to its end, however long it takes; --profile-type trace records all executions of {ms} ms"
        )
    });
    port.into_iter().chain(duration).collect()
}

/// The host and the NeuronCores over the duration: a benchmark of one model copy with one worker, as a timeline. Fails when an
/// output of one execution is asked for, or as `bench`.
pub(super) fn trace(shell: &Shell, args: &ProfileArgs) -> Result<()> {
    let output = &args.output;
    let Some(path) = &output.output else {
        bail!("--profile-type trace writes a timeline of many executions; name its file with --output");
    };
    let of_one = [
        (output.summary, "--summary"),
        (output.outputs, "--outputs"),
        (output.page.html.is_some(), "--html"),
        (output.run_date.is_some(), "--run-date"),
    ];
    if let Some((_, flag)) = of_one.iter().find(|(is_given, _)| *is_given) {
        bail!("{flag} is about a single execution, and --profile-type trace records many; leave one of them out");
    }
    if let Some(line) = notes(&CallArgs { ms_duration: None, ..args.call }).first() {
        shell.say(line);
    }
    let ms = args.call.ms_duration.unwrap_or(TRACE_MS);
    let spec = args.spec()?;
    let seconds = format!("{}.{:03}", ms / 1_000, ms % 1_000);
    let options = spec.options.to_string();
    let mut words: Vec<String> =
        ["neuronscope", "bench", "--n-models", "1", "--workers-per-model", "1"].map(str::to_owned).into();
    for (flag, value) in [
        ("--model", spec.model.as_str()),
        ("--instance", &spec.instance),
        ("--workflow", spec.workflow.name()),
        ("--duration", &seconds),
        ("--seed", &spec.seed.to_string()),
        ("--trace", &path.to_string_lossy()),
        ("--trace-export", output.export.name()),
    ] {
        words.extend([flag.to_owned(), value.to_owned()]);
    }
    words.extend(options.split(' ').map(str::to_owned));
    let batch = spec.batch_size.map(|n| format!("--batch-sizes={n}"));
    let dims = args.file_flags.dims.iter().map(|d| format!("--dim={d}"));
    let assumed = args.file_flags.assumptions.iter().map(|a| format!("--assume={a}"));
    words.extend(batch.into_iter().chain(dims).chain(assumed).chain(output.json.then(|| "--json".to_owned())));
    match Args::try_parse_from(words).map_err(|e| anyhow!("{e}"))?.command {
        Command::Bench(args) => bench::run(shell, *args),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_session::Workflow;

    fn profile(line: &str) -> ProfileArgs {
        let words = ["neuronscope", "profile"].into_iter().chain(line.split(' ')).map(Into::into).collect();
        let words = crate::flags::plain(words, &<Args as clap::CommandFactory>::command()).unwrap();
        match Args::try_parse_from(words).unwrap().command {
            Command::Profile(args) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_parameters_of_the_tutorial_are_taken_and_explained() {
        let args = profile("--port 9012 --profile-type=operator --ms-duration 10000 --traced-only=True");
        let said = notes(&args.call).join("\n");
        assert!(said.contains("--port 9012 has no effect") && said.contains("--ms-duration 10000"), "{said}");
        assert_eq!(args.spec().unwrap().workflow, Workflow::Trace);
        assert_eq!(profile("--traced-only=False").spec().unwrap().workflow, Workflow::MarkStep);
        assert_eq!(profile("--traced-only").spec().unwrap().workflow, Workflow::Trace);
        let problem = profile("--traced-only --workflow mark_step").spec().unwrap_err().to_string();
        assert!(problem.contains("leave one of them out"), "{problem}");
    }

    #[test]
    fn a_trace_of_many_steps_needs_a_file_and_has_no_summary() {
        let problem = |line: &str| trace(&Shell::default(), &profile(line)).unwrap_err().to_string();
        assert!(problem("--profile-type trace").contains("name its file with --output"));
        assert!(problem("--profile-type trace --output a.json --summary").contains("--summary is about a single"));
    }
}
