//! Python scripts that are given where a model or a file is expected: which command does what the script's call does.

use crate::options::read_neuronperf_call;
use ns_base::{Refusal, refuse};

/// A call of a tool's own script, and the command that replaces it.
struct Call {
    /// Words of a script that makes the call; one is enough.
    words: &'static [&'static str],
    /// The call, in a sentence.
    call: &'static str,
    command: &'static str,
    /// The chapter of docs/porting.md.
    chapter: &'static str,
}

/// The calls, the most particular first.
const CALLS: [Call; 6] = [
    Call {
        words: &["neuronperf", "npf."],
        call: "neuronperf's benchmark(...)",
        command: "neuronscope bench --model MODEL",
        chapter: "Benchmark",
    },
    Call {
        words: &["neuronx.experimental", "profiler.profile("],
        call: "profiler.profile(...)",
        command: "neuronscope profile --model MODEL --workflow mark_step",
        chapter: "Profiler",
    },
    Call {
        words: &["custom_op.load", "custom_op import", "import custom_op"],
        call: "custom_op.load(...)",
        command: "neuronscope customop --kernel build.py",
        chapter: "Custom operators",
    },
    Call {
        words: &["ubench_utils", "matmult_linear"],
        call: "the microbenchmark",
        command: "neuronscope matmult -b 1 -n 1024 -l 1000",
        chapter: "Microbenchmark",
    },
    Call {
        words: &["experiment_runner", "benchmark_model", "torchbench"],
        call: "the experiment runner",
        command: "neuronscope experiment --suite-name=torchbench --accelerator=trn1",
        chapter: "PyTorch/XLA's suite",
    },
    Call {
        words: &["torch_neuronx.trace", "torch.neuron.trace"],
        call: "trace(...)",
        command: "neuronscope bench FILE.pt2 (save it with torch.export.save(torch.export.export(model.eval(), example_inputs), \"FILE.pt2\"))",
        chapter: "Benchmark",
    },
];

/// What a script of any other kind may want.
const ITS_MODEL: Call = Call {
    words: &[],
    call: "its model",
    command: "neuronscope inspect FILE.pt2 (save it with torch.export.save(torch.export.export(model.eval(), example_inputs), \"FILE.pt2\"))",
    chapter: "Benchmark",
};

/// Whether this is a script that calls NeuronPerf's `benchmark`, whose arguments fill the form of the page.
#[must_use]
pub fn calls_neuronperf(name: &str, content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let has_word = CALLS[0].words.iter().any(|word| text.contains(word));
    name.to_ascii_lowercase().ends_with(".py") && has_word && text.contains("benchmark(")
}

/// The command that does what a call of NeuronPerf's `benchmark` in a text does, with its arguments.
#[must_use]
pub fn neuronperf_command(text: &str) -> Option<String> {
    read_neuronperf_call(text).ok().map(|call| call.command())
}

/// What to type instead of a Python script, by the calls in its text; `None` if the name is not that of a script. The command for NeuronPerf is
/// that of `neuronperf`, [`neuronperf_command`] where such scripts are refused: a program that runs them need not hold all options of a benchmark.
#[must_use]
pub fn refuse_script(name: &str, content: &[u8], neuronperf: fn(&str) -> Option<String>) -> Option<Refusal> {
    if !name.to_ascii_lowercase().ends_with(".py") {
        return None;
    }
    let text = String::from_utf8_lossy(content);
    let makes = |call: &&Call| call.words.iter().any(|word| text.contains(word));
    let Call { call, command, chapter, .. } = CALLS.iter().find(makes).unwrap_or(&ITS_MODEL);
    let own = if calls_neuronperf(name, content) { neuronperf(&text) } else { None };
    let command = own.unwrap_or_else(|| (*command).to_owned());
    Some(refuse!(
        "{name} is a Python script, which does not run here; python -m neuronscope {name} runs scripts of the Neuron SDK (docs/python.md); for {call} type: {command} (docs/porting.md, {chapter})"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_answered_with_the_command_that_replaces_its_call() {
        let answer = |text: &str| refuse_script("run.py", text.as_bytes(), neuronperf_command).unwrap().to_string();
        for (text, command) in [
            ("import neuronperf as npf\nimport neuronperf.torch\n", "neuronscope bench --model MODEL "),
            (
                "import neuronperf as npf\nnpf.torch.benchmark('resnet50', x, duration=5)",
                "neuronscope bench --model resnet50 --duration 5 ",
            ),
            ("import torch_neuronx\nfrom torch_neuronx.experimental import profiler\n", "neuronscope profile "),
            ("from torch_neuronx.xla_impl import custom_op\ncustom_op.load(name='relu')", "neuronscope customop "),
            ("import ubench_utils\n", "neuronscope matmult "),
            ("trace = torch_neuronx.trace(model, x)", "neuronscope bench FILE.pt2 "),
            ("print('hello')", "neuronscope inspect FILE.pt2 "),
        ] {
            assert!(answer(text).contains(&format!("type: {command}")), "{text}: {}", answer(text));
        }
        assert_eq!(refuse_script("run.txt", b"import neuronperf", neuronperf_command), None);
    }
}
