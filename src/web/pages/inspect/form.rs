//! The form of the page of models: a model, where it runs, its sizes.

use yew::prelude::*;

use super::actions::{InspectActions, open_model};
use crate::components::{CopyMenu, FormFrame, PickEntry, PickList, TextField, file_picker, on};
use crate::model_files::{known_file, linked_hash};
use crate::pages::benchmark::{FileQuestions, LinkNote, ModelField};
use ns_page::Shared;
use ns_session::commands::inspect_command;
use ns_session::share::{Page, encode};
use ns_session::{InspectField, InspectFile, InspectResult, ModelQuestions};

#[derive(Clone, Properties, PartialEq)]
pub struct InspectFormProps {
    /// Actions of the buttons.
    pub actions: InspectActions,
    /// The shown view, if there is one.
    pub result: Option<Shared<InspectResult>>,
}

#[component]
pub fn InspectForm(props: &InspectFormProps) -> Html {
    let actions = &props.actions;
    let spec = &actions.state.spec;
    let catalog = actions.app.catalog.as_ref();
    let instance = match spec.get(InspectField::Instance) {
        "" => catalog.and_then(|c| c.instances.first()).map(|i| i.name.clone()).unwrap_or_default(),
        instance => instance.to_owned(),
    };
    let file = spec.get(InspectField::Model);
    let has_questions = known_file(&actions.app.models, file)
        .map(|known| ModelQuestions::of(&known.0, file))
        .is_some_and(|asked| !asked.sizes.is_empty() || !asked.operators.is_empty());
    let fields = on((props.clone(), instance.clone()), |(props, instance), ()| fields(props, instance));
    html! { <>
        <FormFrame id="inspect-form" name="What to look at" short={in_short(actions, &instance)} is_wrong={has_questions} beside_run={beside(actions)} run={actions.state.run.clone()} menus={menus(props)} {fields} />
        <LinkNote model={file.to_owned()} />
    </> }
}

fn fields(props: &InspectFormProps, instance: &str) -> Html {
    let actions = &props.actions;
    let choose = |field: InspectField| on(actions.clone(), move |actions, text: String| actions.choose(field, text));
    let entries: Vec<_> = actions.app.catalog.iter().flat_map(|c| &c.instances).map(PickEntry::from).collect();
    let batch = actions.state.spec.get(InspectField::Batch).to_owned();
    html! {
        <div class="fields">
            { model(props) }
            <PickList id="inspect-instance" label="Instance" value={instance.to_owned()} {entries} on_choose={choose(InspectField::Instance)} />
            // The batch of a file is one of its sizes.
            if actions.state.spec.file().is_none() || !batch.is_empty() {
                <TextField id="inspect-batch" label="Batch size" value={batch} input_mode="numeric" placeholder="the model\u{2019}s own" on_edit={choose(InspectField::Batch)} />
            }
        </div>
    }
}

/// The model, where it runs, and its batch.
fn in_short(actions: &InspectActions, instance: &str) -> String {
    let spec = &actions.state.spec;
    if let Some(file) = &actions.state.file {
        return file.to_string();
    }
    let first =
        || actions.app.catalog.as_ref().and_then(|c| c.models.first()).map(|m| m.name.clone()).unwrap_or_default();
    let model = match (spec.file(), spec.get(InspectField::Model)) {
        (Some(file), _) => file.name.clone(),
        (None, "") => first(),
        (None, model) => model.to_owned(),
    };
    let batch = spec.get(InspectField::Batch);
    let batch = if batch.is_empty() { String::new() } else { format!(" \u{b7} batch {batch}") };
    format!("{model} \u{b7} {instance}{batch}")
}

/// A file with its open dimensions, or a model of the zoo.
fn model(props: &InspectFormProps) -> Html {
    let actions = &props.actions;
    let spec = &actions.state.spec;
    let Some(file) = spec.file() else {
        let models = actions.app.catalog.as_ref().map(|c| c.models.clone()).unwrap_or_default();
        let on_edit = on(actions.clone(), |actions, text: String| actions.choose(InspectField::Model, text));
        let value = match spec.get(InspectField::Model) {
            "" => models.first().map(|m| m.name.clone()).unwrap_or_default(),
            text => text.to_owned(),
        };
        return html! { <ModelField id="inspect-model" {models} {value} has_help={false} {on_edit} /> };
    };
    let on_edit = on(actions.clone(), |actions, text: String| actions.choose(InspectField::Model, text));
    let to_zoo = on(actions.clone(), |actions, _: MouseEvent| actions.choose(InspectField::Model, "nn"));
    html! { <>
        <div class="field is-wide"><span class="file-name" id="inspect-file">{ format!("File {}", file.name) }</span>
            <button type="button" class="link" onclick={to_zoo}>{ "Choose a model from the list" }</button></div>
        <FileQuestions id="inspect" model={spec.get(InspectField::Model).to_owned()} has_batch={true} {on_edit} />
    </> }
}

/// What is beside the form's button: another file, and the end of a long answer.
fn beside(actions: &InspectActions) -> Html {
    let open = on(actions.clone(), |actions, files: Vec<web_sys::File>| {
        if let Some(file) = files.into_iter().next() {
            open_model(actions, file);
        }
    });
    let cancel = on(actions.clone(), |actions, _: MouseEvent| actions.cancel());
    html! { <>
        { file_picker("open-model", "Open a model file", open) }
        if actions.state.run.is_running() { <button type="button" onclick={cancel}>{ "Cancel" }</button> }
    </> }
}

fn menus(props: &InspectFormProps) -> Html {
    let actions = &props.actions;
    if props.result.is_none() {
        return Html::default();
    }
    let save = |file: InspectFile, label: &'static str| {
        let onclick = on(actions.clone(), move |actions, _: MouseEvent| actions.save(file));
        html! { <li key={label}><button type="button" {onclick}>{ label }</button></li> }
    };
    let command = inspect_command(&actions.state.spec).map(AttrValue::from);
    html! { <>
        { for links_on(actions) }
        <CopyMenu hash={actions.state.hash()} link_gives="It opens this model." model={actions.state.spec.get(InspectField::Model).to_owned()} {command}>
            { save(InspectFile::Svg, "Picture") }
            { save(InspectFile::Csv, "Operators as CSV") }
            { save(InspectFile::Hlo, "HLO text") }
        </CopyMenu>
    </> }
}

/// Links to the same model on the pages that run it.
fn links_on(actions: &InspectActions) -> [Html; 2] {
    let spec = &actions.state.spec;
    let (model, instance) = (spec.get(InspectField::Model), spec.get(InspectField::Instance));
    let known = known_file(&actions.app.models, model);
    // Those pages have a field for the batch.
    let (model, batch) = known.map_or_else(
        || (model.to_owned(), Some(spec.get(InspectField::Batch).to_owned()).filter(|batch| !batch.is_empty())),
        |known| ModelQuestions::of(&known.0, model).without_batch(model),
    );
    let link = |page: Page, field: &str| {
        let batch = batch.as_ref().map(|batch| format!("&{field}={}", encode(batch))).unwrap_or_default();
        // The figures here are those of the model as it is traced.
        let workflow = if page == Page::Profile { "&workflow=trace" } else { "" };
        let hash = format!("{}?model={}&instance={}{workflow}{batch}", page.hash(), encode(&model), encode(instance));
        let href = linked_hash(&actions.app.models, &model, hash);
        html! { <a class="button" {href}>{ page.title() }</a> }
    };
    [link(Page::Benchmark, "batch_sizes"), link(Page::Profile, "batch_size")]
}
