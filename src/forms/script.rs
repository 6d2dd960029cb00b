//! Python scripts that are given where a model or a file is expected: which command does what the script's call does.

use crate::commands::quoted;
use crate::options::read_neuronperf_call;
use crate::{Kind, sniff};
use ns_base::{Refusal, refuse};

/// A call of a tool's own script, and the command that replaces it.
struct Call {
    /// Files of the document or of the tool.
    files: &'static [&'static str],
    /// Words of a script that makes the call; one is enough.
    words: &'static [&'static str],
    /// The call, in a sentence.
    call: &'static str,
    command: &'static str,
    /// Flags of the command for whoever gives none.
    flags: &'static str,
    /// The chapter of docs/porting.md.
    chapter: &'static str,
}

/// How a model is saved that a command then reads.
const SAVED: &str =
    "FILE.pt2 (save it with torch.export.save(torch.export.export(model.eval(), example_inputs), \"FILE.pt2\"))";

/// The calls, the most particular first.
const CALLS: [Call; 9] = [
    Call {
        files: &[],
        words: &["neuronperf", "npf."],
        call: "neuronperf's benchmark(...)",
        command: "neuronscope bench",
        flags: "--model MODEL",
        chapter: "Benchmark",
    },
    Call {
        files: &[],
        words: &["neuronx.experimental", "profiler.profile("],
        call: "profiler.profile(...)",
        command: "neuronscope profile",
        flags: "--model MODEL --workflow mark_step",
        chapter: "Profiler",
    },
    Call {
        files: &["build.py", "my_ops.py", "inference.py"],
        words: &["custom_op.load", "custom_op import", "import custom_op", "my_ops", "Inf throughput"],
        call: "a custom operator",
        command: "neuronscope customop",
        flags: "--kernel build.py",
        chapter: "Custom operators",
    },
    Call {
        files: &["matmult_linear.py", "ubench_utils.py"],
        words: &["ubench_utils", "matmult_linear"],
        call: "the microbenchmark",
        command: "neuronscope matmult",
        flags: "-b 1 -n 1024 -l 1000",
        chapter: "Microbenchmark",
    },
    Call {
        files: &["aggregate.py"],
        words: &[],
        call: "the suite's reports",
        command: "neuronscope aggregate",
        flags: "results.jsonl",
        chapter: SUITE,
    },
    Call {
        files: &["result_analyzer.py"],
        words: &["ResultAnalyzer"],
        call: "the suite's result analyzer",
        command: "neuronscope analyze",
        flags: "--output-dirname=FOLDER",
        chapter: SUITE,
    },
    Call {
        files: &["matmul_benchmark.py"],
        words: &["matmul_benchmark"],
        call: "the suite's microbenchmark",
        command: "neuronscope matmul-bench",
        flags: "--baseline trn1 --device trn2",
        chapter: SUITE,
    },
    Call {
        files: &["experiment_runner.py", "benchmark_model.py"],
        words: &["experiment_runner", "benchmark_model", "torchbench"],
        call: "the experiment runner",
        command: "neuronscope experiment",
        flags: "--suite-name=torchbench --accelerator=trn1",
        chapter: SUITE,
    },
    Call {
        files: &[],
        words: &["torch_neuronx.trace", "torch.neuron.trace"],
        call: "trace(...)",
        command: "neuronscope bench",
        flags: SAVED,
        chapter: "Benchmark",
    },
];
const SUITE: &str = "PyTorch/XLA's suite";

/// What a script of any other kind may want.
const ITS_MODEL: Call = Call {
    files: &[],
    words: &[],
    call: "its model",
    command: "neuronscope inspect",
    flags: SAVED,
    chapter: "Benchmark",
};

