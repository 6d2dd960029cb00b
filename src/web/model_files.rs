//! The model files that are open in this program of the page: the facts about each, its name in links, and how it is kept.

use crate::components::on;
use crate::state::StateDispatcher;
use wasm_bindgen_futures::spawn_local;
use web_sys::File;
use yew::prelude::*;

use super::platform::storage;
use super::shelf;
use super::worker::{KnownModel, Models, Pool};
use ns_page::notices::{NoticeAction, Notices, Tone};
use ns_session::share::{Address, with_model_file};
use ns_session::shelf::{ItemKind, ShelfItem, model_link};
use ns_session::{Message, ModelFileRef, ModelFileSettings};

/// The open model files of this program.
#[hook]
pub fn use_models(pool: &Pool) -> Models {
    let models = use_state_eq(Models::default);
    use_effect_with((), {
        let (pool, models) = (pool.clone(), models.setter());
        move |()| pool.watch_models(Callback::from(move |now| models.set(now)))
    });
    (*models).clone()
}

/// Opens the model file that an address holds, or that it names if this browser keeps it, and says what is wrong with the file.
pub fn open_linked(pool: &Pool, notices: &StateDispatcher<Notices>, address: &Address, model: &str) {
    let say = on(notices.clone(), |notices, message: String| {
        notices.dispatch(NoticeAction::Say(Tone::Bad, format!("Link: {message}")));
    });
    match (address.model_file(), shelf::kept_model(model)) {
        (Some(packed), _) => {
            keep_linked(model, packed);
            pool.open_linked(model, packed, say);
        }
        (None, _) if pool.has_model(model) => {}
        (None, Some(item)) => open_shelf_item(pool, notices.clone(), item, model),
        (None, None) => {
            linked_graph(model).inspect(|packed| pool.open_linked(model, packed, say));
        }
    }
}

/// Where the graphs that links brought are kept, by the digest of their file: links from one page to another name the file only.
const LINKED: &str = "neuronscope.linked.";
/// Most graphs that are kept: each has up to 80,000 letters.
const MOST_LINKED: usize = 8;

fn linked_key(model: &str) -> Option<String> {
    digest_of(model).map(|digest| format!("{LINKED}{digest}"))
}

fn linked_graph(model: &str) -> Option<String> {
    storage::read(&linked_key(model)?)
}

fn keep_linked(model: &str, packed: &str) {
    let Some(key) = linked_key(model) else { return };
    let others: Vec<String> = storage::keys(LINKED).into_iter().filter(|other| *other != key).collect();
    if others.len() >= MOST_LINKED {
        others.iter().for_each(|other| storage::forget(other));
    }
    storage::keep(&key, packed);
}

/// Opens a model file that this browser keeps; runs of the model wait meanwhile.
fn open_shelf_item(pool: &Pool, notices: StateDispatcher<Notices>, item: ShelfItem, model: &str) {
    let (pool, model) = (pool.clone(), model.to_owned());
    pool.await_model(&model);
    spawn_local(async move {
        let refused = |message: String| {
            pool.end_awaiting(&model);
            notices.dispatch(NoticeAction::Say(Tone::Bad, message));
        };
        let file = match shelf::bytes_of(&item).await {
            Ok(file) => file,
            Err(message) => return refused(message),
        };
        shelf::touch(&item);
        let (at, id, said) = (pool.clone(), model.clone(), notices.clone());
        let on_message = Callback::from(move |message: Message| {
            if message.is_last() {
                at.end_awaiting(&id);
            }
            if let Message::Failed(message) = message {
                said.dispatch(NoticeAction::Say(Tone::Bad, message));
            }
        });
        pool.open_model(file, ModelFileSettings::default(), on_message);
    });
}

/// Keeps a model file that was opened, for the next visit.
pub fn keep_model(notices: &StateDispatcher<Notices>, file: File, model: &str) {
    let (notices, Some(link)) = (notices.clone(), model_link(model)) else { return };
    spawn_local(async move {
        if let Err(message) = shelf::keep_file(ItemKind::Model, file, link).await {
            notices.dispatch(NoticeAction::Say(Tone::Info, message));
        }
    });
}

/// The name of a model's file for the user; `None` for a model of the zoo.
pub fn file_label(model: &str) -> Option<String> {
    ModelFileRef::of(model).map(|file| file.name)
}

/// The digest of a model's file.
pub fn digest_of(model: &str) -> Option<String> {
    ModelFileRef::of(model)?.digest
}

/// The open file that a model's text names.
pub fn known_file<'a>(models: &'a [KnownModel], model: &str) -> Option<&'a KnownModel> {
    let digest = digest_of(model)?;
    models.iter().find(|known| digest_of(&known.0.id).as_ref() == Some(&digest))
}

/// The hash of a page, with its model's file in it if that is small.
pub fn linked_hash(models: &[KnownModel], model: &str, hash: String) -> String {
    match known_file(models, model).and_then(|known| known.1.packed.as_deref()) {
        Some(packed) => with_model_file(&hash, packed),
        None => hash,
    }
}

/// A sentence on what a link holds of the model file of its page; `None` for a model of the zoo.
pub fn link_sentence(models: &[KnownModel], model: &str) -> Option<String> {
    let label = file_label(model)?;
    known_file(models, model).map(|known| known.1.sentence(&label, &digest_of(model).unwrap_or_default()))
}
