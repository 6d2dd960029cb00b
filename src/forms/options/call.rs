//! A call of NeuronPerf, as a script has it: its arguments as texts of the benchmark's options.

use super::table::BENCH_OPTIONS;
use ns_base::{Refusal, refuse, truth_of};
use ns_bench::BenchConfig;
use ns_device::ModelRef;

/// The arguments of a call of `benchmark`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeuronperfCall {
    /// Options by their key, each with its text.
    pub options: Vec<(&'static str, String)>,
    /// Arguments that the form has no field for, as they are written.
    pub left_out: Vec<String>,
}

impl NeuronperfCall {
    /// Whether the call names a model that is built in.
    pub fn names_model(&self) -> bool {
        self.options.iter().any(|(key, _)| *key == "model")
    }

    /// The benchmark of the call, with NeuronPerf's defaults for what it does not say.
    pub fn config(&self) -> BenchConfig {
        let mut config = BenchConfig::default();
        for (key, text) in &self.options {
            // Each text was taken by its option when the call was read.
            let option = BENCH_OPTIONS.iter().find(|option| option.key() == *key);
            option.into_iter().for_each(|option| drop(option.set(&mut config, text)));
        }
        config
    }

    /// The command that does the same; `MODEL` stands for a model that the call does not name.
    pub fn command(&self) -> String {
        let mut words = vec!["neuronscope bench".to_owned()];
        if !self.names_model() {
            words.push("--model MODEL".to_owned());
        }
        for (key, text) in &self.options {
            let Some(option) = BENCH_OPTIONS.iter().find(|o| o.key() == *key && !o.flag_name().is_empty()) else {
                continue;
            };
            let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.,:=".contains(c));
            let text = if is_word { text.clone() } else { format!("\"{text}\"") };
            words.push(format!("--{} {text}", option.flag_name()));
        }
        words.join(" ")
    }
}

/// Reads `npf.torch.benchmark(model, inputs, n_models=[1, 2], ...)`, also amid the rest of a script, whose variables and functions are taken
/// where the call names them. Arguments without a name are the model and its inputs; the model is taken if it is the name of one that is
/// built in. Fails when the text has no such call, when its brackets do not close, or when an argument has a value that the option
/// does not take.
pub fn read_neuronperf_call(text: &str) -> Result<NeuronperfCall, Refusal> {
    let begin = text.find("benchmark(").ok_or_else(|| {
        refuse!(
            "the text has no call of benchmark(...). Paste it with its arguments, such as npf.torch.benchmark(model, inputs, n_models=[1, 2])"
        )
    })?;
    let before = &text[..begin];
    let mut call = NeuronperfCall::default();
    if before.ends_with("cpu.") {
        call.options.push(("device_type", "cpu".to_owned()));
    }
    for (at, argument) in arguments(&text[begin + "benchmark(".len()..])?.into_iter().enumerate() {
        let first = argument.strip_prefix("model_filename=").or((at == 0).then_some(argument.as_str()));
        let first = first.map(|value| value_of(before, value));
        let name = first.as_deref().map(|value| (unquoted(value), value.len()));
        let name = name.filter(|(name, whole)| name.len() < *whole && matches!(name.parse(), Ok(ModelRef::Zoo(_))));
        if let Some((name, _)) = name {
            call.options.push(("model", name.to_owned()));
            continue;
        }
        let named = argument.split_once('=').filter(|(name, _)| is_name(name.trim()));
        let Some((name, value)) = named.map(|(name, value)| (name.trim(), value_of(before, value.trim()))) else {
            call.left_out.push(argument);
            continue;
        };
        let (name, value) = match (name, truth_of(&value)) {
            ("multiprocess", Some(false)) => ("processes", "shared".to_owned()),
            ("multiinterpreter", Some(true)) => ("processes", "fresh".to_owned()),
            // These are the defaults.
            ("multiprocess", Some(true)) | ("multiinterpreter", Some(false)) => continue,
            _ => (name, unquoted(&value).to_owned()),
        };
        let is_asked = |key: &str| key.replace('-', "_") == name;
        let option = BENCH_OPTIONS
            .iter()
            .find(|o| is_asked(o.key()) || is_asked(&o.flag_name()) || o.flag.aliases.iter().copied().any(is_asked));
        match option {
            // Tensors and datasets are made by the script.
            Some(option) if matches!(option.key(), "inputs" | "dataset") && is_name(&value) => {
                call.left_out.push(argument)
            }
            Some(option) if value != "None" => {
                option.set(&mut BenchConfig::default(), &value).map_err(|e| refuse!("{name}={value}: {e}"))?;
                call.options.retain(|(key, _)| *key != option.key());
                call.options.push((option.key(), value));
            }
            Some(_) => {}
            None => call.left_out.push(argument),
        }
    }
    Ok(call)
}