impl Call {
    fn of(name: &str, text: &str) -> Option<&'static Self> {
        let makes = |call: &&Self| call.words.iter().any(|word| text.contains(word));
        CALLS.iter().find(makes).or_else(|| CALLS.iter().find(|call| call.has_file(name)))
    }

    fn has_file(&self, name: &str) -> bool {
        self.files.contains(&name.rsplit(['/', '\\']).next().unwrap_or(name))
    }

    /// The command for a script, with the user's flags if they are flags of this command.
    fn command_of(&self, name: &str, text: &str, given: &[String]) -> String {
        let is_traced = text.contains("traced_only=True") || text.contains("traced_only = True");
        let flags = if is_traced { self.flags.replace("mark_step", "trace") } else { self.flags.to_owned() };
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let is_tutorials = plain.contains("Linear(4,4)") && plain.contains("Linear(4,2)");
        let flags = if is_tutorials { flags.replace("MODEL", "nn") } else { flags };
        let own = match given {
            [command, own @ ..] if self.command == format!("neuronscope {command}") => own,
            // The flags of a tool's own script are those of the command that replaces it.
            [command, own @ ..] if command.is_empty() && self.has_file(name) => own,
            _ => &[],
        };
        // Flags of the user's stand in place of the same ones, and of words that are no flags.
        let mut words = vec![self.command.to_owned()];
        for pair in flags.split(" --").filter(|_| own.is_empty() || flags.starts_with("--model")) {
            let pair = pair.trim_start_matches("--");
            let name = pair.split([' ', '=']).next().unwrap_or_default();
            let is_given = |word: &String| word.trim_start_matches("--").split('=').next() == Some(name);
            if !own.iter().any(is_given) {
                words.push(if flags.starts_with("--") { format!("--{pair}") } else { pair.to_owned() });
            }
        }
        words.extend(own.iter().map(|word| quoted(word)));
        words.join(" ")
    }
}

/// Whether a script of this name belongs to one of the tools, whatever it holds.
pub fn is_known_script(name: &str) -> bool {
    Call::of(name, "").is_some()
}

/// Whether this is a script that calls NeuronPerf's `benchmark`, whose arguments fill the form of the page.
pub fn calls_neuronperf(name: &str, content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let has_word = CALLS[0].words.iter().any(|word| text.contains(word));
    name.to_ascii_lowercase().ends_with(".py") && has_word && text.contains("benchmark(")
}

/// The command that does what a call of NeuronPerf's `benchmark` in a text does, with its arguments.
pub fn neuronperf_command(text: &str) -> Option<String> {
    read_neuronperf_call(text).ok().map(|call| call.command())
}

