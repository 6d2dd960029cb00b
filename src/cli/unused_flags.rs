//! Flags that mean nothing beside others: each is a remark on stderr. A flag that cannot be meant beside another is refused by the
//! arguments themselves (`conflicts_with`, `requires`).

use clap::ArgMatches;
use clap::parser::ValueSource;

/// Flags without an effect in a mode of a command.
struct Mode {
    command: &'static str,
    /// A flag and the values of it that make the mode; no values: whenever it is given.
    with: (&'static str, &'static [&'static str]),
    flags: &'static [&'static str],
    why: &'static str,
}

/// Flags of `customop` that say how a kernel runs.
const OF_A_KERNEL_RUN: &[&str] = &[
    "multicore",
    "shape",
    "cores",
    "layers",
    "batch",
    "workload",
    "input",
    "dtype",
    "fill",
    "seed",
    "reference",
    "output",
    "json",
    "print",
];

const MODES: &[Mode] = &[
    Mode {
        command: "aggregate",
        with: ("format", &["csv", "tab", "ascii"]),
        flags: &["fig_width", "fig_height", "title"],
        why: "only a picture, --format svg or png, has it",
    },
    Mode {
        command: "analyze",
        with: ("output_format", &["jsonl"]),
        flags: &["database"],
        why: "only --output-format csv appends to a database",
    },
    Mode {
        command: "numerics",
        with: ("answers", &[]),
        flags: &[
            "model",
            "instance",
            "batch_size",
            "rounding",
            "tolerance",
            "seed",
            "auto_cast",
            "auto_cast_type",
            "optlevel",
            "lnc",
        ],
        why: "--answers computes nothing",
    },
    Mode {
        command: "customop",
        with: ("list", &[]),
        flags: &["kernel", "set", "source"],
        why: "--list only lists kernels",
    },
    Mode { command: "customop", with: ("list", &[]), flags: OF_A_KERNEL_RUN, why: "--list only lists kernels" },
    Mode {
        command: "customop",
        with: ("source", &[]),
        flags: OF_A_KERNEL_RUN,
        why: "--source prints the kernel and runs nothing",
    },
    Mode { command: "customop", with: ("fill", &["ramp"]), flags: &["seed"], why: "a ramp has no random values" },
    Mode {
        command: "matmult",
        with: ("skip_verification", &[]),
        flags: &["num_verification_iterations"],
        why: "--skip-verification leaves the repetitions out",
    },
    Mode { command: "matmult", with: ("model", &[]), flags: &["add_bias"], why: "a model has its own biases" },
    Mode {
        command: "matmult",
        with: ("op", &[]),
        flags: &["add_bias"],
        why: "an operator has the operands of --shape",
    },
    Mode {
        command: "numerics",
        with: ("results", &[]),
        flags: &["tolerance", "json", "seed"],
        why: "--results only writes what the core computes",
    },
    Mode {
        command: "numerics",
        with: ("inputs", &[]),
        flags: &["seed"],
        why: "inputs and weights are those of the files",
    },
    Mode { command: "open", with: ("summary", &[]), flags: &["top"], why: "--summary lists no operators" },
];

/// A sentence for each flag that was given without an effect.
pub(super) fn remarks(matches: &ArgMatches) -> Vec<String> {
    let Some((command, matches)) = matches.subcommand() else { return Vec::new() };
    let is_given = |flag: &str| matches.value_source(flag) == Some(ValueSource::CommandLine);
    let holds = |(flag, values): (&str, &[&str])| match values {
        [] => is_given(flag),
        _ => {
            matches.get_raw(flag).is_some_and(|given| given.into_iter().any(|v| values.iter().any(|value| v == *value)))
        }
    };
    let mut said: Vec<&str> = Vec::new();
    let mut remarks = Vec::new();
    for mode in MODES.iter().filter(|mode| mode.command == command && holds(mode.with)) {
        for flag in mode.flags.iter().filter(|flag| is_given(flag)) {
            if !said.contains(flag) {
                said.push(flag);
                remarks.push(format!("note: --{} has no effect: {}", flag.replace('_', "-"), mode.why));
            }
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Args;

    #[test]
    fn every_flag_of_the_table_is_a_flag_of_its_command() {
        let args = Args::command();
        for mode in MODES {
            let command = args.find_subcommand(mode.command).unwrap();
            for flag in mode.flags.iter().chain([&mode.with.0]) {
                assert!(command.get_arguments().any(|a| a.get_id() == *flag), "{}: {flag}", mode.command);
            }
        }
    }

    #[test]
    fn a_flag_without_an_effect_is_said_and_others_are_not() {
        let of = |line: &str| remarks(&Args::command().try_get_matches_from(line.split(' ')).unwrap());
        let width = "note: --fig-width has no effect: only a picture, --format svg or png, has it";
        assert_eq!(of("n aggregate --accelerator v100 --fig-width 5 a.jsonl"), [width]);
        assert!(of("n aggregate --accelerator v100 --format svg --fig-width 5 a.jsonl").is_empty());
        assert!(of("n aggregate --accelerator v100 a.jsonl").is_empty());
        assert_eq!(of("n open a.json --summary --top 3").len(), 1);
        assert_eq!(of("n customop --list --source --seed 3 --json").len(), 3);
    }
}
