//! A box for a call of NeuronPerf, which fills the form.

use web_sys::HtmlTextAreaElement;
use yew::prelude::*;

use crate::state::StateHandle;
use ns_bench::BenchConfig;
use ns_page::bench::{BenchAction, BenchState};
use ns_session::options::{BenchOption, read_neuronperf_call};

#[derive(Properties, PartialEq)]
pub struct CallBoxProps {
    /// The state of the page.
    pub state: StateHandle<BenchState>,
}

#[component]
pub fn CallBox(props: &CallBoxProps) -> Html {
    let text = use_node_ref();
    let said = use_state_eq(|| Ok::<String, String>(String::new()));
    // What the last call set, which the next one begins without.
    let filled_before = use_mut_ref(Vec::<&'static str>::new);
    let onclick = {
        let (text, said, state) = (text.clone(), said.setter(), props.state.clone());
        let filled_before = filled_before.clone();
        Callback::from(move |_: MouseEvent| {
            let Some(text) = text.cast::<HtmlTextAreaElement>().map(|text| text.value()) else { return };
            said.set(match read_neuronperf_call(&text) {
                Ok(call) => {
                    let names: Vec<&str> = call.options.iter().map(|(key, _)| *key).collect();
                    let filled = if names.is_empty() { "Nothing".to_owned() } else { names.join(", ") };
                    let (rest, has_model) = (call.left_out.join(", "), call.names_model());
                    let before = filled_before.replace(call.options.iter().map(|(key, _)| *key).collect());
                    for option in before.into_iter().filter_map(BenchOption::find) {
                        state.dispatch(BenchAction::Edit(option.key(), option.text(&BenchConfig::default())));
                    }
                    for (key, text) in call.options {
                        state.dispatch(BenchAction::Edit(key, text));
                    }
                    let rest =
                        if rest.is_empty() { String::new() } else { format!(" The form has no field for {rest}.") };
                    let next = if has_model { "Press Run." } else { "Choose the model, then press Run." };
                    Ok(format!("{filled} is in the form now.{rest} {next}"))
                }
                Err(refusal) => Err(refusal.to_string()),
            });
        })
    };
    let (class, message) = match &*said {
        Ok(message) => ("help", message),
        Err(message) => ("error", message),
    };
    html! {
        <details class="advanced">
            <summary>{ "Paste a call of NeuronPerf" }</summary>
            <div class="field">
                <label for="bench-call">{ "Call, or the script with it" }</label>
                <textarea ref={text} id="bench-call" rows="4" spellcheck="false" aria-describedby="bench-call-note"
                    placeholder="npf.torch.benchmark(model, inputs, n_models=[1, 2], workers_per_model=[1, 2], duration=10)" />
                <p id="bench-call-note" {class} role="status">{ message }</p>
            </div>
            <div class="buttons"><button type="button" {onclick}>{ "Fill the form" }</button></div>
        </details>
    }
}
