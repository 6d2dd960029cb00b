//! A model index that was dropped on the page: its entries, which a run then benchmarks.

use crate::state::StateHandle;
use yew::prelude::*;

use crate::components::{LocalTable, on};
use ns_page::Shared;
use ns_page::bench::{BenchAction, BenchState};
use ns_session::reports::index_table;

#[derive(Properties, PartialEq)]
pub struct IndexPanelProps {
    /// The state of the page.
    pub state: StateHandle<BenchState>,
}

/// The entries; empty without an index.
#[component]
pub fn IndexPanel(props: &IndexPanelProps) -> Html {
    let table = use_memo(props.state.index.clone(), |index| index.as_ref().map(|i| Shared::new(index_table(i))));
    let (Some(index), Some(table)) = (&props.state.index, &*table) else { return Html::default() };
    let drop_it = on(props.state.dispatcher(), |dispatch, _: MouseEvent| dispatch.dispatch(BenchAction::Index(None)));
    let (all, finished) = (index.model_configs.len(), index.finished().count());
    let is_unnamed = index.finished().any(|e| e.model.is_none());
    html! {
        <section class="panel" aria-labelledby="index-title">
            <h2 id="index-title">{ format!("Model index: {}", index.model_name) }</h2>
            <p>
                { format!("Run benchmarks the {finished} finished of {all} entries, each with the options and the instance it was compiled for. The form\u{2019}s instance, casts, batch sizes, pipeline sizes, performance levels and inputs do not apply. Written by {}.", index.version) }
                if is_unnamed { { " Entries without a model name run the form\u{2019}s model." } }
                { " A link does not carry the index." }
            </p>
            <LocalTable name="Entries of the index" table={table.clone()} file="model-index" searchable={all > 8} />
            <div class="buttons"><button type="button" onclick={drop_it}>{ "Remove the index" }</button></div>
        </section>
    }
}