/// The value of an argument: of a variable, what the script last gives it; of a function, the function as one line.
fn value_of(script: &str, value: &str) -> String {
    if !is_name(value) {
        return value.to_owned();
    }
    let assigned = script.lines().rev().find_map(|line| {
        let (name, given) = line.split_once('=')?;
        let given = given.split('#').next().unwrap_or(given).trim();
        (name.trim() == value && !given.starts_with('=') && !given.is_empty()).then(|| given.to_owned())
    });
    let defined = || {
        let (_, rest) = script.rsplit_once(&format!("def {value}("))?;
        let (parameters, body) = rest.split_once("):")?;
        let result = body.split_once("return ")?;
        // Only a function of one expression is a line.
        result
            .0
            .trim()
            .is_empty()
            .then(|| format!("lambda {parameters}: {}", result.1.lines().next().unwrap_or_default()))
    };
    assigned.or_else(defined).unwrap_or_else(|| value.to_owned())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn unquoted(text: &str) -> &str {
    let inner = |quote| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// The arguments up to the bracket that closes the call, without comments.
fn arguments(text: &str) -> Result<Vec<String>, Refusal> {
    let (mut found, mut current, mut depth, mut quote) = (Vec::new(), String::new(), 0_u32, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '#') => {
                letters.by_ref().find(|c| *c == '\n');
                continue;
            }
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') if depth > 0 => depth -= 1,
            (None, ')' | ',') if depth == 0 => {
                found.extend(Some(current.trim().to_owned()).filter(|text| !text.is_empty()));
                current.clear();
                if letter == ')' {
                    return Ok(found);
                }
                continue;
            }
            _ => {}
        }
        current.push(letter);
    }
    Err(refuse!("the call of benchmark(...) is cut off: its last bracket is missing. Paste the whole call"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_a_call_are_options() {
        let script = "import neuronperf as npf\nreports = npf.torch.benchmark(\n    'model.json', [x, y],  # (inputs)\n    n_models=list(range(1, 4)), workers_per_model=[1, 2],\n    batch_sizes=[1, 4], duration=10, cost_per_hour=0.5, multiinterpreter=True, pipeline_sizes=None)\nnpf.print_reports(reports)";
        let call = read_neuronperf_call(script).unwrap();
        let texts: Vec<(&str, &str)> = call.options.iter().map(|(key, text)| (*key, text.as_str())).collect();
        assert_eq!(
            texts,
            [
                ("n_models", "list(range(1, 4))"),
                ("workers_per_model", "[1, 2]"),
                ("batch_sizes", "[1, 4]"),
                ("duration", "10"),
                ("cost_per_hour", "0.5"),
                ("processes", "fresh")
            ]
        );
        assert_eq!(call.left_out, ["'model.json'", "[x, y]"]);
    }

    #[test]
    fn variables_and_functions_of_the_script_are_read() {
        let script = "n_models = [1, 2]\nn_models = list(range(1, 10))  # all\nscale = lambda x: x / 255\n\ndef preprocess_fn(x):\n    return x * 5\n\n\
                      def slow(x):\n    y = x\n    return y\nreports = npf.cpu.benchmark(\n    'resnet50', inputs=dataset, n_models=n_models, preprocess_fn=preprocess_fn,\n\
                      postprocess_fn=scale, multiprocess=False, workers_per_model=None, return_timers=True)";
        let call = read_neuronperf_call(script).unwrap();
        let texts: Vec<(&str, &str)> = call.options.iter().map(|(key, text)| (*key, text.as_str())).collect();
        let expected = [
            ("device_type", "cpu"),
            ("model", "resnet50"),
            ("n_models", "list(range(1, 10))"),
            ("preprocess", "lambda x: x * 5"),
            ("postprocess", "lambda x: x / 255"),
            ("processes", "shared"),
        ];
        assert_eq!(texts, expected);
        assert_eq!(call.left_out, ["inputs=dataset", "return_timers=True"]);
        assert!(read_neuronperf_call(&script.replace("preprocess_fn=preprocess_fn", "preprocess_fn=slow")).is_err());
    }

    #[test]
    fn a_model_that_is_built_in_is_taken() {
        let read = |text: &str| read_neuronperf_call(text).unwrap();
        let call = read("npf.torch.benchmark('bert-base-uncased', inputs, n_models=[1, 2], duration=10)");
        assert_eq!(call.options[0], ("model", "bert-base-uncased".to_owned()));
        assert_eq!(
            (call.left_out.clone(), call.config().model.as_str()),
            (vec!["inputs".to_owned()], "bert-base-uncased")
        );
        assert_eq!((call.config().n_models, call.config().duration_s), (Some(vec![1, 2]), 10.0));
        assert_eq!(call.command(), "neuronscope bench --model bert-base-uncased --n-models \"[1, 2]\" --duration 10");
        assert!(read("benchmark(model_filename=\"resnet50\")").names_model());
        // A variable and a file are no names.
        for other in ["benchmark(nn, duration=5)", "benchmark('model.json', duration=5)"] {
            assert!(!read(other).names_model());
            assert_eq!(read(other).command(), "neuronscope bench --model MODEL --duration 5");
        }
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let said = |text: &str| read_neuronperf_call(text).unwrap_err().to_string();
        assert!(said("print(1)").contains("no call of benchmark"));
        assert!(said("npf.torch.benchmark(model, n_models=[1").contains("cut off"));
        assert!(
            said("benchmark(m, duration='long')").starts_with("duration=long: "),
            "{}",
            said("benchmark(m, duration='long')")
        );
    }
}
