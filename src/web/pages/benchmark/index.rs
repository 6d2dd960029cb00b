//! A model index that was dropped on the page: its entries, which a run then benchmarks.

use crate::state::StateHandle;
use yew::prelude::*;

use crate::components::{LocalTable, on};
use ns_bench::{EntryStatus, ModelEntry, ModelIndex};
use ns_page::Shared;
use ns_page::bench::{BenchAction, BenchState};
use ns_session::CompileOptions;
use ns_view::table::{Cell, Column, ColumnKind, Table};

#[derive(Properties, PartialEq)]
pub struct IndexPanelProps {
    /// The state of the page.
    pub state: StateHandle<BenchState>,
}

/// The entries; empty without an index.
#[component]
pub fn IndexPanel(props: &IndexPanelProps) -> Html {
    let table = use_memo(props.state.index.clone(), |index| index.as_ref().map(|i| Shared::new(table_of(i))));
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

/// Source of the compile time. An entry without a source is from NeuronPerf, which measures the time.
fn compile_source(entry: &ModelEntry) -> &str {
    match (entry.compile_s, entry.compile_s_source.as_deref()) {
        (None, _) => "",
        (Some(_), Some(source)) => source,
        (Some(_), None) => "measured",
    }
}

fn table_of(index: &ModelIndex) -> Table {
    let columns = [
        ("filename", "File", ColumnKind::Text),
        ("model", "Model", ColumnKind::Text),
        ("instance_type", "Instance", ColumnKind::Text),
        ("batch_size", "Batch", ColumnKind::Count),
        ("pipeline_size", "Pipeline", ColumnKind::Count),
        ("performance_level", "Level", ColumnKind::Count),
        ("compiler", "Compiled with", ColumnKind::Text),
        ("compile_s", "Compile (s)", ColumnKind::Number),
        ("compile_s_source", "Compile time", ColumnKind::Text),
        ("status", "Status", ColumnKind::Text),
    ];
    let text = |t: &Option<String>| t.as_ref().map_or(Cell::Missing, |t| Cell::Text(t.clone()));
    let row = |e: &ModelEntry| {
        let flags = e.compile_options(CompileOptions::default()).map(|o| o.to_string());
        let status = match (e.status, &e.error) {
            (EntryStatus::Error, Some(error)) => format!("error: {error}"),
            (status, _) => status.name().to_owned(),
        };
        vec![
            text(&e.filename),
            text(&e.model),
            text(&e.instance_type),
            Cell::Count(e.batch_size.into()),
            Cell::Count(e.pipeline_size.into()),
            Cell::Count(e.performance_level.into()),
            text(&flags),
            Cell::from(e.compile_s),
            Cell::Text(compile_source(e).to_owned()),
            Cell::Text(status),
        ]
    };
    Table {
        columns: columns.map(|(id, title, kind)| Column::new(id, title, kind)).into(),
        rows: index.model_configs.iter().map(row).collect(),
    }
}
