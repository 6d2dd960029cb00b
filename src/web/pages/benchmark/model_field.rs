//! A model and its parameters, as fields over the one text form `matmult:n=64,add_bias=true` that links and the command
//! line use.

use web_sys::File;
use yew::prelude::*;

use super::file_questions::FileQuestions;
use super::model_file::{missing_file, model_file_picker};
use crate::components::{PickEntry, PickList, SelectField, TextField};
use crate::context::use_app;
use crate::model_files::file_label;
use ns_base::units::capital;
use ns_session::InspectField;
use ns_session::InspectSpec;
use ns_session::share::PageLink as _;
use ns_session::{ModelInfo, ParameterInfo, ParameterKind};

#[derive(Properties, PartialEq)]
pub struct ModelFieldProps {
    /// Id of its input; fields of parameters add their name to it.
    pub id: AttrValue,
    /// Models that can be chosen.
    pub models: Vec<ModelInfo>,
    pub value: AttrValue,
    /// Message if the value is wrong.
    #[prop_or_default]
    pub error: Option<AttrValue>,
    /// Whether the model's summary stands below it.
    #[prop_or(true)]
    pub has_help: bool,
    /// Receives the changed text form.
    pub on_edit: Callback<String>,
    /// Receives a model file. Without this callback the field takes none.
    #[prop_or_default]
    pub on_file: Option<Callback<File>>,
}

/// A list of the models and a field for each of its parameters.
#[component]
pub fn ModelField(props: &ModelFieldProps) -> Html {
    let app = use_app();
    let file = file_label(&props.value);
    let (name, given) = if file.is_some() { (props.value.as_str(), Vec::new()) } else { split(&props.value) };
    let model = props.models.iter().find(|m| m.name == name);
    let entry = |m: &ModelInfo| PickEntry { value: m.name.clone().into(), facts: m.title.clone().into() };
    let mut entries: Vec<PickEntry> = props.models.iter().map(entry).collect();
    if let Some(file) = &file {
        let facts = AttrValue::from(format!("{file}, your file"));
        entries.insert(0, PickEntry { value: props.value.clone(), facts });
    }
    let missing = app.and_then(|app| missing_file(&app, &props.value)).map(AttrValue::from);
    let unknown = (model.is_none() && file.is_none() && !props.models.is_empty())
        .then(|| AttrValue::from(format!("There is no model '{name}'; choose one from the list.")));
    let help = match model {
        _ if !props.has_help => String::new(),
        Some(model) => model.summary.clone(),
        // It takes the room of the help that comes with the list.
        None if props.models.is_empty() => FETCHING.to_owned(),
        None => String::new(),
    };
    let parameters = model.map(|m| m.parameters.as_slice()).unwrap_or_default();
    let parameters = parameters.iter().filter(|p| p.has_meaning(|name| value_of(&given, name)));
    html! { <>
        <PickList
            id={props.id.clone()} label="Model" wide={true} value={name.to_owned()} {entries} {help}
            error={props.error.clone().or(unknown).or(missing)} on_choose={props.on_edit.clone()}
        />
        if let Some(on_file) = &props.on_file {
            { model_file_picker(&format!("{}-file", props.id), on_file.clone()) }
        }
        if file.is_some() {
            <FileQuestions id={props.id.clone()} model={props.value.clone()} on_edit={props.on_edit.clone()} />
            <p class="help"><a href={InspectSpec::default().with(InspectField::Model, &props.value).hash()}>{ "Look at this model" }</a></p>
        }
        { for parameters.map(|p| parameter(props, name, &given, model, p)) }
    </> }
}

fn value_of<'v>(given: &'v [(String, String)], name: &str) -> Option<&'v str> {
    given.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

fn parameter(
    props: &ModelFieldProps,
    name: &str,
    given: &[(String, String)],
    model: Option<&ModelInfo>,
    p: &ParameterInfo,
) -> Html {
    let id = format!("{}-{}", props.id, p.name);
    let value = value_of(given, &p.name).unwrap_or(&p.default).to_owned();
    let on_edit = {
        let (on_edit, name, given, p) = (props.on_edit.clone(), name.to_owned(), given.to_vec(), p.clone());
        let all = model.map(|m| m.parameters.clone()).unwrap_or_default();
        Callback::from(move |text: String| on_edit.emit(join(&name, &given, &all, &p, &text)))
    };
    let label = label_of(&p.name);
    let choices = match &p.kind {
        ParameterKind::Boolean => Some(vec!["true".to_owned(), "false".to_owned()]),
        ParameterKind::Choice(values) => Some(values.clone()),
        ParameterKind::Integer { .. } | ParameterKind::Text => None,
    };
    match choices {
        Some(values) => {
            let mut options: Vec<(AttrValue, AttrValue)> =
                values.into_iter().map(|v| (v.clone().into(), v.into())).collect();
            if !options.iter().any(|(v, _)| *v == value) {
                // A link may name a user's own kernel, with its source.
                let title = value.split('~').next().unwrap_or_default().to_owned();
                options.push((value.clone().into(), title.into()));
            }
            html! { <SelectField {id} label={label} help={p.help.clone()} {value} {options} on_choose={on_edit} /> }
        }
        None => {
            let error = problem(p, &value).map(AttrValue::from);
            html! { <TextField {id} label={label} help={p.help.clone()} {value} {error} {on_edit} /> }
        }
    }
}

/// The help while the list of models is not there yet.
const FETCHING: &str = "The list is being fetched: every model, with its sizes and the meaning of one request to it.";

/// The message for a wrong value of a parameter.
fn problem(p: &ParameterInfo, value: &str) -> Option<String> {
    let ParameterKind::Integer { min, max } = p.kind else { return None };
    match value.trim().parse::<u64>() {
        Ok(n) if (min..=max).contains(&n) => None,
        _ => Some(format!("{}: '{value}' is not a whole number from {min} to {max}.", p.name)),
    }
}

/// The name of a model, and its parameters as given.
fn split(text: &str) -> (&str, Vec<(String, String)>) {
    let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
    let pair = |part: &str| {
        let (n, v) = part.split_once('=').unwrap_or((part, ""));
        (n.trim().to_owned(), v.trim().to_owned())
    };
    (name.trim(), parameters.split(',').filter(|p| !p.trim().is_empty()).map(pair).collect())
}

/// The label of a parameter's field: `loop_count` is "Loop count", `device_ms` is "Device (ms)".
fn label_of(name: &str) -> String {
    let words = name.strip_suffix("_ms").map_or(name.to_owned(), |name| format!("{name} (ms)")).replace('_', " ");
    capital(&words)
}

/// The text form with one parameter changed; a parameter at its default is left out, and one that has no meaning any more.
fn join(name: &str, given: &[(String, String)], all: &[ParameterInfo], changed: &ParameterInfo, value: &str) -> String {
    let mut parameters: Vec<(String, String)> = given.to_vec();
    // A comma would begin another parameter.
    let value: String = value.chars().filter(|c| *c != ',').collect();
    parameters.retain(|(n, _)| *n != changed.name);
    if value != changed.default {
        parameters.push((changed.name.clone(), value));
    }
    let has_meaning = |(n, _): &&(String, String)| {
        all.iter().find(|p| p.name == *n).is_none_or(|p| p.has_meaning(|other| value_of(&parameters, other)))
    };
    let text: Vec<String> = parameters.iter().filter(has_meaning).map(|(n, v)| format!("{n}={v}")).collect();
    if text.is_empty() { name.to_owned() } else { format!("{name}:{}", text.join(",")) }
}
