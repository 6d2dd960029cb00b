//! The `neuronscope bench` command for a configuration of the Benchmark page.

use super::shell::has_name;
use crate::options::command_line;
use ns_bench::{BenchConfig, Processes};

/// Options that are written even if they have the default, for the reader of the command.
const ALWAYS: [&str; 4] = ["model", "instance", "duration", "seed"];

/// The command that gives the same rows as the page. `None` for a model file, whose path only its owner knows, and for an index of
/// compiled models, which is also a file.
pub fn bench_command(config: &BenchConfig) -> Option<String> {
    if config.index.is_some() || !has_name(&config.model) {
        return None;
    }
    let line =
        command_line("bench", config, &BenchConfig::default(), &ALWAYS, |line, option, text| match option.key() {
            "processes" => match config.options.processes {
                Processes::PerModel => line,
                Processes::Shared => line.option("multiprocess", "false"),
                Processes::Fresh => line.option("multiinterpreter", "true"),
            },
            "dataset" => {
                let length = text.strip_suffix(",loop");
                line.option("dataset", length.unwrap_or(text)).flag("loop-dataset", length.is_some())
            }
            _ => option.on(line, text),
        });
    Some(line.print())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_only_changed_options() {
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
