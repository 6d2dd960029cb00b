//! The open decisions of a model file, as fields over the model's text: sizes of dimensions, and how unknown operators are estimated.

use yew::prelude::*;

use crate::components::{SelectField, TextField};
use crate::context::use_app;
use crate::model_files::known_file;
use ns_session::{ModelQuestions, OPERATOR_PLACES, SizeQuestion};

/// The most operators that get fields; for a file with more custom operators the command line is the better place.
const MOST_OPERATORS: usize = 24;

#[derive(Properties, PartialEq)]
pub struct FileQuestionsProps {
    /// Prefix of the fields' ids.
    pub id: AttrValue,
    pub model: AttrValue,
    /// Whether there is a field for the batch too. A form with its own field for batch sizes shows it only if the model's text has a size for it.
    #[prop_or_default]
    pub has_batch: bool,
    /// Receives the model's text with the new answer.
    pub on_edit: Callback<String>,
}

/// The fields; empty while the file is not open, or if all its questions are answered.
#[component]
pub fn FileQuestions(props: &FileQuestionsProps) -> Html {
    let app = use_app();
    let asked = use_memo((app.map(|app| app.models), props.model.clone()), |(models, model)| {
        let known = models.as_ref().and_then(|models| known_file(models, model));
        known.map(|known| ModelQuestions::of(&known.0, model)).unwrap_or_default()
    });
    let sizes = asked.sizes.iter().filter(|size| props.has_batch || !size.is_batch || !size.given.is_empty());
    let size = |question: &SizeQuestion| {
        let (id, model, on_edit) = (props.id.clone(), props.model.clone(), props.on_edit.clone());
        html! { <SizeField key={question.name.clone()} {id} {model} question={question.clone()} {on_edit} /> }
    };
    let places: Vec<(AttrValue, AttrValue)> =
        OPERATOR_PLACES.iter().map(|(name, what)| ((*name).into(), (*what).into())).collect();
    let operators = asked.operators.iter().take(MOST_OPERATORS).map(|question| {
        let on_choose = {
            let (question, model, on_edit) = (question.clone(), props.model.clone(), props.on_edit.clone());
            Callback::from(move |place: String| on_edit.emit(question.answered(&model, &place)))
        };
        html! {
            <SelectField key={question.op.clone()} id={format!("{}-op-{}", props.id, question.op)} label={format!("Place of {}", question.op)}
                value={question.policy} options={places.clone()} help={question.place.clone()} {on_choose} />
        }
    });
    html! { <>{ for sizes.map(size) }{ for operators }</> }
}

#[derive(Properties, PartialEq)]
struct SizeFieldProps {
    id: AttrValue,
    model: AttrValue,
    question: SizeQuestion,
    on_edit: Callback<String>,
}

/// A size; while the file does not allow the typed text, the last good size stays in use.
#[component]
fn SizeField(props: &SizeFieldProps) -> Html {
    let draft = use_state_eq(|| None::<String>);
    let question = &props.question;
    let is_wrong = |text: &&String| question.answered(&props.model, text).is_err();
    let text = draft.as_ref().filter(is_wrong).cloned().unwrap_or_else(|| question.given.clone());
    let error = question.answered(&props.model, &text).err().map(AttrValue::from);
    let on_edit = {
        let (question, model, on_edit) = (question.clone(), props.model.clone(), props.on_edit.clone());
        Callback::from(move |text: String| {
            if let Ok(model) = question.answered(&model, &text) {
                on_edit.emit(model);
            }
            draft.set(Some(text));
        })
    };
    let what = if question.is_batch { "The batch, " } else { "A size " };
    html! {
        <TextField id={format!("{}-size-{}", props.id, question.name)} label={format!("Size of {}", question.name)} value={text} {error}
            help={format!("{what}{}", question.range)} placeholder={question.exported.to_string()} input_mode="numeric" {on_edit} />
    }
}
