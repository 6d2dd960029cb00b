//! A call of NeuronPerf, as a script has it: its arguments as texts of the benchmark's options.

use super::table::BENCH_OPTIONS;
use ns_base::{Refusal, refuse};
use ns_bench::BenchConfig;

/// The arguments of a call of `benchmark`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeuronperfCall {
    /// Options by their key, each with its text.
    pub options: Vec<(&'static str, String)>,
    /// Arguments that the form has no field for, as they are written.
    pub left_out: Vec<String>,
}

/// Reads `npf.torch.benchmark(model, inputs, n_models=[1, 2], ...)`, also amid the rest of a script. Arguments without a name are the
/// model and its inputs, which the form chooses in another way.
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
    for argument in arguments(&text[begin + "benchmark(".len()..])? {
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
