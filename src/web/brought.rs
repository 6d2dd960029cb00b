//! The model files that are open in this program of the page: what is known of each, and how links name it.

use yew::prelude::*;

use super::worker::{KnownModel, Pool};
use crate::page::notices::{NoticeAction, Notices, Tone};
use crate::session::BROUGHT_PREFIX;
use crate::session::share::{Address, with_model_file};

/// What is known of the model files that are open.
#[hook]
pub fn use_models(pool: &Pool) -> Vec<KnownModel> {
    let models = use_state_eq(Vec::new);
    use_effect_with((), {
        let (pool, models) = (pool.clone(), models.setter());
        move |()| pool.watch_models(Callback::from(move |known| models.set(known)))
    });
    (*models).clone()
}

/// Opens the model file that an address holds, if it holds one, and says what is wrong with it.
pub fn open_linked(pool: &Pool, notices: &UseReducerDispatcher<Notices>, address: &Address, model: &str) {
    if let Some(packed) = address.model_file() {
        let notices = notices.clone();
        let say = Callback::from(move |message: String| {
            notices.dispatch(NoticeAction::Say(Tone::Bad, format!("Link: {message}")));
        });
        pool.open_linked(model, packed, say);
    }
}

/// What people read of a brought model: the name of its file; nothing of a model of the zoo.
#[must_use]
pub fn brought_label(model: &str) -> Option<&str> {
    let file = model.trim_start().strip_prefix(BROUGHT_PREFIX)?;
    Some(file.split(['@', ':']).next().unwrap_or(file))
}

/// What names the content of a model's file.
#[must_use]
pub fn digest_of(model: &str) -> Option<&str> {
    let file = model.trim_start().strip_prefix(BROUGHT_PREFIX)?.split(':').next()?;
    file.split_once('@').map(|(_, digest)| digest)
}

/// The open file that a model's text names.
#[must_use]
pub fn known_file<'a>(models: &'a [KnownModel], model: &str) -> Option<&'a KnownModel> {
    let digest = digest_of(model)?;
    models.iter().find(|known| digest_of(&known.0.id) == Some(digest))
}

/// The hash of a page with its model's file in it, where that is small.
#[must_use]
pub fn linked_hash(models: &[KnownModel], model: &str, hash: String) -> String {
    match known_file(models, model).and_then(|known| known.1.packed.as_deref()) {
        Some(packed) => with_model_file(&hash, packed),
        None => hash,
    }
}

/// What a link of a page that shows a model file holds, in a sentence; nothing for a model of the zoo.
#[must_use]
pub fn link_sentence(models: &[KnownModel], model: &str) -> Option<String> {
    let label = brought_label(model)?;
    known_file(models, model).map(|known| known.1.sentence(label, digest_of(model).unwrap_or_default()))
}
