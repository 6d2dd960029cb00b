//! Limits for the best configuration. The best one within them is marked in table and plot, and comes first in the figures.

use crate::state::StateHandle;
use yew::prelude::*;

use crate::components::{SelectField, TextField, on};
use ns_page::bench::{BenchAction, BenchState};
use ns_session::results::{Goal, Requirements, WantedTexts};

#[derive(Properties, PartialEq)]
pub struct RowFinderProps {
    /// The state of the page.
    pub state: StateHandle<BenchState>,
    /// The result of the search, in words.
    pub found: AttrValue,
}

/// The limits and the best configuration within them.
#[component]
pub fn RowFinder(props: &RowFinderProps) -> Html {
    let texts = &props.state.wanted;
    let (_, wrong) = Requirements::read(texts);
    let edit = |set: fn(&mut WantedTexts, String)| {
        on((props.state.dispatcher(), texts.clone()), move |(dispatch, texts), text: String| {
            let mut next = texts.clone();
            set(&mut next, text);
            dispatch.dispatch(BenchAction::Want(next));
        })
    };
    let field = |id: &'static str, label: &'static str, value: &str, set: fn(&mut WantedTexts, String)| {
        let error = wrong.iter().find(|(name, _)| label.starts_with(name)).map(|(_, w)| AttrValue::from(w.to_string()));
        html! { <TextField {id} {label} placeholder="any" input_mode="decimal" value={value.to_owned()} {error} on_edit={edit(set)} /> }
    };
    let options = Goal::ALL.map(|goal| (AttrValue::from(goal.name()), AttrValue::from(goal.name()))).to_vec();
    let on_goal = edit(|texts, name| texts.goal = Goal::from_name(&name).unwrap_or_default());
    html! {
        <section class="panel limits-panel" aria-label="Find the best">
            <div class="fields">
                <SelectField id="find-goal" label="Find the" value={texts.goal.name()} {options} on_choose={on_goal} />
                { field("find-p99", "p99 at most (ms)", &texts.p99_ms, |t, text| t.p99_ms = text) }
                { field("find-cost", "Cost at most (US$ per million)", &texts.cost, |t, text| t.cost = text) }
                { field("find-cores", "Cores at most", &texts.cores, |t, text| t.cores = text) }
            </div>
            <p class="found" role="status">{ &props.found }</p>
        </section>
    }
}