/// What to type instead of a Python script, by the calls in its text; `None` if the name is not that of a script. `given` are the command that
/// the script was given to, empty if it stands in a command's place, and its other arguments. The command for NeuronPerf is that of `neuronperf`, [`neuronperf_command`] where such
/// scripts are refused: a program that runs them need not hold all options of a benchmark.
pub fn refuse_script(
    name: &str,
    content: &[u8],
    given: &[String],
    neuronperf: fn(&str) -> Option<String>,
) -> Option<Refusal> {
    if !name.to_ascii_lowercase().ends_with(".py") {
        return None;
    }
    if sniff(content, name) == Kind::Nki {
        return Some(refuse!("{name} is an NKI kernel; type: neuronscope nki {} (docs/nki.md)", quoted(name)));
    }
    let text = String::from_utf8_lossy(content);
    let found = Call::of(name, &text).unwrap_or(&ITS_MODEL);
    let own = if calls_neuronperf(name, content) { neuronperf(&text) } else { None };
    let arguments: String = given.iter().skip(1).map(|word| format!(" {}", quoted(word))).collect();
    // The arguments of a call are in the script; the user's follow them.
    let own = own.map(|own| if given.first().is_some_and(|c| c == "bench") { own + &arguments } else { own });
    let command = own.unwrap_or_else(|| found.command_of(name, &text, given));
    let (name, call, chapter) = (quoted(name), found.call, found.chapter);
    // The suite's scripts drive PyTorch itself.
    let runs = if chapter == SUITE {
        " of PyTorch/XLA's suite".to_owned()
    } else {
        format!(": python -m neuronscope {name}{arguments} runs it (docs/python.md), and so does neuronscope run")
    };
    Some(refuse!("{name} is a Python script{runs}; for {call} type: {command} (docs/porting.md, {chapter})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_to(name: &str, text: &str, given: &str) -> String {
        let given: Vec<String> = given.split_whitespace().map(str::to_owned).collect();
        refuse_script(name, text.as_bytes(), &given, neuronperf_command).unwrap().to_string()
    }

    #[test]
    fn a_script_is_answered_with_the_command_that_replaces_its_call() {
        let kernel = answer_to("run.py", "import nki\n\n@nki.jit\ndef f(x):\n    return x\n", "");
        assert!(kernel.contains("type: neuronscope nki run.py"), "{kernel}");
        let answer = |text: &str| answer_to("run.py", text, "");
        for (text, command) in [
            ("import neuronperf as npf\nimport neuronperf.torch\n", "neuronscope bench --model MODEL "),
            (
                "import neuronperf as npf\nnpf.torch.benchmark('resnet50', x, duration=5)",
                "neuronscope bench --model resnet50 --duration 5 ",
            ),
            (
                "import torch_neuronx\nfrom torch_neuronx.experimental import profiler\n",
                "neuronscope profile --model MODEL --workflow mark_step ",
            ),
            (
                "from torch_neuronx.experimental import profiler\nnn.Linear(4, 4)\nnn.Linear(4,2)\nprofiler.profile(traced_only=True)",
                "neuronscope profile --model nn --workflow trace ",
            ),
            ("from torch_neuronx.xla_impl import custom_op\ncustom_op.load(name='relu')", "neuronscope customop "),
            ("import my_ops\nx = torch_neuronx.trace(model, x)", "neuronscope customop "),
            ("import ubench_utils\n", "neuronscope matmult -b 1 -n 1024 -l 1000 "),
            ("trace = torch_neuronx.trace(model, x)", "neuronscope bench FILE.pt2 "),
            ("print('hello')", "neuronscope inspect FILE.pt2 "),
        ] {
            assert!(answer(text).contains(&format!("type: {command}")), "{text}: {}", answer(text));
        }
        assert_eq!(refuse_script("run.txt", b"import neuronperf", &[], neuronperf_command), None);
    }

    #[test]
    fn the_flags_that_were_given_stand_in_the_answer() {
        for (name, text, given, python, command) in [
            (
                "matmult_linear.py",
                "",
                "matmult -b 4 -n 256",
                "python -m neuronscope matmult_linear.py -b 4 -n 256 ",
                "neuronscope matmult -b 4 -n 256 ",
            ),
            (
                "run.py",
                "profiler.profile(",
                "profile --workflow trace -o x.json",
                "python -m neuronscope run.py --workflow trace -o x.json ",
                "neuronscope profile --model MODEL --workflow trace -o x.json ",
            ),
            (
                "a b.py",
                "neuronperf.torch.benchmark('nn', x)",
                "bench --duration 2",
                "python -m neuronscope 'a b.py' --duration 2 ",
                "neuronscope bench --model nn --duration 2 ",
            ),
            ("xla/aggregate.py", "", "aggregate r.jsonl", "script of PyTorch/XLA's", "neuronscope aggregate r.jsonl "),
            (
                "experiment_runner.py",
                "",
                "experiment --suite-name=dummy",
                "script of PyTorch/XLA's",
                "neuronscope experiment --suite-name=dummy ",
            ),
            ("inference.py", "", "bench", "inference.py runs", "neuronscope customop --kernel build.py "),
        ] {
            let answer = answer_to(name, text, given);
            assert!(answer.contains(python) && answer.contains(&format!("type: {command}")), "{answer}");
        }
        // A script in a command's place has its own flags, which are the command's if it is the tool's script.
        let alone = |name: &str, text: &str, flags: &[&str]| {
            let given: Vec<String> = [""].iter().chain(flags).map(|word| (*word).to_owned()).collect();
            refuse_script(name, text.as_bytes(), &given, neuronperf_command).unwrap().to_string()
        };
        let guide = alone("matmult_linear.py", "", &["--batch_size", "1", "--add_bias"]);
        assert!(guide.contains("python -m neuronscope matmult_linear.py --batch_size 1 --add_bias runs it"), "{guide}");
        assert!(guide.contains("type: neuronscope matmult --batch_size 1 --add_bias ("), "{guide}");
        let suite = alone("xla/result_analyzer.py", "", &["--output-dirname=er"]);
        assert!(suite.contains("type: neuronscope analyze --output-dirname=er ("), "{suite}");
        let mine = alone("run.py", "neuronperf.torch.benchmark('nn', x)", &["--seed", "3"]);
        assert!(mine.contains("run.py --seed 3 runs it") && mine.contains("bench --model nn ("), "{mine}");
        assert!(is_known_script("benchmarks/experiment_runner.py") && !is_known_script("mine.py"));
    }
}
