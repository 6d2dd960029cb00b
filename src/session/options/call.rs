//! A call of NeuronPerf, as a script has it: its arguments as texts of the benchmark's options.

use super::table::BENCH_OPTIONS;
use ns_base::{Refusal, refuse};
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
    #[must_use]
    pub fn names_model(&self) -> bool {
        self.options.iter().any(|(key, _)| *key == "model")
    }

    /// The benchmark of the call, with NeuronPerf's defaults for what it does not say.
    #[must_use]
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
    #[must_use]
    pub fn command(&self) -> String {
        let mut words = vec!["neuronscope bench".to_owned()];
        if !self.names_model() {
            words.push("--model MODEL".to_owned());
        }
        for (key, text) in &self.options {
            let Some(option) = BENCH_OPTIONS.iter().find(|o| o.key() == *key && !o.flag.name.is_empty()) else {
                continue;
            };
            let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.,:=".contains(c));
            let text = if is_word { text.clone() } else { format!("\"{text}\"") };
            words.push(format!("--{} {text}", option.flag.name));
        }
        words.join(" ")
    }
}

/// Reads `npf.torch.benchmark(model, inputs, n_models=[1, 2], ...)`, also amid the rest of a script. Arguments without a name are the
/// model and its inputs; the model is taken if it is the name of one that is built in.
///
/// # Errors
/// When the text has no such call, when its brackets do not close, or when an argument has a value that the option does not take.
pub fn read_neuronperf_call(text: &str) -> Result<NeuronperfCall, Refusal> {
    let begin = text.find("benchmark(").ok_or_else(|| {
        refuse!(
            "the text has no call of benchmark(...). Paste it with its arguments, such as npf.torch.benchmark(model, inputs, n_models=[1, 2])"
        )
    })?;
    let mut call = NeuronperfCall::default();
    for (at, argument) in arguments(&text[begin + "benchmark(".len()..])?.into_iter().enumerate() {
        let first = argument.strip_prefix("model_filename=").or((at == 0).then_some(argument.as_str()));
        let name = first.map(unquoted).filter(|name| matches!(name.parse(), Ok(ModelRef::Zoo(_))));
        if let Some(name) = name.filter(|name| Some(name.len()) < first.map(str::len)) {
            call.options.push(("model", name.to_owned()));
            continue;
        }
        let named = argument.split_once('=').filter(|(name, _)| is_name(name.trim()));
        let Some((name, value)) = named.map(|(name, value)| (name.trim(), unquoted(value.trim()))) else {
            call.left_out.push(argument);
            continue;
        };
        let is_asked = |key: &str| key.replace('-', "_") == name;
        let option = BENCH_OPTIONS
            .iter()
            .find(|o| is_asked(o.key()) || is_asked(o.flag.name) || o.flag.alias.is_some_and(is_asked));
        match option {
            Some(option) if value != "None" => {
                option.set(&mut BenchConfig::default(), value).map_err(|e| refuse!("{name}={value}: {e}"))?;
                call.options.push((option.key(), value.to_owned()));
            }
            Some(_) => {}
            None => call.left_out.push(argument),
        }
    }
    Ok(call)
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
                ("cost_per_hour", "0.5")
            ]
        );
        assert_eq!(call.left_out, ["'model.json'", "[x, y]", "multiinterpreter=True"]);
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
