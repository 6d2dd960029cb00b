//! The user's own model files, on the pages that run models.

use web_sys::File;
use yew::prelude::*;

use crate::components::{file_picker, on};
use crate::context::{AppContext, use_app};
use crate::model_files::{digest_of, file_label, keep_model, link_sentence};
use ns_base::units::format_plural;
use ns_page::notices::{NoticeAction, Tone};
use ns_page::replies::outcome_of;
use ns_session::{JobResult, Message, ModelFileSettings, OpenedModel};

/// Opens a model file; `then` gets its name and how it takes samples, or why it is not a model.
pub fn open_model(app: &AppContext, file: File, then: Callback<Result<OpenedModel, String>>) {
    let (notices, kept) = (app.notices.clone(), file.clone());
    let take = |result| if let JobResult::Model(found) = result { Some(found) } else { None };
    let on_message = Callback::from(move |message: Message| match outcome_of(message, take) {
        Some(Ok(found)) => {
            let (opened, _) = *found;
            let parameters = format_plural(opened.inspection.parameters, "parameter");
            let notes = opened.inspection.notes.iter().map(|note| note.trim_end_matches('.').to_owned());
            let facts = std::iter::once(parameters).chain(notes);
            let text = format!(
                "{} is open: {}.",
                file_label(&opened.id).unwrap_or_default(),
                facts.collect::<Vec<_>>().join("; ")
            );
            notices.dispatch(NoticeAction::Say(Tone::Good, text));
            keep_model(&notices, kept.clone(), &opened.id);
            then.emit(Ok(opened));
        }
        Some(Err(message)) => then.emit(Err(message)),
        None => {}
    });
    app.pool.open_model(file, ModelFileSettings::default(), on_message);
}

/// The message for a model that names a file which is not open.
pub fn missing_file(app: &AppContext, model: &str) -> Option<String> {
    let name = file_label(model).filter(|_| !app.pool.has_model(model))?;
    let content = digest_of(model).map(|digest| format!(" (content {digest})")).unwrap_or_default();
    Some(format!(
        "This names the file {name}{content}. Model files stay on the computer where they were opened: choose it again."
    ))
}

/// The place for a file that a link names and that is not here: once it is dropped, what the link asks for runs.
pub fn drop_zone(model: &str, what: &str, missing: String, on_file: Callback<File>) -> Html {
    html! {
        <section class="panel drop-zone" aria-labelledby="drop-title">
            <h2 id="drop-title">{ format!("Drop {} here", file_label(model).unwrap_or_default()) }</h2>
            <p>{ missing }</p>
            <p>{ format!("It is read in this browser and uploaded nowhere. The {what} of the link runs as soon as the file is here.") }</p>
            { model_file_picker("missing-file", on_file) }
        </section>
    }
}

/// A button that opens a model file. `id` is that of its input.
pub fn model_file_picker(id: &str, on_file: Callback<File>) -> Html {
    let on_files = on(on_file, |on_file, files: Vec<File>| files.into_iter().for_each(|file| on_file.emit(file)));
    html! {
        <div class="field">
            { file_picker(id, "Open a model file", on_files) }
            <p class="help">{ "From PyTorch (.pt2, TorchScript), ONNX or XLA. It stays in this browser." }</p>
        </div>
    }
}

#[derive(Properties, PartialEq)]
pub struct LinkNoteProps {
    /// The model of the form.
    pub model: AttrValue,
}

/// Says whether a link of the form holds its model file, and its size; nothing for a model of the zoo.
#[component]
pub fn LinkNote(props: &LinkNoteProps) -> Html {
    let said = use_app().and_then(|app| link_sentence(&app.models, &props.model));
    // The note of a file comes when the file has been read: its line is there before.
    let is_file = file_label(&props.model).is_some();
    if is_file || said.is_some() {
        html! { <p class="help link-note">{ said }</p> }
    } else {
        Html::default()
    }
}
