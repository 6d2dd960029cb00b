//! Workers at hand. Each profile has one of its own, so that closing a profile gives its memory back (wasm memory never
//! shrinks), and a file that brings its worker down takes nothing else with it. One worker is always kept warm.
//!
//! A model file that a person brings is opened in one worker and kept by every other, also by each that starts later, so that any of
//! them can run it. Those that never do so never read it.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use web_sys::File;
use yew::Callback;

use super::Engine;
use super::client::WeakEngine;
use crate::base::convert::whole;
use crate::page::Shared;
use crate::session::share::LinkedFile;
use crate::session::{BroughtSettings, JobRequest, JobResult, OpenedModel, Told};

/// Time from the taking of a worker to the start of the next one: the page has more urgent work first.
const WARM_UP_MS: u32 = 400;

/// Workers at hand. Clones share them.
#[derive(Clone, Default)]
pub struct Pool(Rc<RefCell<Workers>>);

#[derive(Default)]
struct Workers {
    spare: Option<Engine>,
    bench: Option<Engine>,
    /// All that were started, whoever has them.
    started: Vec<WeakEngine>,
    models: Vec<ModelFile>,
    /// Model files that are on their way out of the browser's store.
    awaited: Vec<String>,
    /// Who is told when more is known of them.
    on_models: Option<Callback<Models>>,
}

/// The model files of a page.
#[derive(Clone, Default, PartialEq)]
pub struct Models {
    /// What is known of those that are open.
    pub known: Vec<KnownModel>,
    /// Whether one is on its way out of the browser's store: what runs it has to wait.
    pub is_awaited: bool,
}

/// A model file that is open, and how links name it.
pub type KnownModel = Shared<(OpenedModel, LinkedFile)>;

/// A model file that every worker has.
#[derive(Clone)]
struct ModelFile {
    content: Content,
    /// What requests call it.
    id: String,
    /// What it holds, once a worker has said it.
    known: Option<KnownModel>,
}

/// Where a worker gets a model file from.
#[derive(Clone)]
enum Content {
    /// A person chose it.
    File(File, BroughtSettings),
    /// A link holds it; who is told when it cannot be read.
    Link(String, Callback<String>),
}

impl ModelFile {
    fn open(&self, engine: &Engine, on_told: Callback<Told>) {
        match &self.content {
            Content::File(file, settings) => {
                let (name, size, settings) = (file.name(), size_of(file), Box::new(settings.clone()));
                engine.send(JobRequest::OpenModel { name, size, settings }, Some(file.clone()), on_told);
            }
            Content::Link(packed, _) => {
                engine.send(JobRequest::OpenLinkedModel(packed.clone()), None, on_told);
            }
        }
    }

    /// Has a worker keep a person's file. It tells what is wrong with it when a request names it.
    fn keep(&self, engine: &Engine, file: &File) {
        let (name, size) = (file.name(), size_of(file));
        engine.send(JobRequest::KeepModel { name, size }, Some(file.clone()), Callback::noop());
    }
}

fn size_of(file: &File) -> u64 {
    whole(file.size())
}

/// What names the content of a file in a model's text.
fn content_of(id: &str) -> Option<&str> {
    id.split(':').nth(1).and_then(|file| file.rsplit('@').next())
}

impl PartialEq for Pool {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Pool {
    /// A worker of one's own, usually a warm one.
    ///
    /// # Errors
    /// When the browser starts no worker.
    pub fn take(&self) -> Result<Engine, String> {
        let spare = self.0.borrow_mut().spare.take().filter(Engine::is_alive);
        let engine = spare.map_or_else(|| self.spawn(), Ok)?;
        let pool = self.clone();
        Timeout::new(WARM_UP_MS, move || pool.warm_up()).forget();
        Ok(engine)
    }

    /// The worker that benchmarks run in.
    ///
    /// # Errors
    /// When the browser starts no worker.
    pub fn bench(&self) -> Result<Engine, String> {
        let running = self.0.borrow().bench.clone().filter(Engine::is_alive);
        if let Some(engine) = running {
            return Ok(engine);
        }
        let engine = self.take()?;
        self.0.borrow_mut().bench = Some(engine.clone());
        Ok(engine)
    }

    /// Opens a model file in the worker of benchmarks, and has the others keep it; `on_told` hears what the worker of benchmarks says.
    pub fn open_model(&self, file: File, settings: BroughtSettings, on_told: Callback<Told>) {
        let engine = match self.bench() {
            Ok(engine) => engine,
            Err(message) => return on_told.emit(Told::Failed(message)),
        };
        let (pool, at) = (self.clone(), engine.clone());
        let model =
            ModelFile { content: Content::File(file.clone(), settings.clone()), id: String::new(), known: None };
        let then = Callback::from(move |told: Told| {
            if let Told::Done(JobResult::Model(found)) = &told {
                pool.adopt(&at, file.clone(), settings.clone(), (**found).clone());
            }
            on_told.emit(told);
        });
        model.open(&engine, then);
    }

