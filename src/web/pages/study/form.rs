//! The form of a study, made from its fields.

use std::rc::Rc;

use crate::state::StateHandle;
use yew::prelude::*;

use super::actions::StudyActions;
use crate::components::{
    CompileFields, CopyMenu, FieldErrors, FormFrame, FormInput, LineMark, PickEntry, PickList, SIMULATED, error_of, on,
};
use crate::pages::benchmark::ModelField;
use crate::platform::page;
use ns_page::study::{StudyAction, StudyState};
use ns_session::CompileOptions;
use ns_session::studies::{FieldGroup, FieldKind, FormField, GroupLook, StudySpec};
use ns_view::document::{Block, Document, SourceLine};

/// Choices with names longer than this get a wide field.
const LONG_CHOICE: usize = 24;

#[derive(Clone, Properties, PartialEq)]
pub struct StudyFieldsProps {
    /// Actions of its buttons.
    pub actions: StudyActions,
    pub state: StateHandle<StudyState>,
}

#[component]
pub fn StudyFields(props: &StudyFieldsProps) -> Html {
    let state = &props.state;
    let (_, wrong) = state.spec();
    let can = state.controls();
    let press = |f: fn(&StudyActions)| on(props.actions.clone(), move |actions, _: MouseEvent| f(actions));
    let on_run = on(props.actions.clone(), |actions, ()| actions.run());
    let files = state.result.as_ref().map(|result| result.files.as_slice()).unwrap_or_default();
    let save = |i: usize| on(props.actions.clone(), move |actions, _: MouseEvent| actions.save(i));
    let open = |i: usize| on(props.actions.clone(), move |actions, _: MouseEvent| actions.open_trace(i));
    let origin = if state.asked().is_some_and(StudySpec::is_measured) { "" } else { SIMULATED };
    // Before a result, what it will offer.
    let labels = if files.is_empty() {
        state.kind.form().files.to_vec()
    } else {
        files.iter().map(|f| f.label.as_str()).collect()
    };
    let downloads = labels.into_iter().enumerate().map(|(i, label)| html! {
        <li key={format!("download {label}")}><button type="button" disabled={files.is_empty()} onclick={save(i)}>{ format!("Download {label}") }</button></li>
    });
    let page = html! {
        <li key="download page"><button type="button" disabled={files.is_empty()} onclick={press(StudyActions::save_page)}>{ "Download as page" }</button></li>
    };
    let traces = files.iter().enumerate().filter(|(_, file)| file.is_trace()).map(|(i, _)| {
        html! {
            <button key={format!("open {i}")} type="button" onclick={open(i)}><span class="on-desk">{ "Open as " }</span><span>{ "timeline" }</span></button>
        }
    });
    // An editor of a source is no drawer where it stands beside the results.
    let is_open = state.kind.is_kernel() && page::has_two_columns();
    let fields = on((props.clone(), wrong.clone()), |(props, wrong), ()| {
        props.state.kind.form().groups.iter().map(|g| group(props, g, wrong)).collect::<Html>()
    });
    html! {
        <FormFrame id={format!("{}-form", state.kind.path())} name="What to run" short={state.in_short()} {is_open}
            is_wrong={!wrong.is_empty()} is_stale={state.is_stale()} can_run={can.run} {on_run}
            beside_run={html! { if can.stop { <button type="button" onclick={press(StudyActions::cancel)}>{ "Cancel" }</button> } }} run={state.run.clone()}
            menus={html! { <>
                { for traces }
                <CopyMenu hash={state.hash()} link_gives="Whoever opens it gets this result." {origin}>{ page }{ for downloads }</CopyMenu>
            </> }}
            {fields}
        />
    }
}

fn group(props: &StudyFieldsProps, group: &'static FieldGroup, wrong: &FieldErrors) -> Html {
    let is_flags = group.fields.iter().all(|field| field.kind == FieldKind::Flag);
    let class = if is_flags { "fields flags" } else { "fields" };
    let fields = html! { <div {class}>{ for group.fields.iter().map(|f| field(props, f, wrong)) }</div> };
    match group.look {
        GroupLook::Folded => {
            // A field with an error is never hidden.
            let is_open = group.fields.iter().any(|f| error_of(wrong, f.key).is_some());
            html! { <details class="advanced" open={is_open}><summary>{ group.title }</summary>{ fields }</details> }
        }
        GroupLook::Compiler => compiler(&props.state),
        GroupLook::Open if group.title.is_empty() => fields,
        GroupLook::Open => html! { <fieldset class="group"><legend>{ group.title }</legend>{ fields }</fieldset> },
    }
}

/// The options of the compiler, behind the flags that they make.
fn compiler(state: &StateHandle<StudyState>) -> Html {
    let StudySpec::Numerics(study) = state.spec().0 else { return Html::default() };
    let on_change = on(state.dispatcher(), |dispatch, options: CompileOptions| {
        let lnc = options.lnc.map(|n| n.to_string()).unwrap_or_default();
        dispatch.dispatch(StudyAction::Edit("auto_cast", options.auto_cast.to_string()));
        dispatch.dispatch(StudyAction::Edit("auto_cast_type", options.auto_cast_type.to_string()));
        dispatch.dispatch(StudyAction::Edit("optlevel", options.opt_level.to_string()));
        dispatch.dispatch(StudyAction::Edit("lnc", lnc));
    });
    html! { <CompileFields id="numerics" options={study.compared.options} {on_change} /> }
}

fn field(props: &StudyFieldsProps, field: &'static FormField, wrong: &FieldErrors) -> Html {
    let (state, catalog) = (&props.state, props.actions.app.catalog.as_ref());
    let id = format!("{}-{}", state.kind.path(), field.key);
    let value = state.text(field.key).to_owned();
    let error = error_of(wrong, field.key);
    let on_edit =
        on(state.dispatcher(), move |dispatch, text: String| dispatch.dispatch(StudyAction::Edit(field.key, text)));
    match field.kind {
        FieldKind::Model => {
            let models = catalog.map(|c| c.models.clone()).unwrap_or_default();
            html! { <ModelField {id} {models} {value} {error} has_help={false} {on_edit} on_file={props.actions.on_file()} /> }
        }
        FieldKind::Instance => {
            let instances = catalog.map(|c| c.instances.as_slice()).unwrap_or_default();
            let unnamed = (!field.placeholder.is_empty())
                .then(|| PickEntry { value: "".into(), facts: field.placeholder.into() });
            let entries: Vec<_> = unnamed.into_iter().chain(instances.iter().map(PickEntry::from)).collect();
            let help = if value.is_empty() { field.placeholder } else { "" };
            html! { <PickList {id} label={field.label} {value} {entries} {help} {error} on_choose={on_edit} /> }
        }
        FieldKind::Named(names) => {
            let entry = |(value, _): &(&'static str, _)| PickEntry { value: (*value).into(), facts: "".into() };
            let entries: Vec<_> = names.iter().map(entry).collect();
            html! { <PickList {id} label={field.label} {value} {entries} {error} is_open_ended={true} on_choose={on_edit} /> }
        }
        FieldKind::Choice(choices) => {
            let wide = choices.iter().any(|(_, name)| name.len() > LONG_CHOICE);
            html! { <FormInput {id} {field} {value} {error} {wide} {on_edit} /> }
        }
        FieldKind::Source => {
            let marks = state.result.as_ref().map(|result| marks_of(&result.document)).unwrap_or_default();
            let on_edit = on((props.actions.clone(), on_edit), |(actions, on_edit), text: String| {
                if !actions.give_to_other_tab(&text) {
                    on_edit.emit(text);
                }
            });
            html! { <FormInput {id} {field} {value} {error} {on_edit} {marks} /> }
        }
        _ => html! { <FormInput {id} {field} {value} {error} {on_edit} /> },
    }
}

/// What the result says about the lines of the source.
fn marks_of(document: &Document) -> Rc<[LineMark]> {
    let source =
        document.blocks.iter().find_map(|block| if let Block::Source(source) = block { Some(source) } else { None });
    let mark = |line: &SourceLine| LineMark {
        share: line.share,
        // The columns are count, time and share.
        time: line.values.get(1).cloned().unwrap_or_default(),
        problem: line.notes.join("\n"),
        place: (line.column > 0).then(|| (line.text.clone(), line.column as usize)),
    };
    source.map(|source| source.lines.iter().map(mark).collect()).unwrap_or_default()
}