    /// Keeps a model file that one worker has opened, and opens it in all others.
    pub fn adopt(&self, opened_in: &Engine, file: File, settings: BroughtSettings, known: (OpenedModel, LinkedFile)) {
        let (id, content) = (known.0.id.clone(), Content::File(file, settings));
        let model = ModelFile { content, id, known: Some(Shared::new(known)) };
        for engine in self.at_work().iter().filter(|engine| *engine != opened_in) {
            self.hand(&model, engine);
        }
        self.0.borrow_mut().models.retain(|m| content_of(&m.id) != content_of(&model.id));
        self.0.borrow_mut().models.push(model);
        self.tell_models();
    }

    /// Opens the model file that a link holds in all workers, unless it is open. Requests that follow find it: each worker reads it first.
    pub fn open_linked(&self, id: &str, packed: &str, on_failure: Callback<String>) {
        if content_of(id).is_none() || self.has_model(id) {
            return;
        }
        let content = Content::Link(packed.to_owned(), on_failure.clone());
        let model = ModelFile { content, id: id.to_owned(), known: None };
        self.0.borrow_mut().models.push(model.clone());
        let workers = self.at_work();
        workers.iter().for_each(|engine| self.open_in(&model, engine));
        // A worker that starts gets all models.
        if let (true, Err(message)) = (workers.is_empty(), self.bench()) {
            on_failure.emit(message);
        }
    }

    /// Whether a model file is open, or on its way out of the browser's store.
    #[must_use]
    pub fn has_model(&self, id: &str) -> bool {
        let workers = self.0.borrow();
        let mut ids = workers.models.iter().map(|m| &m.id).chain(&workers.awaited);
        ids.any(|open| content_of(open) == content_of(id))
    }

    /// Says that a model file is on its way out of the browser's store.
    pub fn await_model(&self, id: &str) {
        self.0.borrow_mut().awaited.push(id.to_owned());
        self.tell_models();
    }

    /// Says that a model file that was awaited is open, or will not come.
    pub fn end_awaiting(&self, id: &str) {
        self.0.borrow_mut().awaited.retain(|awaited| awaited != id);
        self.tell_models();
    }

    /// Tells what is known of the model files that are open, from now on.
    pub fn watch_models(&self, on_models: Callback<Models>) {
        self.0.borrow_mut().on_models = Some(on_models);
        self.tell_models();
    }

    fn tell_models(&self) {
        let (watcher, models) = {
            let workers = self.0.borrow();
            let known = workers.models.iter().filter_map(|m| m.known.clone()).collect();
            (workers.on_models.clone(), Models { known, is_awaited: !workers.awaited.is_empty() })
        };
        if let Some(watcher) = watcher {
            watcher.emit(models);
        }
    }

    fn at_work(&self) -> Vec<Engine> {
        self.0.borrow().started.iter().filter_map(WeakEngine::upgrade).collect()
    }

    /// Gives a worker a model file: one that a person chose is read there when a request names it.
    fn hand(&self, model: &ModelFile, engine: &Engine) {
        match &model.content {
            Content::File(file, _) => model.keep(engine, file),
            Content::Link(..) => self.open_in(model, engine),
        }
    }

    fn open_in(&self, model: &ModelFile, engine: &Engine) {
        let (pool, id, content) = (self.clone(), model.id.clone(), model.content.clone());
        let on_told = Callback::from(move |told: Told| match (told, &content) {
            (Told::Done(JobResult::Model(found)), Content::Link(..)) => pool.learn(&id, *found),
            (Told::Failed(message), Content::Link(_, on_failure)) if pool.forget_model(&id) => {
                on_failure.emit(message);
            }
            // Where a person chose the file, who opened it hears of it; another worker's copy has said all there is to say.
            (Told::Done(_) | Told::Failed(_) | Told::Cancelled, _) => {}
            (Told::Progress { .. } | Told::Note(_) | Told::Paused | Told::Part(_), _) => {}
            (Told::Answer(_) | Told::File(_), _) => {}
        });
        model.open(engine, on_told);
    }

    /// Keeps what a worker said of the file of a link.
    fn learn(&self, id: &str, found: (OpenedModel, LinkedFile)) {
        let is_new = {
            let mut workers = self.0.borrow_mut();
            let model = workers.models.iter_mut().find(|m| m.id == id && m.known.is_none());
            model.map(|model| model.known = Some(Shared::new(found))).is_some()
        };
        if is_new {
            self.tell_models();
        }
    }

    /// Puts a file away that cannot be read; whether it was there.
    fn forget_model(&self, id: &str) -> bool {
        let models = &mut self.0.borrow_mut().models;
        let before = models.len();
        models.retain(|m| m.id != id);
        models.len() < before
    }

    /// A new worker, with all model files.
    fn spawn(&self) -> Result<Engine, String> {
        let engine = Engine::spawn()?;
        let models = self.0.borrow().models.clone();
        models.iter().for_each(|model| self.hand(model, &engine));
        let started = &mut self.0.borrow_mut().started;
        started.retain(|e| e.upgrade().is_some());
        started.push(engine.downgrade());
        Ok(engine)
    }

    fn warm_up(&self) {
        if self.0.borrow().spare.as_ref().is_none_or(|e| !e.is_alive()) {
            // A refusal is told to whoever needs the worker.
            let spare = self.spawn().ok();
            self.0.borrow_mut().spare = spare;
        }
    }
}
